// SPDX-License-Identifier: Apache-2.0
// The initiator's half of a flow: decides when to read sources, sends chunks, completes in post order. Work whose class
// is program order and whose target memory is mapped it does by itself, once everything before it is visible (the
// shortcut of docs/decisions/0003).
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "anygin/emulated/flow.h"

namespace anygin::emulated {

struct FlowSendOptions {
  Profile profile = Profile::kInorder;
  FlowSeq first{};
  bool shortcut = true;  // false: everything goes by messages
};

class FlowSend {
 public:
  FlowSend(const FlowSendOptions& options, FlowReach& reach, FlowLink& link, FlowWitness& witness)
      : options_(options), base_(options.first), reach_(reach), link_(link), witness_(witness) {}

  // Takes work that cannot be done: it completes with `status`, in its turn.
  void post_failed(const Work& work, WorkStatus status);
  // Takes the work. Nothing of it happens before run_one().
  void post(const Work& work, ChoiceSource& choices, Time now);
  enum class Now : uint8_t { kDeclined, kTaken, kDone };
  // Does the work at once if nothing is before it, its class is program order, its memory is mapped and it is at most
  // kChunkBytes. kDone: it has completed well. kTaken: begun, as if posted. kDeclined: nothing happened, post() it.
  Now do_now(const Work& work);

  bool runnable(Time now) const;
  // When something that is held back becomes due; kNever if nothing is.
  Time next_wake(Time now) const;
  // Only room at the link is missing.
  bool waits_for_room() const { return staged_.busy; }
  // Does one bounded piece: a chunk by copy, or reads the source of a chunk and sends it. runnable(now) was true.
  void run_one(ChoiceSource& choices, Time now);

  // Takes a decoded kReadResponse, kAccepted, kVisible, kCredit or kNack. False: no sound target sends this.
  bool on_message(const Message& message, const char* payload);

  // Moves what has completed locally, in post order, behind `out`. Once the first failed work has, the flow is stopped
  // and everything else comes back as kFlushed.
  void take_completions(std::vector<WorkDone>& out);
  // Nothing more will be done: the oldest work not yet completed gets `status`, the others kFlushed.
  void stop(WorkStatus status);

  // Nothing is on its way: all that was posted is visible and completed.
  bool idle() const { return ops_.empty(); }
  // Work failed, or stop() was called: all work now comes back as kFlushed.
  bool stopped() const { return stopped_; }
  void describe_pending(std::vector<std::string>& out) const;

 private:
  struct SendOp {
    Work work;
    OrderClass order = OrderClass::kPut;
    bool all_sent = false;
    bool accepted = false;
    bool visible = false;  // at the target; of a read, placed here; of an add, also the old value
    bool completed = false;
    bool direct = false;     // begun by the shortcut
    bool added = false;      // the shortcut's add is done, its old value on the way
    bool began_now = false;  // by do_now(): the old value comes to old_value_
    WorkStatus status = WorkStatus::kOk;
    uint32_t moved = 0;   // bytes sent, or copied
    uint32_t placed = 0;  // bytes of a read that came back
    uint64_t old_value = 0;
    Time not_before = 0;
    uint32_t chunks_out = 0;  // chunks of a put between here and visibility
    // A transfer under way at an agent that completes later, and its bytes.
    Ticket ticket = kDone;
    MemoryAgent* poll_at = nullptr;
    uint32_t moving = 0;
    Place remote{};                         // of a piece that the shortcut moves
    std::deque<std::vector<char>> landing;  // of a read: chunks that came; the front one is being placed
  };
  // The one chunk whose source is being read or that waits for room.
  struct Staged {
    bool busy = false;
    FlowSeq sequence{};
    Message message;
    std::vector<char> payload;
    Ticket ticket = kDone;
    MemoryAgent* poll_at = nullptr;
  };
  bool in_program_order(const Work& work) const;
  size_t live_end() const;
  std::optional<size_t> direct_index() const;
  void collect_sendable(Time now, std::vector<size_t>& out) const;
  bool poll_transfers();
  void run_direct(size_t index);
  void note_read(FlowSeq sequence, const Work& work, Place remote, uint32_t offset, uint32_t bytes);
  void end_direct_piece(size_t index);
  void stage(size_t index);
  void push_staged();
  bool take_read_chunk(SendOp& op, const Message& message, const char* payload);
  void take_visible(SendOp& op, const Message& message);
  void place_landed(SendOp& op);
  bool completed_well(const SendOp& op) const;
  void fail(size_t index, WorkStatus status);
  void retire();
  FlowSeq sequence_of(size_t index) const { return base_ + static_cast<uint32_t>(index); }

  FlowSendOptions options_;
  FlowSeq base_;             // of ops_.front()
  std::deque<SendOp> ops_;   // in post order, from the oldest that is not visible and completed. Elements do not move
  size_t completed_ = 0;     // ops_[0 .. completed_) were reported
  uint32_t chunks_out_ = 0;  // of all ops_
  size_t transfers_ = 0;     // ops_ with a ticket
  bool failed_ = false;
  bool stopped_ = false;
  FlowSeq failed_at_{};
  uint64_t old_value_ = 0;  // of the add that do_now() does
  Staged staged_;
  FlowReach& reach_;
  FlowLink& link_;
  FlowWitness& witness_;
};

}  // namespace anygin::emulated
