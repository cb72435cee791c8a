// SPDX-License-Identifier: Apache-2.0
// One body a line of the semantics, on every arm. Bodies use public API only. A program of cases runs its ranks itself, as
// threads or as processes of its own, or is one rank when RANK and WORLD_SIZE are set (mpirun, srun, anygin run).
//
//   CONFORMANCE_CASE(P2_strong_signal_covers_earlier_puts, 2) { ... }       2: how many ranks
//
// Every rank runs the body; `rank.expect_eq(...)` records what is wrong. Settings a case needs before the library is
// loaded (ANYGIN_HANG_TIMEOUT) stand in CONFORMANCE_CASE_WITH.
#pragma once

#include <cuda_runtime.h>
#include <nccl.h>
#include <nccl_device.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <string>
#include <thread>
#include <utility>
#include <vector>

extern char** environ;

namespace conformance {

constexpr size_t kBufferBytes = 8 * 1024;               // d and e, as the semantics' notation says
constexpr size_t kWords = kBufferBytes / sizeof(uint64_t);

// How often a case repeats what it does. -DANYGIN_CONFORMANCE_SHORT is for tools that make kernels slow: each line of a
// case runs, freedoms are not waited for.
#if defined(ANYGIN_CONFORMANCE_SHORT)
constexpr int shortened(int whole) { return std::max(whole / 20, 3); }
#else
constexpr int shortened(int whole) { return whole; }
#endif

struct Window {
  ncclWindow_t handle = nullptr;
  char* buffer = nullptr;
  size_t bytes = 0;
  uint64_t* words() const { return reinterpret_cast<uint64_t*>(buffer); }
};

// What one rank has in its hands. Everything it opened is closed when the body returns.
class Rank {
 public:
  Rank(int rank_, int ranks_, int device, const ncclUniqueId& id) : rank(rank_), ranks(ranks_) {
    must(cudaSetDevice(device), "cudaSetDevice");
    must(ncclCommInitRank(&comm, ranks, id, rank), "ncclCommInitRank");
    must(cudaStreamCreate(&stream), "cudaStreamCreate");
  }
  ~Rank() {
    if (comm == nullptr) return;  // the case ended it itself
    for (ncclDevComm& dev_comm : dev_comms_) must(ncclDevCommDestroy(comm, &dev_comm), "ncclDevCommDestroy");
    for (const Window& window : windows_) {
      must(ncclCommWindowDeregister(comm, window.handle), "ncclCommWindowDeregister");
      must(ncclMemFree(window.buffer), "ncclMemFree");
    }
    must(cudaStreamDestroy(stream), "cudaStreamDestroy");
    must(ncclCommDestroy(comm), "ncclCommDestroy");
  }
  Rank(const Rank&) = delete;
  Rank& operator=(const Rank&) = delete;

  const int rank, ranks;
  ncclComm_t comm = nullptr;
  cudaStream_t stream = nullptr;

  // Collective.
  Window window(size_t bytes, int flags = NCCL_WIN_COLL_SYMMETRIC) {
    Window w;
    void* buffer = nullptr;
    must(ncclMemAlloc(&buffer, bytes), "ncclMemAlloc");
    std::memset(buffer, 0, bytes);
    must(ncclCommWindowRegister(comm, buffer, bytes, &w.handle, flags), "ncclCommWindowRegister");
    w.buffer = static_cast<char*>(buffer);
    w.bytes = bytes;
    windows_.push_back(w);
    return w;
  }
  static ncclDevCommRequirements_t requirements() {
    ncclDevCommRequirements_t reqs = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER;
    reqs.ginConnectionType = NCCL_GIN_CONNECTION_FULL;
    reqs.ginContextCount = 4;
    reqs.ginSignalCount = 8;
    reqs.ginCounterCount = 8;
    reqs.worldGinBarrierCount = 2;
    reqs.lsaBarrierCount = 2;
    return reqs;
  }
  ncclDevComm dev_comm(const ncclDevCommRequirements_t& reqs = requirements()) {
    ncclDevComm made;
    must(ncclDevCommCreate(comm, &reqs, &made), "ncclDevCommCreate");
    dev_comms_.push_back(made);
    return made;
  }

