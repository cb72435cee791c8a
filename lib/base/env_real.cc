// SPDX-License-Identifier: Apache-2.0
#include "anygin/base/env_real.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "anygin/base/assert.h"
#include "anygin/base/mutant.h"

namespace anygin {

uint64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

void draw_random(void* bytes, size_t count) {
  char* at = static_cast<char*>(bytes);
  while (count > 0) {
    const ssize_t got = getrandom(at, count, 0);
    if (got < 0 && errno == EINTR) continue;
    ANYGIN_ASSERT(got > 0);
    at += got;
    count -= static_cast<size_t>(got);
  }
}

uint64_t draw_random_number() {
  uint64_t value = 0;
  draw_random(&value, sizeof(value));
  return value;
}

uint32_t process_id() {
  return static_cast<uint32_t>(getpid());
}

uint64_t process_start_time(uint32_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  if (!std::getline(file, line)) return 0;
  // The second field is the program's name in parentheses and may hold anything; fields are counted after it.
  const size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) return 0;
  std::istringstream fields(line.substr(name_end + 1));
  std::string field;
  constexpr int kStartTimeAfterName = 20;
  for (int i = 0; i < kStartTimeAfterName; ++i) {
    if (!(fields >> field)) return 0;
  }
  return std::strtoull(field.c_str(), nullptr, 10);
}

uint64_t process_start_time() {
  return process_start_time(process_id());
}

uint32_t thread_id() {
  return static_cast<uint32_t>(syscall(SYS_gettid));
}

// /proc/<pid>/task/<tid>/syscall: the number, then six arguments; "running" while the thread runs.
bool waits_for_another_thread(uint32_t thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/syscall");
  long number = -1;
  std::string word, operation, value, limit;
  if (!(file >> number >> word >> operation >> value >> limit) || number != SYS_futex) return false;
  const unsigned long long command = std::strtoull(operation.c_str(), nullptr, 16) & FUTEX_CMD_MASK;
  const bool sleeps = command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET;
  return sleeps && std::strtoull(limit.c_str(), nullptr, 16) == 0;
}

int cpu_count() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return CPU_COUNT(&set);
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? static_cast<int>(online) : 1;
}

uint64_t physical_memory_bytes() {
  return static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

ArrayView<const char* const> process_environment() {
  size_t count = 0;
  while (environ && environ[count]) ++count;
  return {environ, count};
}

std::string environment_variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

namespace {
// The names that set_environment_default set.
std::vector<std::string>& environment_defaults() {
  static std::vector<std::string>& names = *new std::vector<std::string>;  // constructors of libraries come first
  return names;
}
}  // namespace

void set_environment_default(const char* name, const char* value) {
  if (std::getenv(name)) return;
  setenv(name, value, 0);
  environment_defaults().emplace_back(name);
}

void unset_environment_defaults() {
  for (const std::string& name : environment_defaults()) unsetenv(name.c_str());
  environment_defaults().clear();
}

void futex_wait(const std::atomic<uint32_t>* word, uint32_t seen, uint64_t timeout_ns) {
  timespec timeout{};
  timeout.tv_sec = static_cast<time_t>(timeout_ns / 1'000'000'000);
  timeout.tv_nsec = static_cast<long>(timeout_ns % 1'000'000'000);
  // Not FUTEX_PRIVATE: the sleeper and the one who wakes it may be different processes.
  syscall(SYS_futex, word, FUTEX_WAIT, seen, timeout_ns == kNever ? nullptr : &timeout, nullptr, 0);
}

void futex_wake_all(const std::atomic<uint32_t>* word) {
  syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void yield_thread() {
  sched_yield();
}

void pause_cpu() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

bool StandstillFilter::note(uint64_t raw_ns) {
  constexpr uint64_t kNoteEveryNs = 50'000'000;  // seldom, so that readers do not fight for the cache line
  if (raw_ns <= noted_ns_.load(std::memory_order_acquire) + kNoteEveryNs) return false;
  std::lock_guard lock(mutex_);
  const uint64_t latest = noted_ns_.load(std::memory_order_relaxed);
  if (raw_ns <= latest) return false;
  const uint64_t silence = raw_ns - latest;
  if (silence > kGapNs && !MUTANT(clock_counts_stops))
    taken_out_ns_.fetch_add(silence - kGapNs, std::memory_order_acq_rel);
  noted_ns_.store(raw_ns, std::memory_order_release);
  return silence > kGapNs;
}

RealClock::RealClock() : start_ns_(monotonic_ns()), filter_(start_ns_), heart_([this] { beat(); }) {}

RealClock::~RealClock() {
  stop_.store(1);
  futex_wake_all(&stop_);
  heart_.join();
}

Time RealClock::now() {
  while (true) {
    const uint64_t taken_out = filter_.taken_out_ns();
    const uint64_t raw = monotonic_ns();
    filter_.note(raw);
    // Again if a standstill was found meanwhile: `raw` may be from before it, and the clock must not go back.
    if (filter_.taken_out_ns() == taken_out) return (raw - start_ns_ - taken_out) * kNanosecond;
  }
}

void RealClock::beat() {
  while (stop_.load() == 0) {
    futex_wait(&stop_, 0, kBeatNs);
    filter_.note(monotonic_ns());
  }
}

}  // namespace anygin
