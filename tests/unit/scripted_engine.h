// SPDX-License-Identifier: Apache-2.0
// An engine of queues of numbered actions, for tests of executors.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "anygin/base/engine.h"

namespace anygin::testing {

// Each queue offers its first action. Thread-safe; checks that nobody steps it twice at a time.
class ScriptedEngine final : public Engine {
 public:
  explicit ScriptedEngine(uint32_t id, size_t queues = 1) : id_(id), queues_(queues) {}

  // `run` may be null; what it returns is a wake-up that ready() names from then on, until it is due.
  void push(size_t queue, uint64_t number, std::function<Time(Time)> run = nullptr) {
    std::lock_guard lock(mutex_);
    queues_[queue].push_back({number, std::move(run)});
    waiting_.fetch_add(1);
  }
  std::vector<uint64_t> ran() const {
    std::lock_guard lock(mutex_);
    return ran_;
  }
  size_t ready_calls() const { return ready_calls_.load(); }
  bool was_stepped_twice_at_a_time() const { return twice_.load(); }
  // Actions wait, but has_work() says no: only a wake-up gets them run.
  void hide_work(bool hidden) { hidden_.store(hidden); }

  EngineId id() const override { return id_; }
  std::string_view name() const override { return "scripted"; }
  bool has_work() const override { return !hidden_.load() && waiting_.load() > 0; }
  void ready(ActionList& out) override {
    Inside inside(*this);
    ready_calls_.fetch_add(1);
    std::lock_guard lock(mutex_);
    wakes_.erase(wakes_.begin(), wakes_.upper_bound(out.now()));
    if (!wakes_.empty()) out.wake_at(*wakes_.begin());
    for (size_t i = 0; i < queues_.size(); ++i) {
      if (!queues_[i].empty()) out.add(id_, static_cast<uint16_t>(i), queues_[i].front().number);
    }
  }
  void run(const Action& action, Time now) override {
    Inside inside(*this);
    Entry entry;
    {
      std::lock_guard lock(mutex_);
      entry = std::move(queues_[action.kind].front());
      queues_[action.kind].pop_front();
      ran_.push_back(entry.number);
    }
    const Time wake = entry.run ? entry.run(now) : kNever;
    std::lock_guard lock(mutex_);
    if (wake != kNever) wakes_.insert(wake);
    waiting_.fetch_sub(1);
  }

 private:
  struct Entry {
    uint64_t number = 0;
    std::function<Time(Time)> run;
  };
  struct Inside {
    explicit Inside(ScriptedEngine& e) : engine(e) {
      if (engine.inside_.exchange(true)) engine.twice_.store(true);
    }
    ~Inside() { engine.inside_.store(false); }
    ScriptedEngine& engine;
  };

  const EngineId id_;
  mutable std::mutex mutex_;
  std::vector<std::deque<Entry>> queues_;
  std::vector<uint64_t> ran_;
  std::set<Time> wakes_;
  std::atomic<size_t> waiting_{0};
  std::atomic<size_t> ready_calls_{0};
  std::atomic<bool> hidden_{false};
  std::atomic<bool> inside_{false};
  std::atomic<bool> twice_{false};
};

}  // namespace anygin::testing
