// SPDX-License-Identifier: Apache-2.0
// Runs what streams have for the host: work, and waits whose predicate came true. One a process; whoever polls engines
// runs it.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>

#include "anygin/base/engine.h"

namespace anygin::simt {

class Stream;

class StreamEngine final : public Engine {
 public:
  explicit StreamEngine(EngineId id) : id_(id) {}

  // The front operation of `stream` is for this engine. Any thread.
  void attend_to(std::shared_ptr<Stream> stream);

  EngineId id() const override { return id_; }
  std::string_view name() const override { return "streams"; }
  bool has_work() const override { return waiting_.load(std::memory_order_acquire) != 0; }
  void ready(ActionList& out) override;
  void run(const Action& action, Time now) override;

 private:
  const EngineId id_;
  std::mutex mutex_;
  std::map<uint64_t, std::shared_ptr<Stream>> streams_;  // by id
  std::atomic<size_t> waiting_{0};
};

// Added to the world's executor on first use.
StreamEngine& stream_engine();

}  // namespace anygin::simt
