// SPDX-License-Identifier: Apache-2.0
// The direct fabric between two processes: the shortcut into mapped memory, messages, and a peer that dies.
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "unit/emulated_ranks.h"

namespace anygin::testing {
namespace {

// Two ranks at the ends of a socket pair.
class SocketBootstrap final : public Bootstrap {
 public:
  SocketBootstrap(Rank rank, int socket) : rank_(rank), socket_(socket) {}
  Rank rank() const override { return rank_; }
  int size() const override { return 2; }

  Result<std::vector<Gift>> all_gather(const char* kind, const Gift& mine) override {
    std::vector<Gift> gifts(2);
    Gift& theirs = gifts[static_cast<size_t>(1 - rank_)];
    if (!give(mine) || !take(&theirs)) return Status(Cause::kPeerDied, kind, "the other process is gone");
    gifts[static_cast<size_t>(rank_)] = {mine.bytes, mine.fd >= 0 ? dup(mine.fd) : -1};
    return gifts;
  }

 private:
  bool give(const Gift& gift) {
    iovec part{const_cast<char*>(gift.bytes.data()), gift.bytes.size()};
    char nothing = 0;
    if (gift.bytes.empty()) part = {&nothing, 1};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    if (gift.fd >= 0) {
      message.msg_control = control;
      message.msg_controllen = sizeof(control);
      cmsghdr* header = CMSG_FIRSTHDR(&message);
      header->cmsg_level = SOL_SOCKET;
      header->cmsg_type = SCM_RIGHTS;
      header->cmsg_len = CMSG_LEN(sizeof(int));
      std::memcpy(CMSG_DATA(header), &gift.fd, sizeof(int));
    }
    return sendmsg(socket_, &message, MSG_NOSIGNAL) > 0;
  }

  bool take(Gift* gift) {
    char buffer[4096];
    iovec part{buffer, sizeof(buffer)};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    const ssize_t got = recvmsg(socket_, &message, 0);
    if (got <= 0) return false;
    gift->bytes.assign(buffer, static_cast<size_t>(got));
    const cmsghdr* header = CMSG_FIRSTHDR(&message);
    if (header) std::memcpy(&gift->fd, CMSG_DATA(header), sizeof(int));
    return true;
  }

