// SPDX-License-Identifier: Apache-2.0
// The target's half of a flow: takes chunks, adds and read requests, makes granules visible in an order that the
// profile allows, applies each signal exactly once when its class allows, reads, acknowledges.
//
// A failed operation takes everything after it with it: its own signal and all later operations are dropped (P31);
// earlier ones go on.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "anygin/emulated/flow.h"

namespace anygin::emulated {

struct FlowReceiveOptions {
  Profile profile = Profile::kInorder;
  FlowSeq first{};
};

class FlowReceive {
 public:
  FlowReceive(const FlowReceiveOptions& options, FlowTarget& target, FlowLink& link, FlowWitness& witness)
      : options_(options), base_(options.first), target_(target), link_(link), witness_(witness) {}

  // Takes a decoded kWrite, kFetchAdd or kRead. False: no sound initiator sends this; the flow is to be torn down.
  bool on_message(const Message& message, const char* payload, ChoiceSource& choices, Time now);

  // Can run_one() do something at `now`?
  bool runnable(Time now) const;
  // When something that is held back becomes due; kNever if nothing is.
  Time next_wake(Time now) const;
  // Only room at the link is missing.
  bool waits_for_room() const;
  // Does one bounded piece: a run of granules of one chunk, one add, one chunk read, or one poll of an agent.
  // runnable(now) was true.
  void run_one(ChoiceSource& choices, Time now);

  // All that arrived is visible.
  bool idle() const;
  // Drops everything; later messages are ignored.
  void stop();
  void describe_pending(std::vector<std::string>& out) const;

 private:
  struct Range {
    uint32_t begin, end;  // bytes within the operation
  };
  struct Chunk {
    uint32_t offset = 0;
    std::vector<char> data;
    std::vector<Range> rest;  // not yet visible
  };
  enum class Stage : uint8_t { kMissing, kPartial, kArrived, kDone, kDropped };  // dropped: only its transfer is left
  struct Held {
    Stage stage = Stage::kMissing;
    WorkKind kind = WorkKind::kWrite;
    OrderClass order = OrderClass::kPut;
    bool grouped = false;
    bool accepted_early = false;
    uint32_t rkey = 0;
    uint32_t total = 0;
    uint32_t arrived = 0;  // bytes of a write that came, of a read that went
    uint64_t address = 0;
    uint64_t add = 0;
    Time not_before = 0;
    std::vector<Chunk> chunks;  // of a write: those with something not yet visible
    bool is_arrived_add() const { return kind == WorkKind::kFetchAdd && stage == Stage::kArrived; }
    // A transfer under way at an agent that completes later.
    Ticket ticket = kDone;
    MemoryAgent* poll_at = nullptr;
    Place moving{};
    uint32_t moving_bytes = 0;
    uint64_t old_value = 0;
    std::vector<char> staging;  // of a read: the chunk that was read and not yet sent
    bool staged = false;
    bool added = false;
  };

  bool settle_before(FlowSeq floor);
  bool take_write(Held& held, const Message& message, const char* payload);
  bool begin(Held& held, const Message& message, ChoiceSource& choices, Time now);
  void fail(FlowSeq sequence, WireStatus status);
  void drop_from(size_t index);
  void acknowledge(size_t index);
  void accept_early(size_t index, ChoiceSource& choices);
  void retire();

  bool can_progress(const Held& held) const;
  void collect(Time now, std::vector<size_t>& out) const;
  void run_write(size_t index, ChoiceSource& choices);
  void finish_range(size_t index);
  void run_add(size_t index);
  void run_read(size_t index);
  void finish_read_chunk(size_t index);
  bool resolve_again(size_t index, uint32_t offset, uint64_t bytes, Place* place);
  FlowSeq sequence_of(size_t index) const { return base_ + static_cast<uint32_t>(index); }

  FlowReceiveOptions options_;
  FlowSeq base_;           // of held_.front()
  std::deque<Held> held_;  // in flow order; the front is not done. Elements do not move: agents point into them
  bool failed_ = false;
  FlowSeq failed_at_{};  // everything from here on is dropped
  FlowTarget& target_;
  FlowLink& link_;
  FlowWitness& witness_;
};

}  // namespace anygin::emulated
