// SPDX-License-Identifier: Apache-2.0
#include "model/flow_pair.h"

#include <cstring>

namespace anygin::testing {

using namespace emulated;

Ticket DelayedAgent::start(Transfer transfer) {
  transfer.polls_left = delay_;
  transfers_.push_back(transfer);
  const Ticket ticket = transfers_.size();
  return poll(ticket) ? kDone : ticket;
}

bool DelayedAgent::poll(Ticket ticket) {
  Transfer& transfer = transfers_.at(ticket - 1);
  if (transfer.polls_left > 0) {
    --transfer.polls_left;
    return false;
  }
  // Takes effect only now: who reuses the memory too early is found out.
  if (transfer.is_add) {
    uint64_t before;
    std::memcpy(&before, transfer.to, sizeof(before));
    const uint64_t after = before + transfer.value;
    std::memcpy(transfer.to, &after, sizeof(after));
    if (transfer.old) *transfer.old = before;
  } else {
    std::memcpy(transfer.to, transfer.from, transfer.bytes);
  }
  return true;
}

Ticket DelayedAgent::read(void* to, MemName from, uint64_t bytes) {
  Transfer transfer;
  transfer.to = static_cast<char*>(to);
  transfer.from = world().memory.address(from);
  transfer.bytes = bytes;
  return start(transfer);
}

Ticket DelayedAgent::write(MemName to, const void* from, uint64_t bytes) {
  Transfer transfer;
  transfer.to = world().memory.address(to);
  transfer.from = static_cast<const char*>(from);
  transfer.bytes = bytes;
  return start(transfer);
}

Ticket DelayedAgent::copy(MemName to, MemName from, uint64_t bytes) {
  return write(to, world().memory.address(from), bytes);
}

Ticket DelayedAgent::fetch_add(MemName cell, uint64_t value, uint64_t* old) {
  Transfer transfer;
  transfer.is_add = true;
  transfer.to = world().memory.address(cell);
  transfer.value = value;
  transfer.old = old;
  return start(transfer);
}

class FlowPair::Link final : public FlowLink {
 public:
  explicit Link(std::deque<Wire>& queue) : queue_(queue) {}
  bool send(Message message, const char* payload) override {
    if (message.bytes > 0 && !has_room()) return false;
    char head[kWireHeaderBytes];
    encode_message(message, head);
    Message decoded;
    EXPECT_TRUE(decode_message(head, kWireHeaderBytes + message.bytes, &decoded));
    EXPECT_EQ(decoded, message);
    queue_.push_back({decoded, std::vector<char>(payload, payload + message.bytes)});
    return true;
  }
  bool has_room() const override { return queue_.size() < 6; }

 private:
  std::deque<Wire>& queue_;
};

class FlowPair::Target final : public FlowTarget {
 public:
  explicit Target(FlowPair& pair) : pair_(pair) {}
  WireStatus resolve(uint32_t rkey, uint64_t address, uint64_t bytes, uint32_t access, Place* place) override {
    RegionRecord record;
    record.key = kKey;
    record.access = kAccessRemoteWrite | kAccessRemoteRead | kAccessRemoteAtomic;
    record.address = kTargetBase;
    record.bytes = pair_.target_bytes_;
    if (rkey != kKey || !region_allows(record, address, bytes, access)) return WireStatus::kRemoteAccess;
    *place = pair_.target_place_ + (address - kTargetBase);
    return WireStatus::kOk;
  }

 private:
  FlowPair& pair_;
};

class FlowPair::Reach final : public FlowReach {
 public:
  explicit Reach(FlowPair& pair) : pair_(pair) {}
  Answer reach(const Work& work, Place* remote, WorkStatus* why) override {
    if (work.bytes == 0) return Answer::kMapped;
    const WireStatus status =
        pair_.target_side_->resolve(work.rkey, work.remote_address, work.bytes, access_needed(work.kind), remote);
    *why = to_work_status(status);
    if (status != WireStatus::kOk) return Answer::kRefused;
    if (work.kind == WorkKind::kFetchAdd && work.remote_address % 8 != 0) {
      *why = WorkStatus::kRemoteInvalid;
      return Answer::kRefused;
    }
    return Answer::kMapped;
  }

 private:
  FlowPair& pair_;
};

class FlowPair::Witness final : public FlowWitness {
 public:
  explicit Witness(FlowPair& pair) : pair_(pair) {}
  void on_source_read(FlowSeq operation, Place source, uint64_t bytes) override {
    const uint64_t base = pair_.target_place_.name.offset;
    if (source.name.offset >= base && source.name.offset < base + kBytes) log(Effect::kRead, operation, source, bytes);
  }
  void on_visible(FlowSeq operation, Place destination, uint64_t bytes) override {
    log(Effect::kVisible, operation, destination, bytes);
  }
  void on_signal(FlowSeq operation, Place cell, uint64_t) override { log(Effect::kSignal, operation, cell, 8); }

