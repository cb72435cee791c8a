// SPDX-License-Identifier: Apache-2.0
// What the device API asks of a backend's device half: plain structs in, one non-template function an operation
// (docs/decisions/0007). Compiles for the cpu target, for CUDA and as host code. include/nccl_device resolves teams,
// windows, actions and coops and checks offsets before it calls in.
#pragma once

#include "anygin/base/ids.h"
#include "anygin/base/wait.h"

namespace anygin {

// One context as a kernel sees it; built per call by ncclGin, never stored.
struct DeviceContext {
  int rank = 0;  // of the connection: world rank, or rail rank if railed
  int rank_count = 0;
  const void* handle = nullptr;  // the backend's array of contexts (ncclDevComm::ginHandles)
  uint32_t context = 0;          // index into it
  uint32_t* abort_word = nullptr;
};

enum class SignalTarget : uint8_t { kNone, kIndexed, kWindow };

struct DeviceSignal {
  SignalTarget target = SignalTarget::kNone;
  bool strong = false;
  uint32_t id = 0;      // kIndexed
  WindowId window{};    // kWindow
  uint64_t offset = 0;  // kWindow: bytes within the peer's window, multiple of 8
  uint64_t add = 0;
};

struct PutRequest {
  int peer = 0;
  WindowId destination_window{};
  uint64_t destination_offset = 0;
  WindowId source_window{};
  uint64_t source_offset = 0;
  uint64_t bytes = 0;      // any size; 0 with neither signal nor counter does nothing
  bool is_inline = false;  // bytes is 1, 2, 4 or 8 and inline_value holds them
  uint64_t inline_value = 0;
  DeviceSignal signal;
  bool has_counter = false;
  uint32_t counter = 0;
  bool needs_release = true;  // earlier writes of the coop were not yet released at system scope
  uint32_t opt_flags = 0;     // ncclGinOptFlags
  const void* call_site = nullptr;
};

struct GetRequest {
  int peer = 0;
  WindowId remote_window{};
  uint64_t remote_offset = 0;
  WindowId local_window{};
  uint64_t local_offset = 0;
  uint64_t bytes = 0;
  const void* call_site = nullptr;
};

// Overlays ncclGinRequest_t (16 bytes).
struct FlushRequest {
  uint64_t opaque[2];
};

// value = (*cell - *base) if base is not null, else *cell.
struct CellRef {
  uint64_t* cell = nullptr;
  const uint64_t* base = nullptr;
};

// Each backend <b> defines, in <b>_device.h:
//   void        <b>_put(const DeviceContext&, const PutRequest&);
//   void        <b>_get(const DeviceContext&, const GetRequest&);
//   void        <b>_flush_async(const DeviceContext&, int peer, FlushRequest*);      what was posted to peer before
//   WaitOutcome <b>_wait(const DeviceContext&, const FlushRequest&, Time deadline);  until that is locally complete
//   CellRef     <b>_signal_cell(const DeviceContext&, uint32_t id);
//   CellRef     <b>_counter_cell(const DeviceContext&, uint32_t id);
//   void        <b>_reset_signal(const DeviceContext&, uint32_t id);
//   void        <b>_reset_counter(const DeviceContext&, uint32_t id);
// Called by one thread of the coop. Ids and peers are in range.

}  // namespace anygin
