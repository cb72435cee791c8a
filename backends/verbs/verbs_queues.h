// SPDX-License-Identifier: Apache-2.0
// The queue pairs of a range of contexts: one RC queue pair a (context, peer), oneself included, and the completion
// queue they share. Queue pairs are made and connected when the contexts open (docs/decisions); what is kept per
// operation is allocated on a queue's first use.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "anygin/backends/op.h"
#include "anygin/base/bootstrap.h"
#include "anygin/verbs/verbs_device.h"
#include "anygin/verbs/verbs_work.h"

namespace anygin::verbs {

struct QueueShape {
  uint32_t first = 0;  // context
  uint32_t contexts = 0;
  uint32_t depth = 0;  // operations in flight per (context, peer); a power of two
  int traffic_class = 0;
};

class QueueSet {
 public:
  // Room for the payload and the signal of each operation in flight.
  static constexpr uint32_t kRequestsPerOp = 2;

  // Collective: all ranks get their queues connected, or all fail.
  static Result<std::unique_ptr<QueueSet>> open(const VerbsDevice& device, Bootstrap& bootstrap,
                                                const QueueShape& shape);

  const QueueShape& shape() const { return shape_; }
  bool holds(uint32_t context) const { return context - shape_.first < shape_.contexts; }

  // --- Engine
  // ----------------------------------------------------------------------------------------------------------
  bool has_room(uint32_t context, Rank peer) const;
  void post(const Op& op, const WorkPlaces& places);
  // At most `most` completions, in post order of each queue.
  size_t poll(OpCompletion* out, size_t most);
  uint32_t in_flight() const { return in_flight_; }
  void describe_pending(std::vector<std::string>& out) const;

  // --- Any thread
  // ------------------------------------------------------------------------------------------------------
  bool has_completions() const;
  // Queue pairs to `peer` go to the error state: what is in flight fails, and all that is posted later.
  void fail_peer(Rank peer);

 private:
  // Operations of a queue are counted from just below the wrap, so that every run crosses it.
  static constexpr uint32_t kFirstSequence = 0xFFFFFFF0u;

  struct InFlight {
    uint64_t cookie = 0;
    uint64_t bytes = 0;
    const void* call_site = nullptr;
    OpKind kind = OpKind::kPut;
    bool has_signal = false;
  };
  struct Queue {
    Handle<ibv_qp> pair;
    std::vector<InFlight> ops;  // ring of `depth`, allocated on first use
    uint32_t posted = kFirstSequence;
    uint32_t completed = kFirstSequence;
    uint32_t refused = 0;  // the newest operations, which the device did not take
  };

  QueueSet(const VerbsDevice& device, Bootstrap& bootstrap, const QueueShape& shape);
  Status create();
  Status create_pair(Queue& queue);
  Status connect();
  Status connect_pair(Queue& queue, const struct QueueCard& peer);
  Status modify(Queue& queue, ibv_qp_attr& attributes, int mask, const char* state) const;

  size_t index(uint32_t context, Rank peer) const {
    return size_t{context - shape_.first} * ranks_ + static_cast<size_t>(peer);
  }
  InFlight& in_flight_at(Queue& queue, uint32_t sequence) { return queue.ops[sequence % shape_.depth]; }
  OpCompletion finish(size_t queue_index, Cause error, const char* what);
  size_t take_refused(OpCompletion* out, size_t most);

  const VerbsDevice& device_;
  Bootstrap& bootstrap_;
  const QueueShape shape_;
  const size_t ranks_;
  uint32_t most_in_flight_ = 0;  // what the completion queue holds
  Handle<ibv_cq> completions_;
  std::vector<Queue> queues_;
  uint32_t in_flight_ = 0;
  std::atomic<uint32_t> refused_{0};
};

}  // namespace anygin::verbs
