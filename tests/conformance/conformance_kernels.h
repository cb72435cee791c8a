// SPDX-License-Identifier: Apache-2.0
// What kernels of cases share: buffers, what the arm's profile lets them see, and turns until a freedom was seen.
#pragma once

#include "conformance_rank.h"

namespace conformance {

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

// In the simulated world each step costs a thousand times as much: cases that need many take fewer.
inline bool in_simulation() { return std::getenv("ANYGIN_WORLD") != nullptr; }

// --- Until seen ------------------------------------------------------------------------------------------------------
// Whether a freedom shows in one turn is up to the machine, too: threads that wait for a core come late. So a case goes
// on until every rank that looks has seen it.
constexpr int kTurns = shortened(200);
constexpr int kUntilSeen = 30000;  // never seen in so many turns: it is not there
constexpr ncclGinSignal_t kSeenSignal = 6;  // of even turns; 7 of odd ones: the last of Rank::requirements()

struct Turns {
  uint64_t least = kTurns, most = kTurns;
  uint64_t lookers = 1;
};
// For a freedom that `lookers` ranks look for; where it does not exist, the usual number of turns shows that.
inline Turns until_seen(uint64_t lookers = 1, bool exists = may_reorder()) {
  return exists ? Turns{kTurns, kUntilSeen, lookers} : Turns{kTurns, kTurns, lookers};
}

// How the ranks agree on the last turn. All threads of one block on every rank that takes turns:
//   for (uint64_t turn = 1; lookout.takes_place(turn); ++turn) { ... lookout.saw(...); the turn's last signal ... }
// A rank that the others do not wait for within a turn may ask when they are in the next one already, though never
// further: odd and even turns have a signal each, and what counts of the one that may have moved is what it was a turn ago.
class Lookout {
 public:
  // `turns` by value: kernels get it as an argument.
  __device__ Lookout(const ncclDevComm& comm, const ncclGin& gin, Turns turns) : comm_(comm), gin_(gin), turns_(turns) {}
  // Before the turn's last signal or barrier of `gin`, which covers what this sends. `seen`: by this thread, ever.
  __device__ void saw(bool seen) {
    if (turns_.least == turns_.most || told_ || !__syncthreads_or(seen)) return;
    told_ = true;
    for (int peer = 0; peer < comm_.nRanks; ++peer) {
      if (peer == comm_.rank) continue;
      gin_.signal(ncclTeamWorld(comm_), peer, ncclGin_SignalInc{seen_signal(turn_)}, ncclCoopCta{});
    }
  }
  // Behind that signal or barrier of the turn before. All ranks say the same.
  __device__ bool takes_place(uint64_t turn) {
    turn_ = turn;
    if (turns_.least == turns_.most) return turn <= turns_.most;
    const uint64_t earlier = last_;
    last_ = gin_.readSignal(seen_signal(turn - 1));
    if (turn <= turns_.least) return true;
    return turn <= turns_.most && earlier + last_ + told_ < turns_.lookers;
  }

 private:
  static __device__ ncclGinSignal_t seen_signal(uint64_t turn) {
    return kSeenSignal + static_cast<ncclGinSignal_t>(turn % 2);
  }

  const ncclDevComm& comm_;
  const ncclGin& gin_;
  const Turns turns_;
  uint64_t turn_ = 0;
  uint64_t last_ = 0;  // how often the others told in the turn before, and those as far from it by an even number
  bool told_ = false;
};

}  // namespace conformance
