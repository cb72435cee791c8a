// SPDX-License-Identifier: Apache-2.0
// Only the front operation runs. On a lost device nothing runs any more: launches and host work are dropped, waits end.
#include "anygin/simt/stream.h"

#include <algorithm>

#include "anygin/base/world.h"
#include "anygin/simt/lane_machine.h"
#include "anygin/simt/stream_engine.h"

namespace anygin::simt {

namespace {
std::atomic<int> streams_that_capture{0};
}

bool Stream::any_captures() {
  return streams_that_capture.load(std::memory_order_acquire) != 0;
}

std::shared_ptr<Capture> Stream::capture() const {
  if (!any_captures()) return nullptr;
  const std::lock_guard lock(mutex_);
  return capture_;
}

void Stream::set_capture(std::shared_ptr<Capture> capture) {
  const std::lock_guard lock(mutex_);
  streams_that_capture.fetch_add(static_cast<int>(capture != nullptr) - static_cast<int>(capture_ != nullptr),
                                 std::memory_order_acq_rel);
  capture_.swap(capture);
}

uint64_t Stream::enqueue(StreamOperation operation) {
  uint64_t ticket;
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(operation));
    ticket = enqueued_.fetch_add(1, std::memory_order_release) + 1;
    if (world().trace.enabled()) {
      if (const auto* launch = std::get_if<LaunchOperation>(&queue_.back())) trace_launch(*launch->grid, ticket);
    }
  }
  advance();
  return ticket;
}

bool Stream::any_launch(const std::function<bool(const Grid&)>& holds) const {
  const std::lock_guard lock(mutex_);
  return std::any_of(queue_.begin(), queue_.end(), [&](const StreamOperation& operation) {
    const auto* launch = std::get_if<LaunchOperation>(&operation);
    return launch != nullptr && holds(*launch->grid);
  });
}

// Under the lock, so that a trace has the launches of a stream in order.
void Stream::trace_launch(const Grid& grid, uint64_t ticket) const {
  TraceEvent event;
  event.kind = TraceKind::kLaunch;
  event.context = static_cast<uint32_t>(device());
  event.operation = id_;
  event.bytes = ticket;
  event.value = grid.blocks;
  event.grid = grid.id;
  event.call_site = grid.kernel.function;
  world().trace.record(event);
}

// Takes the front operation off; what it owns is gone before anybody sees it complete.
void Stream::complete_front() {
  StreamOperation finished;
  {
    const std::lock_guard lock(mutex_);
    finished = std::move(queue_.front());
    queue_.pop_front();
  }
  finished = HostOperation{};
  {
    const std::lock_guard lock(mutex_);
    busy_ = attended_ = false;
    completed_.fetch_add(1, std::memory_order_release);
  }
  ring_everybody(world().executor);
}

void Stream::start_launch(Grid& grid) {
  grid.done = [self = shared_from_this()] {
    self->complete_front();
    self->advance();
  };
  lane_machine().place(grid);
}

// Starts the front operation if none runs; on until one takes time.
void Stream::advance() {
  while (true) {
    StreamOperation* front;
    {
      const std::lock_guard lock(mutex_);
      if (busy_ || attended_ || queue_.empty()) return;
      front = &queue_.front();
      const bool for_engine =
          std::holds_alternative<HostOperation>(*front) || std::holds_alternative<WaitOperation>(*front);
      if (for_engine && !lost()) {
        attended_ = true;
        front = nullptr;
      } else {
        busy_ = true;
      }
    }
    if (!front) return stream_engine().attend_to(shared_from_this());
    auto* launch = std::get_if<LaunchOperation>(front);
    if (launch && !lost()) return start_launch(*launch->grid);
    if (auto* record = std::get_if<RecordOperation>(front))
      record->event->complete(record->ticket, world().clock.now());
    complete_front();
  }
}

bool Stream::attention_due() {
  WaitOperation* wait;
  {
    const std::lock_guard lock(mutex_);
    if (!attended_ || busy_ || queue_.empty()) return false;
    wait = std::get_if<WaitOperation>(&queue_.front());
  }
  return !wait || lost() || wait->ready();
}

void Stream::attend() {
  HostOperation* host;
  {
    const std::lock_guard lock(mutex_);
    busy_ = true;
    host = std::get_if<HostOperation>(&queue_.front());
  }
  if (host && !lost()) {
    const int result = host->work();
    int none = 0;
    if (result != 0) error_.compare_exchange_strong(none, result, std::memory_order_acq_rel);
  }
  complete_front();
  advance();
}

}  // namespace anygin::simt