  Rank rank_;
  int socket_;
};

struct Card {
  ibv_gid gid;
  uint32_t number, rkey;
  uint64_t memory;
};

// One process's end, connected with the other's.
struct Process {
  Process(Rank rank, int socket, Profile profile) : bootstrap(rank, socket) {
    Options options;
    options.profile = profile;
    auto opened = emulated::EmulatedNic::open(bootstrap, options);
    if (!opened.ok()) std::fprintf(stderr, "%s\n", opened.status().message().c_str());
    if (!opened.ok()) _exit(99);
    end.nic = std::move(*opened);
    end.context = emu().open_device(end.nic->device());
    end.pd = emu().alloc_pd(end.context);
    end.cq = emu().create_cq(end.context, 64, nullptr, nullptr, 0);
    end.memory = *world.heap.allocate(VerbsRank::kHeapBytes, 0);
    end.mr = emu().reg_mr(
        end.pd, end.memory, VerbsRank::kHeapBytes,
        IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
    ibv_qp_init_attr wanted{};
    wanted.send_cq = wanted.recv_cq = end.cq;
    wanted.qp_type = IBV_QPT_RC;
    wanted.cap.max_send_wr = 64;
    end.qps = {emu().create_qp(end.pd, &wanted)};
    Card mine{{}, end.qps[0]->qp_num, end.mr->rkey, end.address(0)};
    if (emu().query_gid(end.context, 1, 0, &mine.gid) != 0) _exit(98);
    const auto cards = all_gather_value(bootstrap, "cards", mine);
    if (!cards.ok()) _exit(97);
    other = (*cards)[static_cast<size_t>(1 - rank)];
    if (connect_pair(end.qps[0], other.gid, other.number, 0) != 0) _exit(96);
  }

  ~Process() {
    EXPECT_EQ(emu().destroy_qp(end.qps[0]), 0);
    EXPECT_EQ(emu().dereg_mr(end.mr), 0);
    EXPECT_EQ(emu().destroy_cq(end.cq), 0);
    EXPECT_EQ(emu().dealloc_pd(end.pd), 0);
    EXPECT_EQ(emu().close_device(end.context), 0);
    EXPECT_TRUE(world.heap.free(end.memory).ok());
  }

  // Addresses `request` at the other process's memory.
  int post(Request request, uint64_t remote_offset) {
    const bool atomic = request.wr.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
    (atomic ? request.wr.wr.atomic.remote_addr : request.wr.wr.rdma.remote_addr) = other.memory + remote_offset;
    (atomic ? request.wr.wr.atomic.rkey : request.wr.wr.rdma.rkey) = other.rkey;
    return request.post(end.qps[0]);
  }

  // Steps this process's engines until the condition holds; false after 5 s.
  bool wait_for(const std::function<bool()>& condition) {
    for (int i = 0; i < 50'000; ++i) {
      if (condition()) return true;
      if (!world.step_once()) usleep(100);
    }
    return false;
  }
  bool wait_word(uint64_t offset, uint64_t value) {
    return wait_for(
        [&] { return __atomic_load_n(reinterpret_cast<uint64_t*>(end.memory + offset), __ATOMIC_ACQUIRE) == value; });
  }
  std::vector<ibv_wc> wait_completions(size_t count) {
    std::vector<ibv_wc> all;
    (void)wait_for([&] {
      ibv_wc wc;
      while (emu().poll_cq(end.cq, 1, &wc) == 1) all.push_back(wc);
      return all.size() >= count;
    });
    return all;
  }

  TestWorld world;
  SocketBootstrap bootstrap;
  VerbsRank end;
  Card other{};
};

// Runs `child` as rank 1 in a process of its own and `parent` as rank 0 here; expects the child to return 0.
void run_two(Profile profile, const std::function<int(Process&)>& child,
             const std::function<void(Process&, pid_t)>& parent, bool child_dies = false) {
  int sockets[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets), 0);
  const pid_t pid = fork();
  ASSERT_GE(pid, 0);
  if (pid == 0) {
    alarm(15);
    close(sockets[0]);
    auto process = std::make_unique<Process>(1, sockets[1], profile);
    _exit(child(*process));
  }
  close(sockets[1]);
  {
    Process process(0, sockets[0], profile);
    parent(process, pid);
  }
  int status = 0;
  ASSERT_EQ(waitpid(pid, &status, 0), pid);
  if (child_dies) {
    EXPECT_TRUE(WIFSIGNALED(status));
  } else {
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "the child's status is " << status;
  }
  close(sockets[0]);
}

class DirectFabric : public ::testing::TestWithParam<Profile> {};

TEST_P(DirectFabric, PutsSignalsAndGetsCrossProcesses) {
  constexpr uint64_t kSignal = 8, kAnswer = 16, kPayload = 4096;
  constexpr uint32_t kLarge = 300'001;
  const unsigned hint = verbs::kSendMayPass;
  const auto child = [&](Process& self) {
    for (uint32_t i = 0; i < kLarge; ++i) self.end.memory[kPayload + i] = static_cast<char>(i % 253);
    Request put = Request::write(self.end, kPayload, kLarge, self.end, 0, 1, hint);
    Request strong = Request::add(self.end, 64, self.end, 0, 7, 2);
    if (self.post(put, kPayload + 3) != 0 || self.post(strong, kSignal) != 0) return 1;
    const auto done = self.wait_completions(1);
    if (done.size() != 1 || done[0].status != IBV_WC_SUCCESS || done[0].wr_id != 2) return 2;
    return self.wait_word(kAnswer, 9) ? 0 : 3;  // the parent reads this memory before
  };
  run_two(GetParam(), child, [&](Process& self, pid_t) {
    ASSERT_TRUE(self.wait_word(kSignal, 7)) << "the child's strong signal";
    for (uint32_t i = 0; i < kLarge; ++i) {
      ASSERT_EQ(self.end.memory[kPayload + 3 + i], static_cast<char>(i % 253)) << "P2, byte " << i;
    }
    ASSERT_EQ(self.post(Request::read(self.end, 1u << 20, kLarge, self.end, 0, 3), kPayload), 0);
    const auto got = self.wait_completions(1);
    ASSERT_EQ(got.size(), 1u);
    EXPECT_EQ(got[0].status, IBV_WC_SUCCESS);
    EXPECT_EQ(std::memcmp(self.end.memory + (1u << 20), self.end.memory + kPayload + 3, kLarge), 0);
    ASSERT_EQ(self.post(Request::add(self.end, 64, self.end, 0, 9, 4), kAnswer), 0);
    EXPECT_EQ(self.wait_completions(1).size(), 1u);
  });
}

TEST_P(DirectFabric, P32_AKilledProcessEndsWhatIsInFlightToIt) {
  constexpr uint64_t kReady = 8;
  const auto child = [&](Process& self) {
    if (self.post(Request::add(self.end, 64, self.end, 0, 1, 1), kReady) != 0) return 1;
    (void)self.wait_completions(1);
    pause();
    return 2;
  };
  const auto parent = [&](Process& self, pid_t pid) {
    ASSERT_TRUE(self.wait_word(kReady, 1));
    ASSERT_EQ(kill(pid, SIGKILL), 0);
    const unsigned hinted = IBV_SEND_SIGNALED | verbs::kSendMayPass;
    for (uint64_t i = 0; i < 3; ++i) {
      ASSERT_EQ(self.post(Request::write(self.end, 0, 64, self.end, 0, i, hinted), 4096), 0);
    }
    self.world.test_executor().run_until_idle();
    self.end.nic->fail_peer(1);
    ASSERT_EQ(self.post(Request::write(self.end, 0, 64, self.end, 0, 3, hinted), 4096), 0);
    const auto done = self.wait_completions(4);
    ASSERT_EQ(done.size(), 4u);
    EXPECT_NE(done[3].status, IBV_WC_SUCCESS) << "posted after the death was seen";
    const bool mapped = GetParam() == Profile::kInorder;  // stores into a dead process's memory go unnoticed
    EXPECT_EQ(done[0].status, mapped ? IBV_WC_SUCCESS : IBV_WC_RETRY_EXC_ERR);
    EXPECT_FALSE(self.end.nic->busy());
  };
  run_two(GetParam(), child, parent, true);
}

INSTANTIATE_TEST_SUITE_P(Profiles, DirectFabric, ::testing::Values(Profile::kInorder, Profile::kRelaxed, Profile::kSrd),
                         [](const auto& instance) { return std::string(name_of(instance.param)); });

}  // namespace
}  // namespace anygin::testing
