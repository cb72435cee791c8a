// SPDX-License-Identifier: Apache-2.0
// Buffers that a program registered with a communicator. Sends and collectives copy through slots of their own: a
// registered buffer is known, and nothing gets faster by it.
#pragma once

#include <map>
#include <memory>
#include <mutex>

namespace anygin::comm {

// Any thread.
class Registrations {
 public:
  // The handle is the program's until remove(), or the communicator's end.
  void* add() {
    auto made = std::make_unique<char>();
    void* const handle = made.get();
    const std::lock_guard lock(mutex_);
    live_[handle] = std::move(made);
    return handle;
  }
  // False if it is none of these.
  bool remove(void* handle) {
    const std::lock_guard lock(mutex_);
    return live_.erase(handle) == 1;
  }

 private:
  std::mutex mutex_;
  std::map<void*, std::unique_ptr<char>> live_;
};

}  // namespace anygin::comm
