// SPDX-License-Identifier: Apache-2.0
#include "run_command.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "anygin/base/env_real.h"
#include "elf_needed.h"
#include "mps_daemon.h"
#include "rank_process.h"

namespace anygin::tools {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kGrace = std::chrono::seconds(2);  // between SIGTERM and SIGKILL
// Between a rank's failure and SIGTERM: the others learn of it within a second, and say what they were waiting for.
constexpr auto kLastWords = std::chrono::milliseconds(1500);

bool is_free(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool bound = bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  close(fd);
  return bound;
}

// A loopback port that is free now; the first rank listens on it a moment later. Not of the range that connections draw
// their own ports from: a rank that comes early would meet its own connection there.
int free_port() {
  constexpr int kFirst = 15000, kCount = 15000;
  uint16_t draw = 0;
  for (int tries = 0; tries < 1000 && getrandom(&draw, sizeof(draw), 0) == sizeof(draw); ++tries) {
    if (is_free(kFirst + draw % kCount)) return kFirst + draw % kCount;
  }
  return -1;
}

std::string random_token() {
  unsigned char bytes[32];
  if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes)) return "";
  std::string hex;
  for (unsigned char byte : bytes) hex += fmt::format("{:02x}", byte);
  return hex;
}

void print_lines(const RankProcess& process, const std::vector<OutputLine>& lines, bool labels) {
  for (const OutputLine& line : lines) {
    FILE* const stream = line.is_error ? stderr : stdout;
    if (labels) fmt::print(stream, "[{}] ", process.rank());
    fmt::print(stream, "{}\n", line.text);
    std::fflush(stream);
  }
}

// The job while it runs.
class Job {
 public:
  explicit Job(const RunRequest& request) : request_(request) {}

  int run(int port, const std::string& token);

 private:
  bool start(int port, const std::string& token);
  void wait_for_events(int signal_fd);
  void read_all();
  void reap();
  void end_all(int exit_code, const std::string& why, Clock::duration last_words = Clock::duration::zero());
  void end_those_left();
  bool running() const;

  const RunRequest& request_;
  std::vector<RankProcess> ranks_;
  int exit_code_ = 0;
  bool ending_ = false;
  Clock::time_point terminate_at_ = Clock::time_point::max();
  Clock::time_point kill_at_ = Clock::time_point::max();
};

bool Job::start(int port, const std::string& token) {
  for (int rank = 0; rank < request_.ranks; ++rank) {
    ranks_.emplace_back(rank, request_.command, rank_environment(request_, rank, port, token));
    if (ranks_.back().pid() < 0) return false;
  }
  return true;
}

bool Job::running() const {
  return std::any_of(ranks_.begin(), ranks_.end(), [](const RankProcess& r) { return r.pid() > 0 && !r.exited(); });
}

void Job::wait_for_events(int signal_fd) {
  std::vector<pollfd> watched = {{signal_fd, POLLIN, 0}};
  for (const RankProcess& rank : ranks_) {
    if (rank.output_fd() >= 0) watched.push_back({rank.output_fd(), POLLIN, 0});
    if (rank.error_fd() >= 0) watched.push_back({rank.error_fd(), POLLIN, 0});
  }
  poll(watched.data(), watched.size(), 50);
}

void Job::read_all() {
  for (RankProcess& rank : ranks_) {
    print_lines(rank, rank.read_output(false), request_.labels);
    print_lines(rank, rank.read_output(true), request_.labels);
  }
}

void Job::reap() {
  for (RankProcess& rank : ranks_) {
    int status = 0;
    if (rank.exited() || waitpid(rank.pid(), &status, WNOHANG) != rank.pid()) continue;
    rank.set_exit(status);
    rank.signal_group(SIGKILL);  // what the rank left behind
    if (rank.exit_code() == 0) continue;
    const std::string how = rank.exit_code() > 128 ? fmt::format("ended by signal {}", rank.exit_code() - 128)
                                                   : fmt::format("exit code {}", rank.exit_code());
    end_all(rank.exit_code(), fmt::format("rank {}: {}", rank.rank(), how), kLastWords);
  }
}

// The first call gives the exit code and is told; a later one may only hurry.
void Job::end_all(int exit_code, const std::string& why, Clock::duration last_words) {
  terminate_at_ = std::min(terminate_at_, Clock::now() + last_words);
  if (ending_) return;
  ending_ = true;
  exit_code_ = exit_code;
  fmt::print(stderr, "anygin run: {}; ending the other ranks\n", why);
}

void Job::end_those_left() {
  const auto now = Clock::now();
  const bool terminated = kill_at_ != Clock::time_point::max();
  if (!terminated && now >= terminate_at_) {
    for (const RankProcess& rank : ranks_) {
      if (!rank.exited()) rank.signal_group(SIGTERM);
    }
    kill_at_ = now + kGrace;
  } else if (now >= kill_at_) {
    for (const RankProcess& rank : ranks_) rank.signal_group(SIGKILL);
  }
}

