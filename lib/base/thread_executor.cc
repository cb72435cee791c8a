// SPDX-License-Identifier: Apache-2.0
#include "anygin/base/thread_executor.h"

#include <algorithm>
#include <utility>

#include "anygin/base/assert.h"
#include "anygin/base/env_real.h"
#include "anygin/base/host_threads.h"
#include "anygin/base/mutant.h"
#include "anygin/base/order.h"

namespace anygin {

namespace {

// A thread that steps engines, as they see it.
struct Stepper {
  uint32_t id = 0;  // 0: not given yet
  uint32_t turns = 0;
};
thread_local Stepper stepper __attribute__((tls_model("initial-exec")));

// The calling thread's, never 0.
uint32_t stepper_id() {
  static std::atomic<uint32_t> last{0};
  if (stepper.id == 0) [[unlikely]]
    stepper.id = last.fetch_add(1, std::memory_order_relaxed) + 1;
  return stepper.id;
}

}  // namespace

// An engine and its owner token.
struct ThreadExecutor::Slot {
  explicit Slot(Engine& e) : engine(e), id(e.id()) {}

  bool try_own() { return !owned.load(std::memory_order_relaxed) && !owned.exchange(true, std::memory_order_acquire); }
  void own() {
    while (!try_own()) yield_thread();
  }
  // Has nobody stepped it since the caller, or another, last asked?
  bool left_alone() {
    const uint32_t now = steps.load(std::memory_order_relaxed);
    return steps_seen.exchange(now, std::memory_order_relaxed) == now;
  }
  void disown() { owned.store(false, std::memory_order_release); }

  Engine& engine;
  const EngineId id;
  alignas(kCacheLine) std::atomic<bool> owned{false};
  // The owner writes.
  std::atomic<Time> wake{kNever};
  std::atomic<uint32_t> keeper{0};  // the Stepper that looks after it: its memory is near that thread's core
  std::atomic<uint32_t> steps{0};
  // Threads that are not the keeper write: `steps` when one of them last saw that it has work.
  std::atomic<uint32_t> steps_seen{0};
  size_t place = 0;  // in the engine's list of actions; the owner's
};

struct ThreadExecutor::Table {
  std::vector<std::shared_ptr<Slot>> slots;  // in id order
};

// While one lives, the table it shows and the engines in it stay valid: remove() waits for it.
//
// A reader counts itself in the current period before it reads the table; all of this is sequentially consistent. After
// the table was swapped, remove() waits for the count of the previous period to be zero, starts a new period, and waits
// for the one that ended. A reader that still sees the old table counted itself in one of the two before the swap, and
// so was waited for; a reader that counts itself later sees the new table.
class ThreadExecutor::Reading {
 public:
  explicit Reading(ThreadExecutor& executor) : count_(executor.line().readers[executor.period_.load() & 1]) {
    count_.fetch_add(1);
    table_ = executor.table_.load();
  }
  ~Reading() { count_.fetch_sub(1); }
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;

  const std::vector<std::shared_ptr<Slot>>& slots() const { return table_->slots; }

