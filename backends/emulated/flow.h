// SPDX-License-Identifier: Apache-2.0
// A flow is one direction of one queue pair. What its two halves share: the work they move, and what they ask of the
// NIC around them. flow_send is the initiator's half, flow_receive the target's; they talk only by the messages of
// wire.h. Both are state machines: no thread, clock or randomness of their own; their NIC serializes the calls.
#pragma once

#include <array>
#include <cstdint>

#include "anygin/base/choices.h"
#include "anygin/base/seq.h"
#include "anygin/base/time.h"
#include "anygin/emulated/fabric/mr_table.h"
#include "anygin/emulated/place.h"
#include "anygin/emulated/profile.h"
#include "anygin/emulated/wire.h"

namespace anygin::emulated {

inline constexpr uint32_t kInlineMax = 64;   // bytes of a write whose payload is taken at the post
inline constexpr uint32_t kFlowOpsMax = 64;  // operations of a flow between initiator and target
inline constexpr uint32_t kFlowChunksMax = 16;
static_assert(kFlowOpsMax <= 256, "Message::unsettled has 8 bits");

using FlowSeq = Seq<32, uint32_t>;

enum class WorkKind : uint8_t { kWrite, kFetchAdd, kRead };

// A validated work request. Local memory was checked against its key.
struct Work {
  WorkKind kind = WorkKind::kWrite;
  bool may_pass = false;
  bool grouped = false;  // a fetch-add whose own payload is the work just before it
  bool signaled = false;
  bool is_inline = false;
  uint32_t bytes = 0;  // of a fetch-add: 8
  uint32_t rkey = 0;
  uint64_t cookie = 0;
  uint64_t remote_address = 0;
  uint64_t add = 0;
  Place local{};  // source; of a read, destination; of a fetch-add, where the old value goes
  std::array<char, kInlineMax> inline_data{};  // its first `bytes`, if is_inline
};

OrderClass order_class(WorkKind kind, bool may_pass);
uint32_t access_needed(WorkKind kind);

enum class WorkStatus : uint8_t {
  kOk,
  kLocalProtection,  // the local key does not allow it
  kFlushed,          // the queue pair was in error before this work was done
  kRemoteAccess,     // WireStatus::kRemoteAccess and so on
  kRemoteInvalid,
  kRemoteOperation,
  kPeerGone,  // nobody answers any more
};
WorkStatus to_work_status(WireStatus status);

// Local completion of a work request, in post order.
struct WorkDone {
  uint64_t cookie = 0;
  WorkKind kind = WorkKind::kWrite;
  WorkStatus status = WorkStatus::kOk;
  bool signaled = false;
  uint32_t bytes = 0;
};

// Where chunks of an operation end: at most kChunkBytes, and all but the first begin at an aligned 8-byte word of
// `address`, so that no word lies in two chunks.
uint32_t chunk_length(uint64_t address, uint32_t offset, uint32_t total);

// Sees what a flow does to memory: for the trace, and to wake who waits for it.
class FlowWitness {
 public:
  virtual ~FlowWitness() = default;
  virtual void on_source_read(FlowSeq operation, Place source, uint64_t bytes) = 0;
  virtual void on_visible(FlowSeq operation, Place destination, uint64_t bytes) = 0;
  virtual void on_signal(FlowSeq operation, Place cell, uint64_t value) = 0;
};

// How a half reaches the other: messages.
class FlowLink {
 public:
  virtual ~FlowLink() = default;
  // Sends to the peer's queue pair (and fills in both numbers). A message without payload is always taken; with
  // payload, false means no room now.
  virtual bool send(Message message, const char* payload) = 0;
  // Would a message with a whole chunk be taken now?
  virtual bool has_room() const = 0;
};

// What flow_send asks of its NIC about the target.
class FlowReach {
 public:
  virtual ~FlowReach() = default;
  enum class Answer : uint8_t { kMapped, kByMessage, kRefused };
  // May the initiator do this work in mapped memory by itself? kMapped fills `*remote`; kRefused fills `*why`.
  virtual Answer reach(const Work& work, Place* remote, WorkStatus* why) = 0;
};

// What flow_receive asks about its own NIC's memory.
class FlowTarget {
 public:
  virtual ~FlowTarget() = default;
  // Checks key, bounds and permission; kOk fills `*place`.
  virtual WireStatus resolve(uint32_t rkey, uint64_t address, uint64_t bytes, uint32_t access, Place* place) = 0;
};

}  // namespace anygin::emulated
