// SPDX-License-Identifier: Apache-2.0
// Events: points in streams.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "anygin/base/time.h"

namespace anygin::simt {

class Capture;

// Shared by the event and the operations that record it.
struct EventState {
  std::atomic<uint64_t> recorded{0};   // ticket of the last record_event()
  std::atomic<uint64_t> completed{0};  // highest ticket reached in its stream
  std::atomic<Time> when{0};           // of that
  std::atomic<int> device{-1};         // where it was recorded last: its loss is the event's error
  // The same, for traces.
  std::atomic<uint64_t> stream{0};  // its id
  std::atomic<uint64_t> place{0};   // the operation's ticket there

  bool reached(uint64_t ticket) const { return completed.load(std::memory_order_acquire) >= ticket; }
  // The stream came to the record operation of `ticket`. Any thread.
  void complete(uint64_t ticket, Time now);
};

class Event {
 public:
  explicit Event(bool has_timing) : timing(has_timing), state(std::make_shared<EventState>()) {}

  const bool timing;
  const std::shared_ptr<EventState> state;
  // Recorded last in a stream that captured: in which graph, and behind which of its nodes.
  std::mutex mutex;
  std::shared_ptr<Capture> captured_in;
  std::vector<size_t> behind;
};

}  // namespace anygin::simt
