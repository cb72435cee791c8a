// SPDX-License-Identifier: Apache-2.0
// The HCA as an engine: which actions can run, and running one. The queues and what happens to them are in
// hca_queues.cc, messages in hca_messages.cc, memory in hca_memory.cc, posting in hca_post.cc.
#include "anygin/emulated/hca.h"

#include <fmt/format.h>

#include <algorithm>

#include "anygin/base/assert.h"

namespace anygin::emulated {
namespace {

constexpr int kMessagesPerAction = 16;

}  // namespace

Hca::Hca(World& world, std::unique_ptr<Port> port, const HcaOptions& options)
    : world_(world),
      options_(options),
      id_(world.next_engine_id()),
      port_(std::move(port)),
      name_(fmt::format("software HCA of rank {}", port_->rank())),
      published_(port_->regions()),
      outbox_(static_cast<size_t>(port_->size())),
      dead_(static_cast<size_t>(port_->size())) {
  world_.executor.add(*this);
}

Hca::~Hca() {
  world_.executor.remove(*this);
}

bool Hca::has_work() const {
  return work_.load(std::memory_order_acquire) || port_->has_inbound();
}

void Hca::ready(ActionList& out) {
  std::lock_guard lock(mutex_);
  if (port_->has_inbound()) out.add(id_, kDeliver, 0);
  looked_at_ = active_.empty() ? looked_at_ : world_.clock.now();
  for (size_t peer = 0; peer < outbox_.size(); ++peer) {
    const bool can_send = !outbox_[peer].empty() && port_->has_room(static_cast<Rank>(peer));
    if (can_send) out.add(id_, kDrainOutbox, peer);
  }
  for (uint32_t number : active_) {
    const QueuePair& pair = *pairs_.at(number);
    if (pair.incoming_->runnable(looked_at_)) out.add(id_, kApply, number);
    if (pair.outgoing_->runnable(looked_at_)) out.add(id_, kSend, number);
  }
  if (!timer_announced_) out.add(id_, kAnnounceTimer, 0);
  if (!out.empty()) return;
  update_work(looked_at_);
  // Executors keep the earliest wake-up that run() named. One that came to nothing, because what it was for was done by
  // the way, uses up the one behind it: name it again.
  if (timer_ != kNever && announced_ <= looked_at_) out.add(id_, kAnnounceTimer, 0);
}

Time Hca::run(const Action& action, Time now) {
  std::lock_guard lock(mutex_);
  now = looked_at_ = std::max(now, looked_at_);
  const auto number = static_cast<uint32_t>(action.name);
  stored_ = false;
  switch (static_cast<ActionKind>(action.kind)) {
    case kDeliver:
      port_->receive(*this, kMessagesPerAction);
      break;
    case kDrainOutbox:
      drain_outbox(static_cast<Rank>(action.name));
      break;
    case kApply:
      pairs_.at(number)->incoming_->run_one(world_.choices, now);
      settle(*pairs_.at(number));
      break;
    case kSend:
      pairs_.at(number)->outgoing_->run_one(world_.choices, now);
      settle(*pairs_.at(number));
      break;
    case kAnnounceTimer:
      break;
  }
  update_work(now);
  timer_announced_ = true;
  announced_ = std::min(announced_ > now ? announced_ : kNever, timer_);
  if (stored_) ring(world_.executor.wake_word());
  return timer_;
}

// Takes what completed, and drops the pair from the active set once all is done.
void Hca::settle(QueuePair& pair) {
  take_completions(pair);
  if (pair.idle()) {
    active_.erase(pair.number());
    if (pair.destroyed_) pairs_.erase(pair.number());
  } else {
    active_.insert(pair.number());
  }
  active_count_.store(static_cast<uint32_t>(active_.size()), std::memory_order_release);
}

void Hca::update_work(Time now) {
  bool work = false;
  timer_ = kNever;
  for (uint32_t number : active_) {
    const QueuePair& pair = *pairs_.at(number);
    work = work || pair.incoming_->runnable(now) || pair.outgoing_->runnable(now);
    timer_ = std::min({timer_, pair.incoming_->next_wake(now), pair.outgoing_->next_wake(now)});
  }
  for (size_t peer = 0; peer < outbox_.size() && !work; ++peer) {
    work = !outbox_[peer].empty();
  }
  // What waits only for room in a peer's ring is woken by nobody: keep looking.
  for (uint32_t number : active_) {
    work = work || pairs_.at(number)->outgoing_->waits_for_room() || pairs_.at(number)->incoming_->waits_for_room();
  }
  work_.store(work, std::memory_order_release);
}

void Hca::describe_pending(std::vector<std::string>& out) const {
  std::lock_guard lock(mutex_);
  for (uint32_t number : active_) {
    const QueuePair& pair = *pairs_.at(number);
    std::vector<std::string> lines;
    pair.outgoing_->describe_pending(lines);
    for (const std::string& line : lines) {
      out.push_back(fmt::format("{}: to rank {}, queue pair {}: {}", name_, pair.peer_, number, line));
    }
    lines.clear();
    pair.incoming_->describe_pending(lines);
    for (const std::string& line : lines) {
      out.push_back(fmt::format("{}: from rank {}, queue pair {}: {}", name_, pair.peer_, number, line));
    }
  }
}

void Hca::trace(TraceKind kind, const QueuePair& pair, FlowSeq operation, Place at, uint64_t bytes, uint64_t value) {
  if (!world_.trace.enabled()) return;
  TraceEvent event;
  event.kind = kind;
  event.rank = port_->rank();
  event.peer = pair.peer_;
  event.context = pair.number();
  event.operation = operation.raw();
  event.at = at.name;
  event.bytes = bytes;
  event.value = value;
  world_.trace.record(event);
}

}  // namespace anygin::emulated