  // Waits for the rank's kernels; they must have succeeded.
  void finish() {
    must(cudaGetLastError(), "kernel launch");
    must(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  }

  void fail(const std::string& what) {
    if (failures_++ < 5) std::fprintf(stderr, "conformance: rank %d: %s\n", rank, what.c_str());
  }
  template <typename T, typename U>
  void expect_eq(const T& got, const U& want, const std::string& what) {
    if (!(got == static_cast<T>(want))) fail(what + ": is " + std::to_string(got) + ", should be " + std::to_string(want));
  }
  void must(cudaError_t error, const char* what) {
    if (error != cudaSuccess) give_up(std::string(what) + ": " + cudaGetErrorString(error));
  }
  void must(ncclResult_t result, const char* what) {
    if (result != ncclSuccess) give_up(std::string(what) + ": " + ncclGetErrorString(result) + " (" + ncclGetLastError(comm) + ")");
  }
  // A kernel of this rank was left by a lane that had no hope. The cpu target says so through the stream, a GPU cannot:
  // the asynchronous error says it on both.
  void expect_lost(cudaError_t error, const std::string& what) {
#if defined(ANYGIN_TARGET_CPU)
    expect_eq(static_cast<int>(error), static_cast<int>(cudaErrorLaunchFailure), what);
#else
    expect_eq(static_cast<int>(error), static_cast<int>(cudaSuccess), what);
#endif
  }
  // The communicator met an error the case wanted: it cannot be closed in peace.
  void abandon() {
    must(ncclCommAbort(comm), "ncclCommAbort");
    comm = nullptr;
  }
  int failures() const { return failures_; }

 private:
  [[noreturn]] void give_up(const std::string& what) {
    std::fprintf(stderr, "conformance: rank %d: %s\n", rank, what.c_str());
    std::_Exit(1);
  }

  std::vector<Window> windows_;
  std::vector<ncclDevComm> dev_comms_;
  int failures_ = 0;
};

// kKeep: the case loses the device, and what is on it cannot be freed.
enum class WhenDone { kFree, kKeep };

// Results that a kernel leaves for its host: one per rank, in device memory; with kKeep in memory that the host may read
// in place.
template <typename T>
class Outcome {
 public:
  explicit Outcome(Rank& rank, WhenDone when_done = WhenDone::kFree) : rank_(rank), when_done_(when_done) {
    if (when_done == WhenDone::kKeep) {
      rank.must(ncclMemAlloc(reinterpret_cast<void**>(&device_), sizeof(T)), "ncclMemAlloc");
      std::memset(static_cast<void*>(device_), 0, sizeof(T));
      return;
    }
    rank.must(cudaMalloc(reinterpret_cast<void**>(&device_), sizeof(T)), "cudaMalloc");
    rank.must(cudaMemset(device_, 0, sizeof(T)), "cudaMemset");
  }
  ~Outcome() {
    if (when_done_ == WhenDone::kFree) rank_.must(cudaFree(device_), "cudaFree");
  }
  Outcome(const Outcome&) = delete;
  Outcome& operator=(const Outcome&) = delete;
  T* device() const { return device_; }
  T get() {
    T value;
    rank_.must(cudaMemcpy(&value, device_, sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return value;
  }

 private:
  Rank& rank_;
  const WhenDone when_done_;
  T* device_ = nullptr;
};

// The start of a window's memory on this rank.
__device__ inline uint64_t* local(ncclWindow_t window) { return static_cast<uint64_t*>(ncclGetLocalPointer(window, 0)); }

// All threads of the block fill a buffer of kWords and meet.
__device__ inline void fill(uint64_t* words, uint64_t value) {
  for (size_t i = threadIdx.x; i < kWords; i += blockDim.x) words[i] = value;
  __syncthreads();
}

// How many words of a buffer are not `value`; one thread.
__device__ inline unsigned other_than(const uint64_t* words, uint64_t value) {
  unsigned others = 0;
  for (size_t i = 0; i < kWords; ++i) {
    others += cuda::atomic_ref<uint64_t>(const_cast<uint64_t&>(words[i])).load(cuda::memory_order_relaxed) != value;
  }
  return others;
}

// A freedom that a case looks for in vain where the NIC's engine is done long before a kernel looks: a look at host
// memory takes a GPU more than a microsecond.
#if defined(ANYGIN_TARGET_CPU)
constexpr bool kSeesFreedoms = true;
#else
constexpr bool kSeesFreedoms = false;
#endif

// The environment decides the arm; a case asks what it may see.
inline std::string profile() {
  const char* const text = std::getenv("ANYGIN_PROFILE");
  return text ? text : "inorder";
}
// The table of docs/decisions/0003, as far as cases can see it: puts and completions come early under all profiles but
// inorder; weak signals overtake under two of them.
inline bool may_reorder() { return profile() != "inorder"; }
inline bool weak_signals_may_overtake() { return profile() == "relaxed" || profile() == "srd"; }

// --- Until seen ------------------------------------------------------------------------------------------------------
// Whether a freedom shows in one turn is up to the machine, too: threads that wait for a core come late. So a case goes
// on until every rank that looks has seen it.
constexpr int kTurns = shortened(200);
constexpr int kUntilSeen = 30000;  // never seen in so many turns: it is not there
constexpr ncclGinSignal_t kSeenSignal = 7;  // the last of Rank::requirements()

struct Turns {
  uint64_t least = kTurns, most = kTurns;
  uint64_t lookers = 1;
};
// For a freedom that `lookers` ranks look for; where it does not exist, the usual number of turns shows that.
inline Turns until_seen(uint64_t lookers = 1, bool exists = may_reorder()) {
  return exists ? Turns{kTurns, kUntilSeen, lookers} : Turns{kTurns, kTurns, lookers};
}

// How the ranks agree on the last turn. All threads of one block on every rank that takes turns.
class Lookout {
 public:
  // `turns` by value: kernels get it as an argument.
  __device__ Lookout(const ncclDevComm& comm, const ncclGin& gin, Turns turns) : comm_(comm), gin_(gin), turns_(turns) {}
  // Before the turn's last signal or barrier of `gin`, which covers what this sends. `seen`: by this thread, ever.
  __device__ void saw(bool seen) {
    if (turns_.least == turns_.most || told_ || !__syncthreads_or(seen)) return;
    told_ = true;
    for (int peer = 0; peer < comm_.nRanks; ++peer) {
      if (peer != comm_.rank) gin_.signal(ncclTeamWorld(comm_), peer, ncclGin_SignalInc{kSeenSignal}, ncclCoopCta{});
    }
  }
  // Behind that signal or barrier: whether another turn follows. All ranks say the same.
  __device__ bool goes_on(uint64_t turn) const {
    if (turn < turns_.least) return true;
    return turn < turns_.most && gin_.readSignal(kSeenSignal) + told_ < turns_.lookers;
  }

 private:
  const ncclDevComm& comm_;
  const ncclGin& gin_;
  const Turns turns_;
  bool told_ = false;
};

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
  const char* const rank = std::getenv("RANK");
  int failures;
  if (rank != nullptr) {
    const char* const local_rank = std::getenv("LOCAL_RANK");
    failures = run_one_rank(test, std::atoi(rank), std::atoi(local_rank ? local_rank : rank), new_id());
  } else {
    failures = processes ? run_processes(test, program) : run_threads(test);
  }
  return failures;
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
