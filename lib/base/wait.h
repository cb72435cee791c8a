// SPDX-License-Identifier: Apache-2.0
// Nothing spins without a way out (docs/decisions/0006). Every wait of device code goes through wait_until(): it
// yields, sees the abort word, and knows what it waits for. A hopeless wait does not return: the lane leaves.
#pragma once

#include "anygin/base/platform.h"
#include "anygin/base/time.h"

namespace anygin {

enum class WaitKind : uint8_t {
  kNone,
  kSignal,
  kVaSignal,
  kCounter,
  kFlush,
  kCredit,
  kGinBarrier,
  kLsaBarrier,
  kReset,
  kElement,
  kSpin,
  kKinds
};

// What a wait waits for, for the hang report and the trace. Plain, copied by value.
struct WaitReason {
  WaitKind kind = WaitKind::kNone;
  int rank = -1;  // the waiting rank
  int peer = -1;  // the rank waited for, if it is one
  uint32_t context = 0;
  uint32_t index = 0;  // signal, counter or barrier index
  int bits = 64;
  uint64_t want = 0;                // rolling: satisfied when the value reaches it
  const uint64_t* cell = nullptr;   // where the value is read; may be null
  uint64_t offset = 0;              // value = *cell - offset
  const void* call_site = nullptr;  // return address in user code
};

// The abort word of a context, seen by both sides: 0 while alive.
enum class AbortCause : uint32_t {
  kAlive = 0,
  kAborted = 1,
  kPeerDied = 2,
  kNicError = 3,
  kMisuse = 4,
  kHang = 5,
  kRevoked = 6
};

// A parked wait. Lives on the waiting lane's stack; `test` is pure and may be called by any worker.
struct Waiter {
  bool (*test)(const void* object) = nullptr;
  const void* object = nullptr;
  const uint32_t* abort_word = nullptr;  // may be null
  Time deadline = kNever;                // of world().clock
  WaitReason reason{};
};

enum class WaitOutcome : uint8_t { kSatisfied, kAborted, kDeadline };

#if !defined(ANYGIN_TARGET_CUDA)
// Parks the calling lane, or blocks the calling host thread, until the test holds, the abort word is set or the
// deadline passes. On a lane kAborted is not returned: the lane leaves the kernel.
extern "C" WaitOutcome anygin_wait(Waiter* waiter);
// The calling lane leaves its kernel; its grid is reported as failed with `cause`. On a host thread: aborts.
extern "C" [[noreturn]] void anygin_leave_kernel(AbortCause cause);
// Lets other lanes and engines run: the body of a spin that cannot be a wait.
extern "C" void anygin_yield();
// Rings a WakeWord of base/executor.h (null: does nothing): device code calls it after a store into memory of another
// process that can satisfy a wait there.
extern "C" void anygin_ring_wake(void* wake_word);
#endif

}  // namespace anygin
