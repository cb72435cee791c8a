// SPDX-License-Identifier: Apache-2.0
// Completion queues, queue pairs and their states, completions in post order.
#include <algorithm>
#include <cerrno>

#include "anygin/base/assert.h"
#include "anygin/base/log.h"
#include "anygin/emulated/hca.h"

namespace anygin::emulated {

QueuePair::QueuePair(Hca& hca, uint32_t number, const QueuePairOptions& options)
    : hca_(hca), number_(number), options_(options) {
  start_receiving(FlowSeq(0));
  start_sending(FlowSeq(0));
}

void QueuePair::start_receiving(FlowSeq first) {
  FlowTarget& target = *this;
  FlowLink& link = *this;
  FlowWitness& witness = *this;
  incoming_.emplace(FlowReceiveOptions{hca_.options_.profile, first}, target, link, witness);
}

void QueuePair::start_sending(FlowSeq first) {
  FlowReach& reach = *this;
  FlowLink& link = *this;
  FlowWitness& witness = *this;
  outgoing_.emplace(FlowSendOptions{hca_.options_.profile, first, hca_.options_.shortcut}, reach, link, witness);
}

bool QueuePair::send(Message message, const char* payload) {
  message.queue_pair = remote_number_;
  message.source_pair = number_;
  return hca_.send_message(peer_, message, payload);
}

bool QueuePair::has_room() const {
  return hca_.outbox_[static_cast<size_t>(peer_)].empty() && hca_.port_->has_room(peer_);
}

CompletionQueue* Hca::create_completion_queue(uint32_t capacity) {
  std::lock_guard lock(mutex_);
  completion_queues_.push_back(std::make_unique<CompletionQueue>(capacity));
  return completion_queues_.back().get();
}

int Hca::destroy_completion_queue(CompletionQueue* queue) {
  std::lock_guard lock(mutex_);
  if (queue->users_ > 0) return EBUSY;
  std::erase_if(completion_queues_, [&](const auto& owned) { return owned.get() == queue; });
  return 0;
}

QueuePair* Hca::create_queue_pair(const QueuePairOptions& options) {
  std::lock_guard lock(mutex_);
  const uint32_t number = next_number_++;  // never used again: a late message finds nobody
  auto& pair = pairs_[number];
  pair = std::make_unique<QueuePair>(*this, number, options);
  ++options.send_queue->users_;
  return pair.get();
}

void Hca::destroy_queue_pair(QueuePair* pair) {
  std::lock_guard lock(mutex_);
  --pair->options_.send_queue->users_;
  land(*pair);
  pair->destroyed_ = true;
  pair->outgoing_->stop(WorkStatus::kFlushed);
  pair->incoming_->stop();
  purge_completions(*pair);
  settle(*pair);
  changed();
}

QueuePairState Hca::state(const QueuePair& pair) const {
  std::lock_guard lock(mutex_);
  return pair.state_;
}

int Hca::to_init(QueuePair& pair) {
  std::lock_guard lock(mutex_);
  if (pair.state_ != QueuePairState::kReset && pair.state_ != QueuePairState::kInit) return EINVAL;
  pair.state_ = QueuePairState::kInit;
  return 0;
}

int Hca::to_receive(QueuePair& pair, Rank peer, uint32_t remote_number, uint32_t first) {
  std::lock_guard lock(mutex_);
  if (pair.state_ != QueuePairState::kInit || peer < 0 || peer >= port_->size()) return EINVAL;
  pair.peer_ = peer;
  pair.remote_number_ = remote_number;
  pair.start_receiving(FlowSeq(first));
  pair.state_ = QueuePairState::kReadyToReceive;
  for (const std::vector<char>& early : std::exchange(pair.early_, {})) on_message(peer, early.data(), early.size());
  changed();
  return 0;
}

int Hca::to_send(QueuePair& pair, uint32_t first) {
  std::lock_guard lock(mutex_);
  if (pair.state_ == QueuePairState::kReadyToSend) return 0;
  if (pair.state_ != QueuePairState::kReadyToReceive) return EINVAL;
  pair.start_sending(FlowSeq(first));
  pair.state_ = QueuePairState::kReadyToSend;
  if (dead_[static_cast<size_t>(pair.peer_)]) fail_pair(pair, WorkStatus::kPeerGone);
  return 0;
}

void Hca::to_error(QueuePair& pair) {
  std::lock_guard lock(mutex_);
  fail_pair(pair, WorkStatus::kFlushed);
  changed();
}

void Hca::to_reset(QueuePair& pair) {
  std::lock_guard lock(mutex_);
  pair.outgoing_->stop(WorkStatus::kFlushed);
  pair.incoming_->stop();
  purge_completions(pair);
  pair.start_receiving(FlowSeq(0));
  pair.start_sending(FlowSeq(0));
  pair.state_ = QueuePairState::kReset;
  pair.peer_ = -1;
  pair.slots_used_ = pair.unsignaled_ = 0;
  pair.early_.clear();
  settle(pair);
  changed();
}

// The pair is in error: its oldest work gets `status`, the rest is flushed, what came for it is dropped.
void Hca::fail_pair(QueuePair& pair, WorkStatus status) {
  pair.state_ = QueuePairState::kError;
  pair.outgoing_->stop(status);
  pair.incoming_->stop();
  settle(pair);
}

void Hca::take_completions(QueuePair& pair) {
  done_.clear();
  pair.outgoing_->take_completions(done_);
  if (pair.destroyed_) return;
  for (const WorkDone& done : done_) complete(pair, done);
  if (pair.outgoing_->stopped() && pair.state_ == QueuePairState::kReadyToSend) {
    pair.state_ = QueuePairState::kError;
    pair.incoming_->stop();
  }
}

void Hca::complete(QueuePair& pair, const WorkDone& done) {
  if (done.status == WorkStatus::kOk && !done.signaled) {
    ++pair.unsignaled_;
    return;
  }
  CompletionQueue& queue = *pair.options_.send_queue;
  if (queue.entries_.size() == queue.capacity()) {
    queue.overrun_ = true;
    log(LogLevel::kError, "{}: a completion queue of {} entries has overrun; it is dead", name_, queue.capacity());
    return;
  }
  const uint32_t slots = std::exchange(pair.unsignaled_, 0) + 1;
  queue.entries_.push_back({{done.cookie, done.kind, done.status, done.bytes, pair.number()}, &pair, slots});
  queue.count_.store(static_cast<uint32_t>(queue.entries_.size()), std::memory_order_release);
  world_.charge(Step::kComplete, done.bytes);
}

int Hca::poll(CompletionQueue& queue, ArrayView<Completion> out) {
  if (!queue.has_completions() && !queue.overrun_) return 0;
  std::lock_guard lock(mutex_);
  if (queue.overrun_) return -1;
  const size_t take = std::min(queue.entries_.size(), out.size());
  for (size_t i = 0; i < take; ++i) {
    const CompletionQueue::Entry& entry = queue.entries_.front();
    out[i] = entry.completion;
    entry.pair->slots_used_ -= entry.slots;
    queue.entries_.pop_front();
  }
  queue.count_.store(static_cast<uint32_t>(queue.entries_.size()), std::memory_order_release);
  return static_cast<int>(take);
}

// Completions of a pair that is gone are not reported.
void Hca::purge_completions(QueuePair& pair) {
  CompletionQueue& queue = *pair.options_.send_queue;
  std::erase_if(queue.entries_, [&](const CompletionQueue::Entry& entry) { return entry.pair == &pair; });
  queue.count_.store(static_cast<uint32_t>(queue.entries_.size()), std::memory_order_release);
}

}  // namespace anygin::emulated
