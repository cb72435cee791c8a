// SPDX-License-Identifier: Apache-2.0
// The executor of the real world: engines are stepped by the threads that wait and by workers between blocks; a helper
// thread steps them when nobody did for kHelperPatienceNs. Where kernels cannot ring, helpers look all the time.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "anygin/base/executor.h"
#include "anygin/base/time.h"

namespace anygin {

// Thread-safe. The engines that were added are removed before it is destroyed.
class ThreadExecutor final : public Executor {
 public:
  static constexpr uint64_t kHelperPatienceNs = 200'000;
  static constexpr uint64_t kSpinNs = 20'000;
  static constexpr uint64_t kBackstopNs = 1'000'000;  // for conditions that somebody makes true without ringing
  static constexpr size_t kActionsPerStep = 64;
  static constexpr uint32_t kForeignTurn = 32;  // every so many times poll_nearby() looks at all engines

  static constexpr uint64_t kQuietNs = 1'000'000'000;  // without work for so long, kAlways looks now and then only
  static constexpr uint64_t kNowAndThenNs = 50'000;

  enum class Helping : uint8_t { kWhenLeftAlone, kAlways };
  // `helpers`: how many helper threads; they start with the first engine. `clock` outlives the executor.
  explicit ThreadExecutor(Clock& clock, int helpers = 1, Helping helping = Helping::kWhenLeftAlone);
  ~ThreadExecutor() override;

  void add(Engine& engine) override;
  void remove(Engine& engine) override;
  void kick(Engine& engine) override;
  bool poll() override;
  bool poll_nearby() override;
  WaitOutcome block(Waiter& waiter) override;
  WakeWord& wake_word() override;
  WakeWord& host_word() override { return host_word_; }
  void use_wake_word(WakeWord& word) override;
  uint64_t progress() const override;
  void visit_engines(void (*visit)(Engine&, void*), void* argument) override;

 private:
  struct Slot;
  struct Table;
  class Reading;
  struct Seen {
    WakeWord& word;
    uint32_t value;
  };

  bool poll_for_host();
  enum class Look : uint8_t { kAll, kNearby };
  bool poll_engines(Look look);
  // Changes whenever somebody calls poll() or poll_nearby().
  uint64_t polls() const;
  // Changes whenever anybody but a helper looks after the engines.
  uint64_t attention() const { return polls() + host_polls_.load(std::memory_order_relaxed); }
  Seen look_at_word();
  bool step_slot(Slot& slot, Time now, Look look);
  // Earliest wake-up that an engine named; 0 if one has work now.
  Time next_event();
  void swap_table(std::unique_ptr<Table> next);
  void wait_for_readers();
  void help();
  void help_always();

  Clock& clock_;
  const int helper_count_;
  const Helping helping_;

  // Table of engines: read without lock inside a Reading, replaced under change_mutex_.
  std::mutex remove_mutex_;  // taken before change_mutex_
  std::mutex change_mutex_;
  std::atomic<const Table*> table_;
  std::vector<std::unique_ptr<const Table>> tables_;  // the current one is last; older ones may still be read
  std::atomic<uint32_t> period_{0};
  // Counters that every poll changes: a line for each thread, shared only if there are more threads than lines.
  static constexpr size_t kLines = 16;
  struct alignas(kCacheLine) Line {
    std::atomic<uint32_t> readers[2] = {};  // of the current and the previous period
    std::atomic<uint64_t> polls{0};         // calls of poll() and poll_nearby()
    std::atomic<uint64_t> progress{0};      // actions run
  };
  Line& line();  // the calling thread's
  Line lines_[kLines];

  alignas(kCacheLine) WakeWord own_word_;
  alignas(kCacheLine) WakeWord host_word_;
  alignas(kCacheLine) std::atomic<uint64_t> host_polls_{0};  // by threads in block()
  alignas(kCacheLine) std::atomic<WakeWord*> word_{&own_word_};

  std::atomic<uint32_t> stop_{0};
  std::vector<std::thread> helpers_;
};

}  // namespace anygin
