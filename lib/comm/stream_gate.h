// SPDX-License-Identifier: Apache-2.0
// What the operations of streams keep of a host queue: they may outlive it, in graphs and on streams of lost devices.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "anygin/comm/host_queue.h"

namespace anygin::comm {

// A place in a stream where tasks begin and end.
struct StreamPoint {
  std::atomic<bool> reached{false};
  std::atomic<bool> abandoned{false};  // the stream will not get there
  std::atomic<uint32_t> left{0};       // tasks that are not finished
  bool over() const { return left.load(std::memory_order_acquire) == 0; }
};

// A place in a stream that waits for signals: `counts` are what the cells must reach.
struct SignalWait {
  Channel channel = Channel::kHostRma;
  std::vector<SignalCount> wanted;
};

// The way from streams to the queue, as long as it is open. Thread-safe.
class StreamGate {
 public:
  explicit StreamGate(HostQueue& queue) : queue_(&queue) {}

  // Calls `use(queue)` if it is open; the queue stays while that runs.
  template <typename Use>
  void with(const Use& use) {
    const std::lock_guard lock(mutex_);
    if (queue_ != nullptr) use(*queue_);
  }
  void close() {
    const std::lock_guard lock(mutex_);
    queue_ = nullptr;
    if (why_.empty()) why_ = "the communicator was destroyed";
    hopeless_.store(true, std::memory_order_release);
  }
  // No wait of a stream has hope any more. The first reason stays.
  void give_up(const std::string& why) {
    const std::lock_guard lock(mutex_);
    if (why_.empty()) why_ = why;
    hopeless_.store(true, std::memory_order_release);
  }
  bool hopeless() const { return hopeless_.load(std::memory_order_acquire); }
  std::string why() const {
    const std::lock_guard lock(mutex_);
    return why_;
  }

 private:
  mutable std::mutex mutex_;  // all but hopeless_
  HostQueue* queue_;
  std::string why_;
  std::atomic<bool> hopeless_{false};
};

// What operations of a stream hold together: when the last of them is gone and the stream never got to the point, its
// tasks are dropped.
class StreamHold {
 public:
  StreamHold(HostQueue& queue, std::shared_ptr<StreamGate> gate, std::shared_ptr<StreamPoint> point);
  ~StreamHold();
  StreamHold(const StreamHold&) = delete;
  StreamHold& operator=(const StreamHold&) = delete;

 private:
  const std::shared_ptr<StreamGate> gate_;
  const std::shared_ptr<StreamPoint> point_;  // null: it waits for signals
};

}  // namespace anygin::comm
