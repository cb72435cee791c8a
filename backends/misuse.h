// SPDX-License-Identifier: Apache-2.0
// A kernel used the API wrongly: named with the call, the place, the limit and what would be right, before anything
// reaches a NIC (M1, M3, M6, M12, M14 of the semantics). The lane leaves its kernel and the communicator is poisoned
// with AbortCause::kMisuse. Compiles for the cpu target, for CUDA and as host code.
#pragma once

#include "anygin/base/order.h"

namespace anygin {

enum class Cause : uint8_t;

enum class DeviceCall : uint8_t {
  kConstructor,
  kPut,
  kPutValue,
  kGet,
  kSignal,
  kFlush,
  kFlushAsync,
  kWait,
  kCounter,
  kReadSignal,
  kWaitSignal,
  kShadow,
  kResetSignal,
  kGinBarrier,
  kLsaBarrier,
  kLlA2A,
  kReduceCopy,
  kCalls
};

enum class MisuseKind : uint8_t {
  kPeer,              // value: rank in the team; limit: ranks of the team
  kPeerOffRail,       // value: world rank; limit: ranks of a node's LSA team
  kPeerUnconnected,   // value: world rank
  kPeerOffLsa,        // value: rank in the team; limit: LSA ranks
  kNullWindow,        // null
  kDeadWindow,        // deregistered, or never a window
  kForeignWindow,     // of another communicator
  kDestinationRange,  // value: offset; bytes; limit: size of the peer's window
  kSourceRange,       // value: offset; bytes; limit: size of the own window
  kSignalIndex,       // value; limit: signals granted
  kSignalReserved,    // value: a signal of the library's barriers; limit: signals granted
  kCounterIndex,      // value; limit: counters granted
  kSignalRange,       // signal by address: value: offset; limit: size of the window
  kSignalMisaligned,  // value: offset
  kSignalNotOrdered,  // window without NCCL_WIN_STRICT_ORDERING
  kSegmentTag,        // host memory in a window, and ncclGin_SegmentDevice
  kStrongNotGranted,  // ginStrongSignalsRequired was false
  kVaNotGranted,      // ginVaSignalsRequired was false
  kNoGin,             // the device communicator has no GIN contexts
  kDeadCommunicator,  // destroyed, or not made by ncclDevCommCreate
  kBits,              // value: bits; limit: 64
  kBarrierIndex,      // value; limit: barriers granted
  kSlot,              // value; limit: elements that the all-to-all holds
  kNoResources,       // the device communicator has no such resource
  kNoMultimem,        // value: ranks that the multicast handle reaches; limit: ranks of the team
  kNotMultimem,       // bytes in value: no multicast address, or beyond its window
  kNarrowMultimem,    // value: elements of fewer than 4 bytes that move alone
  kContextIndex,      // value; limit: contexts granted. Not an error: reported as non-portable
  kKinds
};

struct Misuse {
  MisuseKind kind = MisuseKind::kKinds;
  DeviceCall call = DeviceCall::kCalls;
  int rank = -1;  // the calling communicator rank
  int peer = -1;
  uint32_t context = 0;
  uint64_t value = 0;
  uint64_t bytes = 0;
  uint64_t limit = 0;
  const void* call_site = nullptr;  // an address in the user's kernel; null on CUDA, where the lane is named instead:
  uint32_t block[3]{}, thread[3]{};
  uint32_t* abort_word = nullptr;  // becomes AbortCause::kMisuse
  void* sink = nullptr;            // MisuseListener of the cpu target, MisuseBlock of the cuda target; may be null
};

// cpu target: told before the lane leaves, on its worker: records, does not block. Owned by lib/comm, which outlives
// the kernels.
class MisuseListener {
 public:
  virtual ~MisuseListener() = default;
  // `text` is the report without the name of its cause, one line, valid during the call. True if it is to be printed:
  // false after the first of those that many lanes of one communicator make together.
  virtual bool on_misuse(const Misuse& misuse, const char* text) = 0;
};

// cuda target: memory that the host maps. The first misuse is kept, its text is made on the host.
struct MisuseBlock {
  uint32_t taken = 0;     // 0: free, 1: being written
  uint32_t complete = 0;  // published last
  Misuse misuse;
};

#if !defined(ANYGIN_TARGET_CUDA)
// Tells the listener, prints the report, sets the abort word and leaves the kernel. On a host thread: aborts.
extern "C" [[noreturn]] void anygin_report_misuse(const Misuse* misuse);
// Prints the report as a warning and returns: the call works here and not everywhere.
extern "C" void anygin_report_nonportable(const Misuse* misuse);
[[noreturn]] inline void report_misuse(const Misuse& misuse) {
  anygin_report_misuse(&misuse);
}
inline void report_nonportable(const Misuse& misuse) {
  anygin_report_nonportable(&misuse);
}
#else
ANYGIN_DEVICE_OUTLINED inline void record_misuse(Misuse misuse) {
  MisuseBlock* block = static_cast<MisuseBlock*>(misuse.sink);
  if (!block || claim(&block->taken, 1u) != 0) return;
  block->misuse = misuse;
  const uint32_t at[2][3] = {{blockIdx.x, blockIdx.y, blockIdx.z}, {threadIdx.x, threadIdx.y, threadIdx.z}};
  for (int axis = 0; axis < 3; ++axis) {
    block->misuse.block[axis] = at[0][axis];
    block->misuse.thread[axis] = at[1][axis];
  }
  publish(&block->complete, 1u);
}
ANYGIN_DEVICE_OUTLINED inline void report_misuse(Misuse misuse) {
  record_misuse(misuse);
  if (misuse.abort_word) publish(misuse.abort_word, static_cast<uint32_t>(AbortCause::kMisuse));
  leave_kernel(misuse.abort_word);
}
ANYGIN_DEVICE inline void report_nonportable(const Misuse&) {}
#endif

#if !defined(ANYGIN_TARGET_CUDA)
// kNone for what is no error.
Cause cause_of(MisuseKind kind);
// Makes the report, tells the listener, which may be null, and prints the report unless the listener says no.
void tell_misuse(const Misuse& misuse, MisuseListener* listener);
#endif

}  // namespace anygin

// An address in the code that this stands in: call sites of always-inlined API functions resolve to the user's line.
#if defined(ANYGIN_TARGET_CUDA)
#define ANYGIN_CALL_SITE() static_cast<const void*>(nullptr)
#elif defined(__x86_64__)
#define ANYGIN_CALL_SITE()                                           \
  __extension__({                                                    \
    const void* anygin_call_site_;                                   \
    asm volatile("1: leaq 1b(%%rip), %0" : "=r"(anygin_call_site_)); \
    anygin_call_site_;                                               \
  })
#elif defined(__aarch64__)
#define ANYGIN_CALL_SITE()                               \
  __extension__({                                        \
    const void* anygin_call_site_;                       \
    asm volatile("adr %0, ." : "=r"(anygin_call_site_)); \
    anygin_call_site_;                                   \
  })
#else
#define ANYGIN_CALL_SITE() static_cast<const void*>(nullptr)
#endif
