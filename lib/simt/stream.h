// SPDX-License-Identifier: Apache-2.0
// A FIFO of operations of one device. Launches start on whatever thread brings the stream forward; host work and waits
// are run by the stream engine.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <variant>

#include "anygin/simt/event.h"
#include "anygin/simt/grid.h"

namespace anygin::simt {

struct LaunchOperation {
  std::unique_ptr<Grid> grid;
};
struct HostOperation {
  std::function<int()> work;
};
struct WaitOperation {
  std::function<bool()> ready;
  std::string what;
};
struct RecordOperation {
  std::shared_ptr<EventState> event;
  uint64_t ticket;
};
using StreamOperation = std::variant<LaunchOperation, HostOperation, WaitOperation, RecordOperation>;

class Capture;

// Thread-safe. Shared: whoever waits for a stream keeps it.
class Stream : public std::enable_shared_from_this<Stream> {
 public:
  enum class Kind : uint8_t { kLegacy, kBlocking, kNonBlocking };

  Stream(uint64_t id, Kind kind, DeviceLoad& device) : id_(id), kind_(kind), device_(device) {}

  uint64_t id() const { return id_; }
  Kind kind() const { return kind_; }
  int device() const { return device_.device; }
  DeviceLoad& load() const { return device_; }

  // Returns the operation's ticket: its place in the stream, from 1.
  uint64_t enqueue(StreamOperation operation);
  // Operations enqueued so far; reached() when they are complete.
  uint64_t ticket() const { return enqueued_.load(std::memory_order_acquire); }
  bool reached(uint64_t ticket) const { return completed_.load(std::memory_order_acquire) >= ticket; }
  bool drained() const { return reached(ticket()); }
  // The first error of its host work.
  int error() const { return error_.load(std::memory_order_acquire); }

  // What is queued goes into this graph instead (capture.h); null usually.
  std::shared_ptr<Capture> capture() const;
  void set_capture(std::shared_ptr<Capture> capture);
  // Some stream of the process captures.
  static bool any_captures();

  // A launch that is queued or runs and of which `holds` is true. `holds` does not block.
  bool any_launch(const std::function<bool(const Grid&)>& holds) const;

  // --- Stream engine ---
  // Has the front operation to be run by the engine, and can it? A wait's predicate is asked.
  bool attention_due();
  // Runs the front operation; attention_due() was true.
  void attend();

 private:
  void advance();
  void start_launch(Grid& grid);
  void trace_launch(const Grid& grid, uint64_t ticket) const;
  void complete_front();
  bool lost() const { return device_.error.load(std::memory_order_acquire) != 0; }

  const uint64_t id_;
  const Kind kind_;
  DeviceLoad& device_;

  mutable std::mutex mutex_;
  std::shared_ptr<Capture> capture_;
  std::deque<StreamOperation> queue_;
  bool busy_ = false;      // the front operation runs
  bool attended_ = false;  // the stream engine knows of the front operation
  std::atomic<uint64_t> enqueued_{0};
  std::atomic<uint64_t> completed_{0};
  std::atomic<int> error_{0};
};

}  // namespace anygin::simt
