// SPDX-License-Identifier: Apache-2.0
// One body a line of the semantics, on every arm. Bodies use public API only. A program of cases runs its ranks itself, as
// threads or as processes of its own, or is one rank of those that a launcher started (examples/launcher.h).
//
//   CONFORMANCE_CASE(P2_strong_signal_covers_earlier_puts, 2) { ... }       2: how many ranks
//
// Every rank runs the body; `rank.expect_eq(...)` records what is wrong. Settings a case needs before the library is
// loaded (ANYGIN_HANG_TIMEOUT) stand in CONFORMANCE_CASE_WITH.
#pragma once

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <thread>
#include <utility>

#include "../../examples/launcher.h"
#include "conformance_kernels.h"
#include "conformance_rank.h"

extern char** environ;

namespace conformance {

struct Case {
  const char* name;
  int ranks;
  void (*body)(Rank&);
  std::vector<std::string> settings;   // NAME=value, before the ranks start
  int killed_rank;                     // as processes: this rank is expected to end by SIGKILL; -1: none
};

inline std::vector<Case>& cases() {
  static std::vector<Case> all;
  return all;
}

struct Registration {
  Registration(const char* name, int ranks, void (*body)(Rank&), std::vector<std::string> settings = {}, int killed_rank = -1) {
    cases().push_back({name, ranks, body, std::move(settings), killed_rank});
  }
};

#define CONFORMANCE_CASE(name, ranks)                                             \
  static void name(::conformance::Rank& rank);                                    \
  static const ::conformance::Registration registration_##name{#name, ranks, name}; \
  static void name([[maybe_unused]] ::conformance::Rank& rank)
#define CONFORMANCE_CASE_WITH(name, ranks, ...)                                                \
  static void name(::conformance::Rank& rank);                                                 \
  static const ::conformance::Registration registration_##name{#name, ranks, name, __VA_ARGS__}; \
  static void name([[maybe_unused]] ::conformance::Rank& rank)

inline int run_one_rank(const Case& test, int rank_number, int device, const ncclUniqueId& id) {
  Rank rank(rank_number, test.ranks, device, id);
  test.body(rank);
  return rank.failures();
}

inline ncclUniqueId new_id() {
  ncclUniqueId id;
  if (ncclGetUniqueId(&id) != ncclSuccess) {
    std::fprintf(stderr, "conformance: ncclGetUniqueId: %s\n", ncclGetLastError(nullptr));
    std::_Exit(1);
  }
  return id;
}

inline int run_threads(const Case& test) {
  const ncclUniqueId id = new_id();
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  for (int r = 0; r < test.ranks; ++r) {
    threads.emplace_back([&, r] { failures += run_one_rank(test, r, r, id); });
  }
  for (std::thread& thread : threads) thread.join();
  return failures;
}

// A loopback port that nobody else draws: outside the range that connections take theirs from, another one a process.
inline int rendezvous_port() { return 15000 + static_cast<int>(getpid() % 15000); }

// Starts this program once a rank. The rendezvous is NCCL's own: NCCL_COMM_ID.
inline int run_processes(const Case& test, const char* program) {
  setenv("NCCL_COMM_ID", ("127.0.0.1:" + std::to_string(rendezvous_port())).c_str(), 1);
  setenv("ANYGIN_COMM_TOKEN", "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff", 1);
  setenv("WORLD_SIZE", std::to_string(test.ranks).c_str(), 1);
  std::vector<pid_t> children;
  for (int r = 0; r < test.ranks; ++r) {
    setenv("RANK", std::to_string(r).c_str(), 1);
    char* arguments[] = {const_cast<char*>(program), const_cast<char*>(test.name), nullptr};
    pid_t child = -1;
    if (posix_spawn(&child, program, nullptr, nullptr, arguments, environ) != 0) return 1;
    children.push_back(child);
  }
  int failures = 0;
  for (int left = test.ranks; left > 0; --left) {
    int status = 0;
    const pid_t ended = waitpid(-1, &status, 0);
    const int r = static_cast<int>(std::find(children.begin(), children.end(), ended) - children.begin());
    const bool as_expected = r == test.killed_rank ? WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL : WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (as_expected) continue;
    std::fprintf(stderr, "conformance: rank %d ended with wait status %#x\n", r, static_cast<unsigned>(status));
    if (++failures > 1) continue;
    for (const pid_t child : children) {
      if (child != ended) kill(child, SIGKILL);  // they would wait for the one that failed
    }
  }
  return failures;
}

inline int run_case(const Case& test, bool processes, const char* program) {
  for (const std::string& setting : test.settings) {
    const size_t equals = setting.find('=');
    setenv(setting.substr(0, equals).c_str(), setting.substr(equals + 1).c_str(), 1);
  }
  const Place mine = find_place();
  if (mine.ranks == 0) return processes ? run_processes(test, program) : run_threads(test);
  if (!find_meeting_place()) std::_Exit(2);
  if (mine.ranks != test.ranks) {
    std::fprintf(stderr, "conformance: %s is a case of %d ranks, and %d were started\n", test.name, test.ranks, mine.ranks);
    std::_Exit(2);
  }
  return run_one_rank(test, mine.rank, mine.local, new_id());
}

// conformance_x [--procs] CASE: exit code 0 if every rank saw what the semantics say.
inline int conformance_main(int argc, char** argv) {
  bool processes = false;
  const char* wanted = nullptr;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--procs") == 0) {
      processes = true;
    } else {
      wanted = argv[i];
    }
  }
  for (const Case& test : cases()) {
    if (wanted == nullptr) {
      std::printf("%s\n", test.name);
    } else if (std::strcmp(test.name, wanted) == 0) {
      const int failures = run_case(test, processes, "/proc/self/exe");
      if (failures != 0) {
        const char* const seed = std::getenv("ANYGIN_SEED");
        std::fprintf(stderr, "conformance: %s FAILED (profile %s, seed %s)\n", test.name, profile().c_str(), seed ? seed : "1");
      }
      return failures == 0 ? 0 : 1;
    }
  }
  if (wanted != nullptr) std::fprintf(stderr, "conformance: no case '%s' here; without arguments the cases are listed\n", wanted);
  return wanted == nullptr ? 0 : 2;
}

}  // namespace conformance
