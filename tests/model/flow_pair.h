// SPDX-License-Identifier: Apache-2.0
// The two halves of one flow, joined by two in-order message queues, with memory on both sides and a log of everything
// that took effect. The test decides who moves; a seeded driver moves at random.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "anygin/emulated/flow_receive.h"
#include "anygin/emulated/flow_send.h"
#include "support/world_fixture.h"

namespace anygin::testing {

using emulated::FlowSeq;
using emulated::Place;

// An agent that works in mapped memory, but says so only after `delay` polls.
class DelayedAgent final : public MemoryAgent {
 public:
  explicit DelayedAgent(uint32_t delay) : delay_(delay) {}
  Ticket read(void* to, MemName from, uint64_t bytes) override;
  Ticket write(MemName to, const void* from, uint64_t bytes) override;
  Ticket copy(MemName to, MemName from, uint64_t bytes) override;
  Ticket fetch_add(MemName cell, uint64_t value, uint64_t* old) override;
  bool poll(Ticket ticket) override;

 private:
  struct Transfer {
    uint32_t polls_left = 0;
    bool is_add = false;
    char* to = nullptr;
    const char* from = nullptr;
    uint64_t bytes = 0, value = 0;
    uint64_t* old = nullptr;
  };
  Ticket start(Transfer transfer);

  uint32_t delay_;
  std::vector<Transfer> transfers_;  // ticket - 1 is the index
};

struct Effect {
  enum Kind { kVisible, kSignal, kRead, kCompleted } kind;
  uint32_t operation;  // counted from 0
  uint64_t offset;     // in target memory
  uint64_t bytes;
};

struct FlowPairOptions {
  Profile profile = Profile::kInorder;
  bool shortcut = false;
  uint32_t first = 0;
  uint32_t delay = 0;  // polls until a transfer completes
};

class FlowPair {
 public:
  static constexpr uint64_t kBytes = 2u << 20;  // of memory on each side
  static constexpr uint64_t kTargetBase = 0x10000;
  static constexpr uint32_t kKey = 77;

  // The flow's own choices come from `choices`.
  FlowPair(World& world, ChoiceSource& choices, const FlowPairOptions& options);
  ~FlowPair();

  char* source() { return source_; }
  char* target() { return target_; }
  Place source_place(uint64_t offset) { return source_place_ + offset; }

  void post(emulated::Work work);
  // Moves one step that `pick` chooses among what can move. False: nothing can, now or later.
  bool step(ChoiceSource& pick);
  // Steps until nothing can move.
  void run(ChoiceSource& pick);

  // Hands a message to the target, or to the initiator, as if the other side had sent it.
  bool inject_at_target(const emulated::Message& message, const char* payload);
  bool inject_at_initiator(const emulated::Message& message, const char* payload);

  emulated::FlowSend& sender() { return *sender_; }
  emulated::FlowReceive& receiver() { return *receiver_; }
  const std::vector<Effect>& effects() const { return effects_; }
  const std::vector<emulated::WorkDone>& completions() const { return completions_; }
  bool torn_down() const { return torn_down_; }
  // Pretend that the target's region ends earlier, or is gone (0).
  void limit_target(uint64_t bytes) { target_bytes_ = bytes; }
  std::string pending() const;

 private:
  struct Wire {
    emulated::Message message;
    std::vector<char> payload;
  };
  class Link;
  class Reach;
  class Target;
  class Witness;

  void collect();

  World& world_;
  ChoiceSource& choices_;
  FlowPairOptions options_;
  DelayedAgent delayed_;
  char* source_ = nullptr;
  char* target_ = nullptr;
  Place source_place_;
  Place target_place_;
  uint64_t target_bytes_ = kBytes;
  uint32_t posted_ = 0;
  Time now_ = 0;
  bool torn_down_ = false;
  std::deque<Wire> to_target_, to_initiator_;
  std::vector<Effect> effects_;
  std::vector<emulated::WorkDone> completions_;
  std::unique_ptr<Link> to_target_link_, to_initiator_link_;
  std::unique_ptr<Reach> reach_;
  std::unique_ptr<Target> target_side_;
  std::unique_ptr<Witness> send_witness_, receive_witness_;
  std::unique_ptr<emulated::FlowSend> sender_;
  std::unique_ptr<emulated::FlowReceive> receiver_;
};

}  // namespace anygin::testing