 private:
  void log(Effect::Kind kind, FlowSeq operation, Place place, uint64_t bytes) {
    pair_.effects_.push_back({kind, operation.distance_from(FlowSeq(pair_.options_.first)),
                              place.name.offset - pair_.target_place_.name.offset, bytes});
  }
  FlowPair& pair_;
};

FlowPair::FlowPair(World& world, ChoiceSource& choices, const FlowPairOptions& options)
    : world_(world), choices_(choices), options_(options), delayed_(options.delay) {
  source_ = *world_.heap.allocate(kBytes, 0);
  target_ = *world_.heap.allocate(kBytes, 0);
  std::memset(target_, 0, kBytes);
  MemoryAgent& agent = options.delay > 0 ? static_cast<MemoryAgent&>(delayed_) : mapped_memory_agent();
  source_place_ = {&agent, *world_.memory.name_of(source_)};
  target_place_ = {&agent, *world_.memory.name_of(target_)};
  to_target_link_ = std::make_unique<Link>(to_target_);
  to_initiator_link_ = std::make_unique<Link>(to_initiator_);
  reach_ = std::make_unique<Reach>(*this);
  target_side_ = std::make_unique<Target>(*this);
  send_witness_ = std::make_unique<Witness>(*this);
  receive_witness_ = std::make_unique<Witness>(*this);
  const FlowSendOptions send{options.profile, FlowSeq(options.first), options.shortcut};
  sender_ = std::make_unique<FlowSend>(send, *reach_, *to_target_link_, *send_witness_);
  const FlowReceiveOptions receive{options.profile, FlowSeq(options.first)};
  receiver_ = std::make_unique<FlowReceive>(receive, *target_side_, *to_initiator_link_, *receive_witness_);
}

FlowPair::~FlowPair() {
  EXPECT_TRUE(world_.heap.free(source_).ok());
  EXPECT_TRUE(world_.heap.free(target_).ok());
}

void FlowPair::post(Work work) {
  work.cookie = posted_++;
  work.signaled = true;
  sender_->post(work, choices_, now_);
}

void FlowPair::collect() {
  const size_t before = completions_.size();
  sender_->take_completions(completions_);
  for (size_t i = before; i < completions_.size(); ++i) {
    effects_.push_back({Effect::kCompleted, static_cast<uint32_t>(completions_[i].cookie), 0, 0});
  }
}

bool FlowPair::inject_at_target(const Message& message, const char* payload) {
  return receiver_->on_message(message, payload, choices_, now_);
}

bool FlowPair::inject_at_initiator(const Message& message, const char* payload) {
  const bool sound = sender_->on_message(message, payload);
  collect();
  return sound;
}

bool FlowPair::step(ChoiceSource& pick) {
  enum Move { kSend, kApply, kToTarget, kToInitiator, kWait };
  std::vector<Move> moves;
  if (sender_->runnable(now_)) moves.push_back(kSend);
  if (receiver_->runnable(now_)) moves.push_back(kApply);
  if (!to_target_.empty()) moves.push_back(kToTarget);
  if (!to_initiator_.empty()) moves.push_back(kToInitiator);
  const Time wake = std::min(sender_->next_wake(now_), receiver_->next_wake(now_));
  if (wake != kNever) moves.push_back(kWait);
  collect();
  if (moves.empty()) return false;
  switch (moves[pick.pick_below(ChoiceKind::kEngineOrder, moves.size())]) {
    case kSend:
      sender_->run_one(choices_, now_);
      break;
    case kApply:
      receiver_->run_one(choices_, now_);
      break;
    case kToTarget: {
      const Wire wire = std::move(to_target_.front());
      to_target_.pop_front();
      torn_down_ = torn_down_ || !inject_at_target(wire.message, wire.payload.data());
      break;
    }
    case kToInitiator: {
      const Wire wire = std::move(to_initiator_.front());
      to_initiator_.pop_front();
      torn_down_ = torn_down_ || !inject_at_initiator(wire.message, wire.payload.data());
      break;
    }
    case kWait:
      now_ = wake;
      break;
  }
  collect();
  return true;
}

void FlowPair::run(ChoiceSource& pick) {
  for (size_t i = 0; i < 1'000'000; ++i) {
    if (!step(pick)) return;
  }
  FAIL() << "the flow does not come to rest:\n" << pending();
}

std::string FlowPair::pending() const {
  std::vector<std::string> lines;
  sender_->describe_pending(lines);
  receiver_->describe_pending(lines);
  std::string all;
  for (const std::string& line : lines) all += line + "\n";
  return all;
}

}  // namespace anygin::testing
