// SPDX-License-Identifier: Apache-2.0
// What goes wrong while ranks join, by a fault that the test makes: the cause that a rank is told.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "anygin/comm/mesh.h"
#include "support/local_bootstrap.h"
#include "support/reaches.h"
#include "unit/control_ranks.h"

namespace anygin::comm {
namespace {

constexpr uint64_t kMillisecond = 1'000'000;
constexpr Patience kLittle{100 * kMillisecond, 300 * kMillisecond};

Member rank_1_of_2() {
  Member me;
  me.rank = 1;
  me.size = 2;
  return me;
}

// A listener where a root should be.
struct Stranger {
  uint16_t port = 0;
  Result<Socket> listener = listen_tcp("127.0.0.1", 0, &port);
  UniqueId id() const { return {"127.0.0.1", port, false, {}}; }
};

TEST(JoiningFaults, ARootThatSaysNothing) {
  const Stranger stranger;
  ASSERT_TRUE(stranger.listener.ok());
  REACHES(GIN_ERR_JOIN_TIMEOUT, meet(stranger.id(), rank_1_of_2(), kLittle).status());
}

TEST(JoiningFaults, ARootThatHangsUp) {
  const Stranger stranger;
  ASSERT_TRUE(stranger.listener.ok());
  std::thread hangs_up([&] { (void)accept_connection(*stranger.listener, monotonic_ns() + 5000 * kMillisecond); });
  REACHES(GIN_ERR_CONNECTION_CLOSED, meet(stranger.id(), rank_1_of_2(), kLittle).status());
  hangs_up.join();
}

// A process that holds the rendezvous, writes its port to `port_fd`, and sleeps until it is killed. Called before this
// process has threads.
pid_t start_root(int port_fd) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  constexpr Patience kLong{10'000 * kMillisecond, 10'000 * kMillisecond};
  Result<std::unique_ptr<Root>> root = Root::start("127.0.0.1", 0, Token{}, kLong);
  const uint16_t port = root.ok() ? (*root)->port() : uint16_t{0};
  if (::write(port_fd, &port, sizeof(port)) != sizeof(port)) ::_exit(1);
  ::sleep(15);
  ::_exit(0);
}

TEST(JoiningFaults, ARootThatDiesWhileRanksWait) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = start_root(ends[1]);
  ASSERT_GT(child, 0);
  uint16_t port = 0;
  ASSERT_EQ(::read(ends[0], &port, sizeof(port)), static_cast<ssize_t>(sizeof(port)));
  Status told;
  std::thread waits([&] {
    told = meet({"127.0.0.1", port, false, {}}, rank_1_of_2(), {10'000 * kMillisecond, 10'000 * kMillisecond}).status();
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  ::kill(child, SIGKILL);
  waits.join();
  REACHES(GIN_ERR_RENDEZVOUS_LOST, told);
  int status = 0;
  ::waitpid(child, &status, 0);
  for (const int end : ends) ::close(end);
}

TEST(JoiningFaults, ARankThatNobodyReaches) {
  Meeting meeting;
  meeting.members.resize(2);
  meeting.members[0].listener = "anygin-nobody-listens-here";
  Result<MeshListener> listener = open_mesh_listener();
  ASSERT_TRUE(listener.ok());
  REACHES(GIN_ERR_PEER_UNREACHABLE,
          connect_mesh(meeting, 1, *listener, Token{}, monotonic_ns() + 1000 * kMillisecond).status());
}

TEST(JoiningFaults, ARankThatSendsAnotherForm) {
  testing::LocalBootstrapGroup group(2);
  Status told;
  group.run_on_all([&](int rank) {
    if (rank == 1) {
      (void)group.rank(1).all_gather("number", Gift{"seven bytes or so", -1});
    } else {
      told = all_gather_value(group.rank(0), "number", uint64_t{1}).status();
    }
  });
  REACHES(GIN_ERR_PROTOCOL, told);
}

}  // namespace
}  // namespace anygin::comm
