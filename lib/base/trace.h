// SPDX-License-Identifier: Apache-2.0
// One typed, versioned event stream. Checkers, conformance tests, the hang report and the Perfetto export read it.
#pragma once

#include <cstdint>

#include "anygin/base/ids.h"
#include "anygin/base/time.h"
#include "anygin/base/wait.h"

namespace anygin {

inline constexpr uint32_t kTraceVersion = 1;

enum class TraceKind : uint8_t {
  kLaneStart,
  kLaneExit,
  kBlockBarrier,
  kWaitBegin,
  kWaitEnd,
  kPost,
  kSourceRead,
  kLocalDone,
  kVisible,
  kSignal,
  kCompletion,
  kFlush,
  kAbort,
  kLaunch,
  kStreamEdge,
  kDecode,
  kKinds
};

// Fields that a kind does not use are zero. What `name` and `value` mean is said in docs/trace.md, kind by kind.
struct TraceEvent {
  TraceKind kind = TraceKind::kKinds;
  int rank = -1;
  int peer = -1;
  uint32_t context = 0;
  uint64_t operation = 0;  // id of the operation within (rank, context, peer)
  MemName at{};
  uint64_t bytes = 0;
  uint64_t value = 0;
  uint64_t grid = 0;  // events of kernels: the grid, counted from 1 in the process
  uint64_t lane = 0;  // and the thread of it, x fastest, blocks one after the other
  const void* call_site = nullptr;
};

class TraceSink {
 public:
  virtual ~TraceSink() = default;
  bool enabled() const { return enabled_; }
  // Any thread; the sink orders and stamps. Only called while enabled().
  virtual void record(const TraceEvent& event) = 0;

 protected:
  bool enabled_ = false;
};

}  // namespace anygin
