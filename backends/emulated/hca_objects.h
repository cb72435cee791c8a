// SPDX-License-Identifier: Apache-2.0
// The objects of a software HCA as its faces see them: regions, completion queues, queue pairs, requests. All belong
// to one Hca, whose lock guards them; a face holds pointers and never looks inside.
#pragma once

#include <atomic>
#include <deque>
#include <optional>
#include <vector>

#include "anygin/emulated/flow_receive.h"
#include "anygin/emulated/flow_send.h"

namespace anygin::emulated {

class Hca;
class QueuePair;

inline constexpr uint32_t kAccessLocalWrite = 8;  // beside AccessBits

struct MemoryRegion {
  uint32_t key = 0;  // local and remote
  char* address = nullptr;
  uint64_t bytes = 0;
  uint32_t access = 0;
  Place place{};
};

struct Completion {
  uint64_t cookie = 0;
  WorkKind kind = WorkKind::kWrite;
  WorkStatus status = WorkStatus::kOk;
  uint32_t bytes = 0;
  uint32_t queue_pair = 0;
};

class CompletionQueue {
 public:
  explicit CompletionQueue(uint32_t capacity) : capacity_(capacity) {}

  uint32_t capacity() const { return capacity_; }
  // Any thread, no lock, no false negatives.
  bool has_completions() const { return count_.load(std::memory_order_acquire) != 0; }

 private:
  friend class Hca;
  struct Entry {
    Completion completion;
    QueuePair* pair = nullptr;  // null once destroyed
    uint32_t slots = 0;         // of the send queue, free once this is polled
  };
  const uint32_t capacity_;
  std::deque<Entry> entries_;       // in completion order; grows as needed, up to the capacity
  std::atomic<uint32_t> count_{0};  // entries_.size(), for those without the lock
  uint32_t users_ = 0;              // queue pairs that complete here
  bool overrun_ = false;            // a completion was lost: the queue is dead
};

enum class QueuePairState : uint8_t { kReset, kInit, kReadyToReceive, kReadyToSend, kError };

struct QueuePairOptions {
  CompletionQueue* send_queue = nullptr;
  uint32_t depth = 0;
  bool signal_all = false;
};

// A work request before validation, in no face's format.
struct PostRequest {
  WorkKind kind = WorkKind::kWrite;
  bool may_pass = false;
  bool signaled = false;
  bool is_inline = false;  // payload is taken now, no key needed
  uint64_t cookie = 0;
  char* local = nullptr;
  uint32_t bytes = 0;
  uint32_t lkey = 0;
  uint32_t rkey = 0;
  uint64_t remote_address = 0;
  uint64_t add = 0;
};

// One reliable connection. Its two flows ask it for what they need of the NIC.
class QueuePair final : private FlowLink, private FlowReach, private FlowTarget, private FlowWitness {
 public:
  QueuePair(Hca& hca, uint32_t number, const QueuePairOptions& options);

  uint32_t number() const { return number_; }
  const QueuePairOptions& options() const { return options_; }

 private:
  friend class Hca;
  friend class PostScope;

  bool send(Message message, const char* payload) override;
  bool has_room() const override;
  Answer reach(const Work& work, Place* remote, WorkStatus* why) override;
  WireStatus resolve(uint32_t rkey, uint64_t address, uint64_t bytes, uint32_t access, Place* place) override;
  void on_source_read(FlowSeq operation, Place source, uint64_t bytes) override;
  void on_visible(FlowSeq operation, Place destination, uint64_t bytes) override;
  void on_signal(FlowSeq operation, Place cell, uint64_t value) override;

  void start_receiving(FlowSeq first);
  void start_sending(FlowSeq first);
  bool idle() const { return outgoing_->idle() && incoming_->idle(); }

  Hca& hca_;
  const uint32_t number_;
  const QueuePairOptions options_;
  QueuePairState state_ = QueuePairState::kReset;
  Rank peer_ = -1;
  uint32_t remote_number_ = 0;
  std::optional<FlowSend> outgoing_;
  std::optional<FlowReceive> incoming_;
  uint32_t slots_used_ = 0;               // of `depth`, until the completion that covers them is polled
  uint32_t unsignaled_ = 0;               // completed since the last completion-queue entry
  bool destroyed_ = false;                // kept until agents have let go of it
  std::vector<std::vector<char>> early_;  // messages that came before this side was ready to receive
};

}  // namespace anygin::emulated
