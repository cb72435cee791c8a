// SPDX-License-Identifier: Apache-2.0
// Joining, all-gather, mismatch, abort, leaving and death, with ranks as threads and as processes.
#include "anygin/comm/control_plane.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "support/reaches.h"
#include "unit/control_ranks.h"

namespace anygin::comm {
namespace {

using Planes = std::vector<std::unique_ptr<ControlPlane>>;

struct Ranks {
  SocketCarrier carrier;
  std::vector<RecordingListener> listeners;
  RootedId rooted = make_root();
  Planes planes;

  explicit Ranks(int size) : listeners(static_cast<size_t>(size)), planes(static_cast<size_t>(size)) {
    on_ranks(size, [&](Rank rank) {
      const auto at = static_cast<size_t>(rank);
      Result<std::unique_ptr<ControlPlane>> plane =
          ControlPlane::join(opening_for(carrier, listeners[at], rooted.id, rank, size));
      EXPECT_TRUE(plane.ok()) << plane.status().message();
      if (plane.ok()) planes[at] = std::move(*plane);
    });
  }
  ControlPlane& operator[](Rank rank) { return *planes[static_cast<size_t>(rank)]; }
};

TEST(ControlPlane, SixteenThreadsGather) {
  Ranks ranks(16);
  on_ranks(16, [&](Rank rank) {
    for (int turn = 0; turn < 10; ++turn) {
      Result<std::vector<int>> values = all_gather_value(ranks[rank], "test", rank * 100 + turn);
      ASSERT_TRUE(values.ok()) << values.status().message();
      for (int peer = 0; peer < 16; ++peer) EXPECT_EQ((*values)[static_cast<size_t>(peer)], peer * 100 + turn);
    }
  });
}

TEST(ControlPlane, OneRankIsACommunicator) {
  Ranks ranks(1);
  Result<std::vector<int>> values = all_gather_value(ranks[0], "test", 7);
  ASSERT_TRUE(values.ok());
  EXPECT_EQ(*values, std::vector<int>{7});
}

TEST(ControlPlane, DescriptorsArriveAsCopies) {
  Ranks ranks(3);
  on_ranks(3, [&](Rank rank) {
    int pipe_ends[2];
    ASSERT_EQ(::pipe(pipe_ends), 0);
    const char word = static_cast<char>('a' + rank);
    ASSERT_EQ(::write(pipe_ends[1], &word, 1), 1);
    // Only rank 1 gives none.
    Result<std::vector<Gift>> gifts = ranks[rank].all_gather("pipe", Gift{"x", rank == 1 ? -1 : pipe_ends[0]});
    ASSERT_TRUE(gifts.ok()) << gifts.status().message();
    EXPECT_EQ((*gifts)[1].fd, -1);
    ASSERT_TRUE(ranks[rank].all_gather("all have it", Gift{}).ok());
    ::close(pipe_ends[0]);
    if (rank == 0) {
      char got = 0;
      EXPECT_EQ(::read((*gifts)[2].fd, &got, 1), 1);
      EXPECT_EQ(got, 'c');
    }
    for (Gift& gift : *gifts) {
      if (gift.fd >= 0) ::close(gift.fd);
    }
    ::close(pipe_ends[1]);
  });
}

TEST(ControlPlane, LargeGiftsDoNotBlockAnybody) {
  Ranks ranks(4);
  on_ranks(4, [&](Rank rank) {
    const std::string mine(3'000'000, static_cast<char>('a' + rank));
    Result<std::vector<Gift>> gifts = ranks[rank].all_gather("large", Gift{mine, -1});
    ASSERT_TRUE(gifts.ok()) << gifts.status().message();
    for (size_t peer = 0; peer < 4; ++peer) {
      EXPECT_EQ((*gifts)[peer].bytes, std::string(3'000'000, static_cast<char>('a' + peer)));
    }
  });
}

TEST(ControlPlane, DifferentCallsAreNamedOnAllRanks) {
  Ranks ranks(3);
  on_ranks(3, [&](Rank rank) {
    Result<std::vector<Gift>> gifts = ranks[rank].all_gather(rank == 2 ? "beans" : "peas", Gift{});
    ASSERT_FALSE(gifts.ok());
    REACHES(GIN_ERR_CALL_MISMATCH, gifts.status());
    const std::string& text = gifts.status().text();
    EXPECT_NE(text.find("rank 0 is in \"peas\", rank 2 in \"beans\""), std::string::npos) << text;
    // The same call with the name corrected works.
    EXPECT_TRUE(ranks[rank].all_gather("peas", Gift{}).ok());
  });
}

TEST(ControlPlane, AbortReachesAllWithCauseAndText) {
  Ranks ranks(3);
  ranks[1].tell_abort(AbortCause::kNicError, "the cable");
  for (const Rank rank : {0, 2}) {
    const Heard heard = ranks.listeners[static_cast<size_t>(rank)].first();
    EXPECT_EQ(heard.rank, 1);
    EXPECT_EQ(heard.cause, AbortCause::kNicError);
    EXPECT_EQ(heard.text, "the cable");
  }
}

TEST(ControlPlane, WhoLeftIsNamedAndNotDead) {
  Ranks ranks(2);
  ranks[1].leave();
  ranks.planes[1].reset();
  Result<std::vector<Gift>> gifts = ranks[0].all_gather("test", Gift{});
  ASSERT_FALSE(gifts.ok());
  REACHES(GIN_ERR_PEER_LEFT, gifts.status());
  EXPECT_NE(gifts.status().text().find("rank 1"), std::string::npos) << gifts.status().text();
  EXPECT_TRUE(ranks[0].is_gone(1));
}

TEST(ControlPlane, RanksWithOtherSettingsAreToldBothValues) {
  SocketCarrier carrier;
  RootedId rooted = make_root();
  std::vector<RecordingListener> listeners(3);
  on_ranks(3, [&](Rank rank) {
    ControlOpening opening = opening_for(carrier, listeners[static_cast<size_t>(rank)], rooted.id, rank, 3);
    opening.me.agreed = {{"ANYGIN_PROFILE", rank == 1 ? "relaxed" : "inorder"}};
    Result<std::unique_ptr<ControlPlane>> plane = ControlPlane::join(opening);
    ASSERT_FALSE(plane.ok());
    REACHES(GIN_ERR_SETTINGS_DIFFER, plane.status());
    EXPECT_NE(plane.status().text().find("ANYGIN_PROFILE must be the same on all ranks: rank 0 has \"inorder\", rank 1 "
                                         "has \"relaxed\""),
              std::string::npos)
        << plane.status().text();
  });
}

TEST(ControlPlane, RanksThatCountDifferentlyAreTold) {
  SocketCarrier carrier;
  RootedId rooted = make_root();
  std::vector<RecordingListener> listeners(2);
  on_ranks(2, [&](Rank rank) {
    Result<std::unique_ptr<ControlPlane>> plane = ControlPlane::join(
        opening_for(carrier, listeners[static_cast<size_t>(rank)], rooted.id, rank, rank == 0 ? 2 : 3));
    ASSERT_FALSE(plane.ok());
    EXPECT_EQ(plane.status().code(), Code::kInvalidUsage);
    EXPECT_NE(plane.status().text().find("ranks"), std::string::npos) << plane.status().text();
  });
}

TEST(ControlPlane, TwoOfOneRankAreTold) {
  SocketCarrier carrier;
  RootedId rooted = make_root();
  std::vector<RecordingListener> listeners(2);
  on_ranks(2, [&](Rank rank) {
    Result<std::unique_ptr<ControlPlane>> plane =
        ControlPlane::join(opening_for(carrier, listeners[static_cast<size_t>(rank)], rooted.id, 0, 2));
    ASSERT_FALSE(plane.ok());
    EXPECT_NE(plane.status().text().find("joined as rank 0"), std::string::npos) << plane.status().text();
  });
}

TEST(ControlPlane, WrongTokenIsRefusedAndTheOthersGoOn) {
  SocketCarrier carrier;
  RootedId rooted = make_root();
  std::vector<RecordingListener> listeners(2);
  on_ranks(2, [&](Rank rank) {
    ControlOpening opening = opening_for(carrier, listeners[static_cast<size_t>(rank)], rooted.id, rank, 2);
    if (rank == 1) {
      opening.id.token[0] ^= 1;
      Result<std::unique_ptr<ControlPlane>> refused = ControlPlane::join(opening);
      ASSERT_FALSE(refused.ok());
      REACHES(GIN_ERR_TOKEN_WRONG, refused.status());
      EXPECT_NE(refused.status().text().find("wrong token"), std::string::npos) << refused.status().text();
      opening.id.token[0] ^= 1;
    }
    Result<std::unique_ptr<ControlPlane>> plane = ControlPlane::join(opening);
    EXPECT_TRUE(plane.ok()) << plane.status().message();
  });
}

TEST(ControlPlane, MissingRankEndsTheJoinInTime) {
  SocketCarrier carrier;
  RecordingListener listener;
  UniqueId id{"127.0.0.1", 0, false, {}};
  const Patience patience{100'000'000, 400'000'000};
  Result<std::unique_ptr<Root>> root = Root::start(id.host, 0, id.token, patience);
  ASSERT_TRUE(root.ok());
  id.port = (*root)->port();
  ControlOpening opening = opening_for(carrier, listener, id, 0, 2);
  opening.patience = patience;
  const uint64_t began = monotonic_ns();
  Result<std::unique_ptr<ControlPlane>> plane = ControlPlane::join(opening);
  EXPECT_LT(monotonic_ns() - began, 2'000'000'000u);
  ASSERT_FALSE(plane.ok());
  EXPECT_NE(plane.status().text().find("1 of 2 ranks joined; missing: 1"), std::string::npos) << plane.status().text();
}

// A rank whose rank 0 never comes ends, too, and says what may be the matter.
TEST(ControlPlane, ARankAloneGivesUpInTime) {
  Member me;
  me.rank = 1;
  me.size = 2;
  const uint64_t began = monotonic_ns();
  Result<Meeting> meeting = meet({"127.0.0.1", 1, true, {}}, me, {50'000'000, 300'000'000});
  EXPECT_LT(monotonic_ns() - began, 2'000'000'000u);
  ASSERT_FALSE(meeting.ok());
  for (const char* part : {"rank 1 of 2 at 127.0.0.1:1 (NCCL_COMM_ID)", "rank 0 listens there", "ANYGIN_COMM_TOKEN"}) {
    EXPECT_NE(meeting.status().text().find(part), std::string::npos) << meeting.status().text();
  }
}

// The root has ended: nobody can say any more whether the token was right.
TEST(ControlPlane, WhoComesLateIsToldOfTheToken) {
  Ranks ranks(2);
  UniqueId id = ranks.rooted.id;
  id.token[0] ^= 1;
  Member me;
  me.rank = 1;
  me.size = 2;
  Result<Meeting> meeting = meet(id, me, {50'000'000, 300'000'000});
  ASSERT_FALSE(meeting.ok());
  EXPECT_NE(meeting.status().text().find("token"), std::string::npos) << meeting.status().text();
}

// Starts a process of rank 1 that reads its id from `id_fd`, joins, writes to `joined_fd` when it has, and sleeps.
// Called before this process has threads, which the child would miss.
pid_t start_sleeping_rank(int id_fd, int joined_fd) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  char bytes[kUniqueIdBytes];
  if (::read(id_fd, bytes, sizeof(bytes)) != static_cast<ssize_t>(sizeof(bytes))) ::_exit(1);
  const UniqueId id = *decode_unique_id(bytes);
  SocketCarrier carrier;
  RecordingListener listener;
  ControlOpening opening = opening_for(carrier, listener, id, 1, 3);
  opening.me.process_nonce = 2;
  Result<std::unique_ptr<ControlPlane>> plane = ControlPlane::join(opening);
  const char word = plane.ok() ? 'j' : 'f';
  if (::write(joined_fd, &word, 1) != 1) ::_exit(1);
  ::sleep(15);
  ::_exit(0);
}

TEST(ControlPlane, DeathOfAProcessIsHeardWithinASecondAndEndsWaits) {
  int joined[2], told[2];
  ASSERT_EQ(::pipe(joined), 0);
  ASSERT_EQ(::pipe(told), 0);
  const pid_t child = start_sleeping_rank(told[0], joined[1]);
  ASSERT_GT(child, 0);
  RootedId rooted = make_root();
  char bytes[kUniqueIdBytes];
  ASSERT_TRUE(encode_unique_id(rooted.id, bytes).ok());
  ASSERT_EQ(::write(told[1], bytes, sizeof(bytes)), static_cast<ssize_t>(sizeof(bytes)));
  SocketCarrier carrier;
  std::vector<RecordingListener> listeners(3);
  std::vector<Status> seen(3);
  std::vector<uint64_t> ended(3);
  std::atomic<uint64_t> killed{0};
  on_ranks(3, [&](Rank rank) {
    if (rank == 1) {
      char word = 0;
      ASSERT_EQ(::read(joined[0], &word, 1), 1);
      ASSERT_EQ(word, 'j');
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      killed = monotonic_ns();
      ::kill(child, SIGKILL);
      return;
    }
    const auto at = static_cast<size_t>(rank);
    ControlOpening opening = opening_for(carrier, listeners[at], rooted.id, rank, 3);
    Result<std::unique_ptr<ControlPlane>> plane = ControlPlane::join(opening);
    ASSERT_TRUE(plane.ok()) << plane.status().message();
    Result<std::vector<Gift>> gifts = (*plane)->all_gather("test", Gift{});
    ended[at] = monotonic_ns();
    ASSERT_FALSE(gifts.ok());
    seen[at] = gifts.status();
    EXPECT_EQ(listeners[at].first().rank, 1);
    EXPECT_EQ(listeners[at].first().cause, AbortCause::kPeerDied);
    EXPECT_TRUE((*plane)->others_gone());
    (*plane)->leave();
  });
  for (const size_t rank : {size_t{0}, size_t{2}}) {
    REACHES(GIN_ERR_PEER_DIED, seen[rank]);
    EXPECT_NE(seen[rank].text().find("rank 1 (process " + std::to_string(child) + ") died"), std::string::npos)
        << seen[rank].text();
    EXPECT_LT(ended[rank] - killed.load(), 1'000'000'000u);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  for (const int end : {joined[0], joined[1], told[0], told[1]}) ::close(end);
}

}  // namespace
}  // namespace anygin::comm