 private:
  std::atomic<uint32_t>& count_;
  const Table* table_;
};

ThreadExecutor::ThreadExecutor(Clock& clock, int helpers, Helping helping)
    : clock_(clock), helper_count_(helpers), helping_(helping) {
  auto table = std::make_unique<Table>();
  table_ = table.get();
  tables_.push_back(std::move(table));
}

ThreadExecutor::~ThreadExecutor() {
  stop_.store(1);
  ring(wake_word());
  futex_wake_all(&stop_);
  for (std::thread& helper : helpers_) helper.join();
}

void ThreadExecutor::add(Engine& engine) {
  std::lock_guard lock(change_mutex_);
  auto next = std::make_unique<Table>(*tables_.back());
  const auto at = std::lower_bound(next->slots.begin(), next->slots.end(), engine.id(),
                                   [](const auto& slot, EngineId id) { return slot->id < id; });
  ANYGIN_ASSERT(at == next->slots.end() || (*at)->id != engine.id());
  next->slots.insert(at, std::make_shared<Slot>(engine));
  swap_table(std::move(next));
  while (helpers_.size() < static_cast<size_t>(helper_count_)) {
    helpers_.emplace_back([this] { helping_ == Helping::kAlways ? help_always() : help(); });
  }
  ring(wake_word());
}

void ThreadExecutor::remove(Engine& engine) {
  std::lock_guard one_at_a_time(remove_mutex_);
  ptrdiff_t retired = 0;
  {
    std::lock_guard lock(change_mutex_);
    auto next = std::make_unique<Table>(*tables_.back());
    const auto at = std::find_if(next->slots.begin(), next->slots.end(),
                                 [&](const auto& slot) { return &slot->engine == &engine; });
    ANYGIN_ASSERT(at != next->slots.end());
    next->slots.erase(at);
    retired = static_cast<ptrdiff_t>(tables_.size());
    swap_table(std::move(next));
  }
  wait_for_readers();  // not under change_mutex_: a reader may be an engine that adds another
  std::lock_guard lock(change_mutex_);
  tables_.erase(tables_.begin(), tables_.begin() + retired);
}

void ThreadExecutor::swap_table(std::unique_ptr<Table> next) {
  table_.store(next.get());
  tables_.push_back(std::move(next));
}

void ThreadExecutor::wait_for_readers() {
  for (int turn = 0; turn < 2; ++turn) {
    const uint32_t ended = (period_.load() + 1) & 1;
    for (const Line& line : lines_) {
      while (line.readers[ended].load() != 0) yield_thread();
    }
    if (turn == 0) period_.fetch_add(1);
  }
}

void ThreadExecutor::kick(Engine&) {
  ring(wake_word());
}

ThreadExecutor::Line& ThreadExecutor::line() {
  return lines_[stepper_id() % kLines];
}

bool ThreadExecutor::step_slot(Slot& slot, Time now, Look look) {
  if (!slot.try_own() && !MUTANT(engine_without_owner)) return false;
  const StepResult result = step(slot.engine, now, kActionsPerStep, &slot.place);
  slot.wake.store(result.next_wake, std::memory_order_relaxed);
  slot.steps.store(slot.steps.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  const uint32_t keeper = slot.keeper.load(std::memory_order_relaxed);
  if (keeper != stepper_id() && (keeper == 0 || look == Look::kNearby)) {
    slot.keeper.store(stepper_id(), std::memory_order_relaxed);
  }
  slot.disown();
  if (result.ran > 0) line().progress.fetch_add(result.ran, std::memory_order_relaxed);
  return result.ran > 0;
}

bool ThreadExecutor::poll() {
  line().polls.fetch_add(1, std::memory_order_relaxed);
  return poll_engines(Look::kAll);
}

bool ThreadExecutor::poll_nearby() {
  line().polls.fetch_add(1, std::memory_order_relaxed);
  return poll_engines(Look::kNearby);
}

uint64_t ThreadExecutor::polls() const {
  uint64_t sum = 0;
  for (const Line& line : lines_) sum += line.polls.load(std::memory_order_relaxed);
  return sum;
}

bool ThreadExecutor::poll_for_host() {
  host_polls_.fetch_add(1, std::memory_order_relaxed);
  return poll_engines(Look::kAll);
}

// Nearby are the engines that this thread keeps and those that nobody keeps. Every kForeignTurn looks it takes over
// engines that have work and were left alone since the look before: their keeper is busy, asleep or gone.
bool ThreadExecutor::poll_engines(Look look) {
  bool ran = false;
  const bool foreign_turn = look == Look::kAll || ++stepper.turns % kForeignTurn == 0;
  {
    Reading reading(*this);
    Time now = kNever;  // read when it is first needed: most polls find nothing
    for (const auto& slot : reading.slots()) {
      const uint32_t keeper = slot->keeper.load(std::memory_order_relaxed);
      const bool near = keeper == stepper_id() || keeper == 0;
      if (!near && !foreign_turn) continue;
      const Time wake = slot->wake.load(std::memory_order_relaxed);
      const bool has_work = slot->engine.has_work();
      if (!has_work && wake == kNever) continue;
      if (now == kNever) now = clock_.now();
      if (!has_work && wake > now) continue;
      if (!near && look == Look::kNearby && !slot->left_alone()) continue;
      ran |= step_slot(*slot, now, look);
    }
  }
  if (ran) ring(wake_word());  // what ran may be what another thread of this process sleeps for
  return ran;
}

Time ThreadExecutor::next_event() {
  Reading reading(*this);
  Time earliest = kNever;
  for (const auto& slot : reading.slots()) {
    if (slot->engine.has_work()) return 0;
    earliest = std::min(earliest, slot->wake.load(std::memory_order_relaxed));
  }
  return earliest;
}

namespace {

// Nanoseconds from `now` to `then`, at most `limit_ns`.
uint64_t sleep_ns(Time now, Time then, uint64_t limit_ns) {
  if (then == kNever) return limit_ns;
  return then <= now ? 0 : std::min(limit_ns, (then - now) / kNanosecond + 1);
}

}  // namespace

// While workers poll, a blocked thread leaves the engines to them and sleeps on a word of its own, which engines do not
// ring; a worker that stops to poll sleeps on wake_word() and comes back when it is rung. Without workers the blocked
// threads step the engines.
WaitOutcome ThreadExecutor::block(Waiter& waiter) {
  const BlockingCall blocking;
  Time last_progress = clock_.now();
  uint64_t polls_before = polls();
  while (true) {
    const uint32_t host_seen = host_word_.value.load(std::memory_order_seq_cst);
    const Seen seen = look_at_word();
    const uint64_t polls_now = polls();
    const bool attended = polls_now != std::exchange(polls_before, polls_now);
    const bool ran = !attended && poll_for_host();
    if (waiter.test(waiter.object)) {
      observe_then_read();
      return WaitOutcome::kSatisfied;
    }
    if (!MUTANT(block_ignores_abort) && waiter.abort_word && observe(waiter.abort_word) != 0)
      return WaitOutcome::kAborted;
    const Time now = clock_.now();
    if (now >= waiter.deadline) return WaitOutcome::kDeadline;
    if (ran) {
      last_progress = now;
    } else if (now - last_progress < kSpinNs * kNanosecond) {
      pause_cpu();
    } else if (attended) {
      sleep_on(host_word_, host_seen, sleep_ns(now, waiter.deadline, kBackstopNs));
    } else {
      const Time event = next_event();
      // An engine that says it has work and does nothing (its owner is another thread, or the work is not ripe) does
      // not ring: look again soon.
      const uint64_t limit_ns = event == 0 ? kHelperPatienceNs : kBackstopNs;
      const Time until = std::min(waiter.deadline, event == 0 ? kNever : event);
      sleep_on(seen.word, seen.value, sleep_ns(now, until, limit_ns));
    }
  }
}

WakeWord& ThreadExecutor::wake_word() {
  return *word_.load(std::memory_order_acquire);
}

ThreadExecutor::Seen ThreadExecutor::look_at_word() {
  while (true) {
    WakeWord& word = *word_.load();
    const uint32_t value = word.value.load(std::memory_order_seq_cst);
    // Had the word been replaced before its value was read, nobody would ring it again.
    if (word_.load() == &word) return {word, value};
  }
}

void ThreadExecutor::use_wake_word(WakeWord& word) {
  WakeWord& old = *word_.exchange(&word);
  ring(old);  // whoever slept on it goes on with the new one
}

uint64_t ThreadExecutor::progress() const {
  uint64_t sum = 0;
  for (const Line& line : lines_) sum += line.progress.load(std::memory_order_relaxed);
  return sum;
}

void ThreadExecutor::visit_engines(void (*visit)(Engine&, void*), void* argument) {
  Reading reading(*this);
  for (const auto& slot : reading.slots()) {
    slot->own();
    visit(slot->engine, argument);
    slot->disown();
  }
}

// Asleep on the wake word while all is idle. Once woken it looks every kHelperPatienceNs whether others step the
// engines, and steps them itself if nobody did; as long as there is anything to do it stays off the wake word, so that
// ringing costs the others no system call. After kQuietTurns without work it goes back to sleep.
void ThreadExecutor::help() {
  constexpr int kQuietTurns = 10;
  int quiet = kQuietTurns;
  while (stop_.load() == 0) {
    const Seen seen = look_at_word();
    const Time event = next_event();
    const Time now = clock_.now();
    const bool idle = event > now;
    quiet = idle ? std::min(quiet + 1, kQuietTurns) : 0;
    if (quiet == kQuietTurns) {
      if (stop_.load() == 0) sleep_on(seen.word, seen.value, sleep_ns(now, event, kNever));
      quiet = 0;
      continue;
    }
    const uint64_t attention_before = attention();
    futex_wait(&stop_, 0, idle ? sleep_ns(now, event, kHelperPatienceNs) : kHelperPatienceNs);
    if (attention() != attention_before) continue;
    while (stop_.load() == 0 && attention() == attention_before && poll_engines(Look::kAll)) {
    }
  }
}

// Nobody rings when there is work: looks without a break, and with one once nothing came for kQuietNs.
void ThreadExecutor::help_always() {
  Time last_work = clock_.now();
  while (stop_.load() == 0) {
    const Seen seen = look_at_word();
    if (poll_nearby()) {
      last_work = kNever;
      continue;
    }
    if (last_work == kNever) last_work = clock_.now();
    if (Reading(*this).slots().empty()) {
      if (stop_.load() == 0) sleep_on(seen.word, seen.value, kNever);
    } else if (clock_.now() - last_work > kQuietNs * kNanosecond) {
      futex_wait(&stop_, 0, kNowAndThenNs);
    } else {
      pause_cpu();
    }
  }
}

}  // namespace anygin
