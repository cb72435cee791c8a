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
  return changed_.load(std::memory_order_acquire) || port_->has_inbound();
}

void Hca::ready(ActionList& out) {
  std::lock_guard lock(mutex_);
  const Time now = out.now();
  bool waits_for_room = false;
  if (port_->has_inbound()) out.add(id_, kDeliver, 0);
  for (size_t peer = 0; peer < outbox_.size(); ++peer) {
    if (outbox_[peer].empty()) continue;
    waits_for_room = true;
    if (port_->has_room(static_cast<Rank>(peer))) out.add(id_, kDrainOutbox, peer);
  }
  for (uint32_t number : active_) {
    const QueuePair& pair = *pairs_.at(number);
    if (pair.incoming_->runnable(now)) out.add(id_, kApply, number);
    if (pair.outgoing_->runnable(now)) out.add(id_, kSend, number);
    out.wake_at(pair.incoming_->next_wake(now));
    out.wake_at(pair.outgoing_->next_wake(now));
    waits_for_room = waits_for_room || pair.outgoing_->waits_for_room() || pair.incoming_->waits_for_room();
  }
  // Room in a peer's ring is announced by nobody: keep looking.
  changed_.store(!out.empty() || waits_for_room, std::memory_order_release);
}

void Hca::run(const Action& action, Time now) {
  std::lock_guard lock(mutex_);
  now_ = now;
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
      send_one(*pairs_.at(number));
      break;
  }
  changed();
  if (stored_) ring(world_.executor.wake_word());
}

// What the shortcut stored, it stored at the peer: that is who is woken. Not for every piece of a long write, but once
// it is whole, or for a signal.
void Hca::send_one(QueuePair& pair) {
  const Rank peer = pair.peer_;
  pair.outgoing_->run_one(world_.choices, now_);
  settle(pair);
  if (stored_ && !done_.empty()) port_->wake(peer);
  stored_ = false;
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
