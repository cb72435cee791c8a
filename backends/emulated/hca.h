// SPDX-License-Identifier: Apache-2.0
// The software HCA: reliable connections with the semantics of RC queue pairs, over a fabric's port. An engine; its
// faces (verbs now) create objects, post and poll. One lock guards everything: faces may be called by any thread, also
// while another thread steps the engine.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "anygin/base/array_view.h"
#include "anygin/base/world.h"
#include "anygin/emulated/fabric/fabric.h"
#include "anygin/emulated/hca_objects.h"

namespace anygin::emulated {

struct HcaOptions {
  Profile profile = Profile::kInorder;
  bool shortcut = true;  // false: everything goes by messages, also what is mapped
};

// Functions that return int: 0, or the errno that the verb has on hardware.
class Hca final : public Engine, private MessageHandler {
 public:
  static constexpr uint32_t kDepthMax = 16384;
  static constexpr uint32_t kCompletionsMax = 1u << 20;
  static constexpr uint32_t kQueuePairsMax = 1u << 16;
  static constexpr uint32_t kBytesMax = 1u << 30;  // of one operation

  // The engine is stepped by the world's executor until this is destroyed.
  Hca(World& world, std::unique_ptr<Port> port, const HcaOptions& options);
  ~Hca() override;

  const Port& port() const { return *port_; }
  bool accepts_hints() const { return true; }

  // Null if there is no slot left. The memory stays mapped until deregister_memory().
  MemoryRegion* register_memory(char* address, uint64_t bytes, uint32_t access);
  void deregister_memory(MemoryRegion* region);

  CompletionQueue* create_completion_queue(uint32_t capacity);
  int destroy_completion_queue(CompletionQueue* queue);  // EBUSY while queue pairs complete there

  QueuePair* create_queue_pair(const QueuePairOptions& options);
  void destroy_queue_pair(QueuePair* pair);
  QueuePairState state(const QueuePair& pair) const;
  int to_init(QueuePair& pair);
  // To ready-to-receive, connected with queue pair `remote_number` of `peer`, whose first operation is `first`.
  int to_receive(QueuePair& pair, Rank peer, uint32_t remote_number, uint32_t first);
  int to_send(QueuePair& pair, uint32_t first);
  void to_error(QueuePair& pair);
  void to_reset(QueuePair& pair);

  // Fills `out`, returns how many; -1 if the queue has overrun.
  int poll(CompletionQueue& queue, ArrayView<Completion> out);

  void fail_peer(Rank peer);
  // Posted and not completed, or accepted and not yet visible? Any thread, cheap.
  bool busy() const { return active_count_.load(std::memory_order_acquire) != 0 || port_->has_inbound(); }

  EngineId id() const override { return id_; }
  std::string_view name() const override { return name_; }
  bool has_work() const override;
  void ready(ActionList& out) override;
  void run(const Action& action, Time now) override;
  void describe_pending(std::vector<std::string>& out) const override;

 private:
  friend class QueuePair;
  friend class PostScope;

  enum ActionKind : uint16_t { kDeliver, kDrainOutbox, kApply, kSend };

  void on_message(Rank from, const char* data, size_t bytes) override;
  void on_broken_peer(Rank from) override;
  void dispatch(QueuePair& pair, const Message& message, const char* payload);
  void refuse(Rank from, const Message& message);
  void close_malformed(QueuePair& pair, uint32_t sequence);
  bool send_message(Rank to, const Message& message, const char* payload);
  void drain_outbox(Rank to);
  void fail_peer_locked(Rank peer);

  void fail_pair(QueuePair& pair, WorkStatus status);
  void take_completions(QueuePair& pair);
  void complete(QueuePair& pair, const WorkDone& done);
  void purge_completions(QueuePair& pair);
  void send_one(QueuePair& pair);
  void settle(QueuePair& pair);
  void land(QueuePair& pair);
  void changed() { changed_.store(true, std::memory_order_release); }

  const MemoryRegion* find_local(uint32_t key) const;
  bool local_allows(const MemoryRegion* region, const PostRequest& request) const;
  void trace(TraceKind kind, const QueuePair& pair, FlowSeq operation, Place at, uint64_t bytes, uint64_t value);

  World& world_;
  const HcaOptions options_;
  const EngineId id_;
  const std::unique_ptr<Port> port_;
  std::string name_;

  mutable std::mutex mutex_;
  MrTableWriter published_;
  std::array<std::unique_ptr<MemoryRegion>, kMrSlots> regions_;  // by slot
  std::vector<std::unique_ptr<CompletionQueue>> completion_queues_;
  std::map<uint32_t, std::unique_ptr<QueuePair>> pairs_;  // by number
  uint32_t next_number_ = 1;
  std::set<uint32_t> active_;                // pairs with work not yet done, here or for here
  std::vector<std::deque<Message>> outbox_;  // by peer: messages without payload that found no room
  std::vector<bool> dead_;                   // by peer
  std::vector<WorkDone> done_;               // scratch
  Time now_ = 0;                             // of the last run
  bool stored_ = false;                      // this run or post made something visible in memory

  std::atomic<uint32_t> active_count_{0};
  std::atomic<bool> changed_{false};  // since ready() last looked, or it found something: it must look again
};

// The verbs of one post: holds the NIC's lock from construction on; what was added leaves when it goes.
class PostScope {
 public:
  PostScope(Hca& hca, QueuePair& pair);
  ~PostScope();
  PostScope(const PostScope&) = delete;
  PostScope& operator=(const PostScope&) = delete;

  // Takes one work request. EINVAL: the pair is not ready to send, or the request could never be done; ENOMEM: the send
  // queue is full. A request that local memory does not allow is taken and completes with the error.
  int add(const PostRequest& request);

 private:
  Hca& hca_;
  QueuePair& pair_;
  std::lock_guard<std::mutex> lock_;
  uint32_t budget_ = kChunkBytes;  // what may be done at once
  bool after_write_ = false;       // the request before this one was a write
  bool queued_ = false;
};

}  // namespace anygin::emulated