int Job::run(int port, const std::string& token) {
  sigset_t ends;
  sigemptyset(&ends);
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&ends, signal);
  if (!start(port, token)) end_all(kExitEnvironment, "cannot start a process");
  sigprocmask(SIG_BLOCK, &ends, nullptr);  // after the forks: the ranks inherit an open mask
  const int signal_fd = signalfd(-1, &ends, SFD_NONBLOCK | SFD_CLOEXEC);
  const auto begin = Clock::now();
  while (running()) {
    wait_for_events(signal_fd);
    signalfd_siginfo info;
    if (read(signal_fd, &info, sizeof(info)) == sizeof(info)) {
      end_all(128 + static_cast<int>(info.ssi_signo), fmt::format("got signal {}", info.ssi_signo));
    }
    if (request_.timeout_s > 0 && Clock::now() - begin > std::chrono::duration<double>(request_.timeout_s)) {
      end_all(124, fmt::format("not done after {} s", request_.timeout_s));
    }
    end_those_left();
    read_all();
    reap();
  }
  read_all();
  close(signal_fd);
  return exit_code_;
}

}  // namespace

std::string topology_text(int ranks, int nodes) {
  if (ranks % nodes == 0) return fmt::format("{}x{}", nodes, ranks / nodes);
  std::string text;
  for (int node = 0; node < nodes; ++node) {
    text += fmt::format("{}{}", node == 0 ? "" : ",", ranks / nodes + (node < ranks % nodes ? 1 : 0));
  }
  return text;
}

std::vector<std::string> rank_environment(const RunRequest& request, int rank, int port, const std::string& token) {
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  std::vector<std::string> environment = {fmt::format("RANK={}", rank),
                                          fmt::format("WORLD_SIZE={}", request.ranks),
                                          fmt::format("LOCAL_RANK={}", rank),
                                          fmt::format("LOCAL_WORLD_SIZE={}", request.ranks),
                                          fmt::format("NCCL_COMM_ID=127.0.0.1:{}", port),
                                          fmt::format("ANYGIN_COMM_TOKEN={}", token)};
  // Only then: docs/decisions/0023-anygin-run-names-a-topology-of-several-nodes.md
  if (request.nodes > 1)
    environment.push_back(fmt::format("ANYGIN_TOPOLOGY={}", topology_text(request.ranks, request.nodes)));
  if (!std::getenv("ANYGIN_DEVICES"))
    environment.push_back(fmt::format("ANYGIN_DEVICES={}", std::max(8, request.ranks)));
  if (!std::getenv("ANYGIN_WORKERS"))
    environment.push_back(fmt::format("ANYGIN_WORKERS={}", std::max(1, cores / request.ranks)));
  return environment;
}

std::string refusal(const std::string& program) {
  for (const std::string& library : needed_libraries(program)) {
    if (library.rfind("libmpi", 0) == 0) {
      return fmt::format("'{}' is linked with {}: start it with mpirun, which brings its ranks together", program,
                         library);
    }
  }
  return "";
}

std::string usage_hint(const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments) {
    if (argument == "--") break;
    if (argument == "-np" || argument == "--np") {
      return fmt::format("anygin run: '{}' is mpirun's; here it is -n: anygin run -n 2 -- ./prog", argument);
    }
  }
  return "";
}

namespace {

// Ranks as processes of the cuda target share the GPU: without MPS their kernels take turns. A daemon has 48 hardware
// queues for all; with CUDA's default of 8 each, and one of 8 itself, four processes find no memory.
[[maybe_unused]] void share_gpu(MpsDaemon& daemon) {
  unset_environment_defaults();                   // those are of a process that holds ranks
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "2", 0);  // the daemon's and the ranks'
  if (daemon.start()) {
    for (const std::string& entry : daemon.environment()) {
      const size_t equals = entry.find('=');
      setenv(entry.substr(0, equals).c_str(), entry.substr(equals + 1).c_str(), 1);
    }
    return;
  }
  fmt::print(stderr,
             "anygin run: no MPS: {}. The processes' kernels take turns on the GPU, so that a round trip between two "
             "takes milliseconds instead of microseconds; ranks as threads of one process need no MPS\n",
             daemon.why_not());
}

}  // namespace

int run_job(const RunRequest& request) {
  const int port = free_port();
  const std::string token = random_token();
  if (port < 0 || token.empty()) {
    fmt::print(stderr, "anygin run: no free loopback port, or no random bytes\n");
    return kExitEnvironment;
  }
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  MpsDaemon daemon;
#if defined(ANYGIN_RANKS_SHARE_GPU)
  if (request.ranks > 1) share_gpu(daemon);
#endif
  return Job(request).run(port, token);
}

}  // namespace anygin::tools
