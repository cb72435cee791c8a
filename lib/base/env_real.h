// SPDX-License-Identifier: Apache-2.0
// The only door to the machine's time, randomness, process ids, environment and futexes. Everything else takes them as
// inputs (World, Options).
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

#include "anygin/base/array_view.h"
#include "anygin/base/time.h"

namespace anygin {

// CLOCK_MONOTONIC. Runs on while the process is stopped: for sockets and for RealClock; engines use world().clock.
uint64_t monotonic_ns();
// Fills from getrandom(2); aborts if the kernel refuses. For tokens, keys and seeds that are to be drawn, never for
// choices.
void draw_random(void* bytes, size_t count);
uint64_t draw_random_number();

uint32_t process_id();
// Of this process, in clock ticks since boot, from /proc: tells a reused pid apart. 0 if /proc does not say.
uint64_t process_start_time();
// Of any process; 0 if there is none.
uint64_t process_start_time(uint32_t pid);
int cpu_count();  // that this process may run on
// Of the calling thread, as the kernel and debuggers number it. For reports.
uint32_t thread_id();
// Does that thread of this process sleep in a futex without time limit, as in joining a thread or on a mutex? Then only
// another thread can make it go on. False if the kernel does not tell.
bool waits_for_another_thread(uint32_t thread);
uint64_t physical_memory_bytes();

// The process's environment in environ's form, valid until somebody changes it.
ArrayView<const char* const> process_environment();
std::string environment_variable(const char* name);  // empty if not set
// For other libraries of this process that read it later. Leaves what is set. Before threads start.
void set_environment_default(const char* name, const char* value);
// Takes back what that set: this process's choice is not that of the ones it starts.
void unset_environment_defaults();

// Sleeps while `*word == seen`, at most `timeout_ns` (kNever: no limit). The word may lie in shared memory.
void futex_wait(const std::atomic<uint32_t>* word, uint32_t seen, uint64_t timeout_ns);
void futex_wake_all(const std::atomic<uint32_t>* word);
// Gives the core to another thread.
void yield_thread();
// One turn of a spin.
void pause_cpu();

// Finds the times in which the process did not run. Everybody who reads the clock notes the time here; where nobody
// noted anything for longer than kGapNs, the process was stopped, and all of that silence but kGapNs is taken out.
class StandstillFilter {
 public:
  static constexpr uint64_t kGapNs = 1'000'000'000;

  explicit StandstillFilter(uint64_t raw_ns) : noted_ns_(raw_ns) {}
  // Any thread. True if a standstill was found just now.
  bool note(uint64_t raw_ns);
  uint64_t taken_out_ns() const { return taken_out_ns_.load(std::memory_order_acquire); }

 private:
  std::atomic<uint64_t> noted_ns_;  // raw time at which somebody was last seen running
  std::atomic<uint64_t> taken_out_ns_{0};
  std::mutex mutex_;
};

// World time: starts at zero, and stands still while the process is stopped or traced. A thread notes the time 4 times
// a second, so that silence means a stop and not an idle program. A stop of any length counts as at most kGapNs; stops
// shorter than that count as time, and the clock never goes back.
class RealClock final : public Clock {
 public:
  static constexpr uint64_t kBeatNs = 250'000'000;

  RealClock();
  ~RealClock() override;
  Time now() override;

 private:
  void beat();

  const uint64_t start_ns_;
  StandstillFilter filter_;
  std::atomic<uint32_t> stop_{0};
  std::thread heart_;
};

}  // namespace anygin
