// SPDX-License-Identifier: Apache-2.0
// Messages in and out: finding the queue pair, refusing what belongs to none, keeping acknowledgements that found no
// room.
#include <fmt/format.h>

#include "anygin/base/log.h"
#include "anygin/emulated/hca.h"

namespace anygin::emulated {
namespace {

bool is_request(MessageKind kind) {
  return kind == MessageKind::kWrite || kind == MessageKind::kFetchAdd || kind == MessageKind::kRead;
}

}  // namespace

void Hca::on_message(Rank from, const char* data, size_t bytes) {
  Message message;
  const bool sound = decode_message(data, bytes, &message);
  const auto found = pairs_.find(message.queue_pair);
  QueuePair* pair = found == pairs_.end() ? nullptr : found->second.get();
  if (!sound) {
    log(LogLevel::kWarn, "{}: a malformed message from rank {}", name_, from);
    if (pair && pair->peer_ == from) close_malformed(*pair, message.sequence);
    return;
  }
  const bool stranger = !pair || pair->destroyed_ || (pair->peer_ >= 0 && pair->peer_ != from) ||
                        (pair->peer_ >= 0 && pair->remote_number_ != message.source_pair);
  if (stranger || pair->state_ == QueuePairState::kError) {
    refuse(from, message);
    return;
  }
  if (pair->state_ == QueuePairState::kReset || pair->state_ == QueuePairState::kInit) {
    // The peer was faster: on hardware it would retry.
    if (is_request(message.kind)) pair->early_.emplace_back(data, data + bytes);
    return;
  }
  dispatch(*pair, message, data + kWireHeaderBytes);
}

// As far as the header can be believed, the other end hears of it, so that it does not wait for an answer; whichever of
// its operations the number means, its connection is over as ours is. Other connections go on.
void Hca::close_malformed(QueuePair& pair, uint32_t sequence) {
  Message answer;
  answer.kind = MessageKind::kNack;
  answer.status = WireStatus::kRemoteInvalid;
  answer.queue_pair = pair.remote_number_;
  answer.source_pair = pair.number();
  answer.sequence = sequence;
  send_message(pair.peer_, answer, nullptr);
  fail_pair(pair, WorkStatus::kRemoteInvalid);
}

void Hca::dispatch(QueuePair& pair, const Message& message, const char* payload) {
  const bool sound = is_request(message.kind) ? pair.incoming_->on_message(message, payload, world_.choices, now_)
                                              : pair.outgoing_->on_message(message, payload);
  if (!sound) {
    log(LogLevel::kWarn, "{}: rank {} sent what its operations do not allow; queue pair {} is in error", name_,
        pair.peer_, pair.number());
    refuse(pair.peer_, message);
    fail_pair(pair, WorkStatus::kRemoteInvalid);
    return;
  }
  settle(pair);
  // The other end found something of ours malformed, and could not say which operation that was.
  const bool closed = message.kind == MessageKind::kNack && message.status == WireStatus::kRemoteInvalid;
  if (closed && pair.state_ != QueuePairState::kError) fail_pair(pair, WorkStatus::kRemoteInvalid);
}

// Nobody here takes it. A request is answered, so that its initiator does not wait for ever.
void Hca::refuse(Rank from, const Message& message) {
  if (!is_request(message.kind)) return;
  Message answer;
  answer.kind = MessageKind::kNack;
  answer.status = WireStatus::kRemoteOperation;
  answer.queue_pair = message.source_pair;
  answer.source_pair = message.queue_pair;
  answer.sequence = message.sequence;
  send_message(from, answer, nullptr);
}

bool Hca::send_message(Rank to, const Message& message, const char* payload) {
  const auto peer = static_cast<size_t>(to);
  if (dead_[peer]) return true;  // nobody hears it; fail_peer() has ended what it belongs to
  if (outbox_[peer].empty() && port_->send(to, message, payload)) return true;
  if (message.bytes > 0) return false;
  outbox_[peer].push_back(message);
  return true;
}

void Hca::drain_outbox(Rank to) {
  auto& waiting = outbox_[static_cast<size_t>(to)];
  while (!waiting.empty() && port_->send(to, waiting.front(), nullptr)) waiting.pop_front();
}

void Hca::on_broken_peer(Rank from) {
  log(LogLevel::kWarn, "{}: rank {} broke the message ring; it counts as dead", name_, from);
  fail_peer_locked(from);
}

void Hca::fail_peer(Rank peer) {
  std::lock_guard lock(mutex_);
  fail_peer_locked(peer);
  ring(world_.executor.wake_word());
}

void Hca::fail_peer_locked(Rank peer) {
  if (dead_[static_cast<size_t>(peer)]) return;
  dead_[static_cast<size_t>(peer)] = true;
  port_->fail_peer(peer);
  outbox_[static_cast<size_t>(peer)].clear();
  std::vector<QueuePair*> hit;
  for (auto& [number, pair] : pairs_) {
    if (pair->peer_ == peer && pair->state_ != QueuePairState::kReset) hit.push_back(pair.get());
  }
  for (QueuePair* pair : hit) fail_pair(*pair, WorkStatus::kPeerGone);
  changed();
}

}  // namespace anygin::emulated
