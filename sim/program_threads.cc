// SPDX-License-Identifier: Apache-2.0
#include "anygin/sim/program_threads.h"

#include <fmt/format.h>
#include <linux/futex.h>
#include <sys/syscall.h>

#include <algorithm>

#include "anygin/base/assert.h"
#include "anygin/base/clock_steps.h"
#include "anygin/sim/real_calls.h"
#include "anygin/sim/wait_outcome.h"

namespace anygin::sim {

struct ProgramThreads::Thread {
  ProgramThreads* owner = nullptr;
  uint32_t index = 0;
  pthread_t handle{};
  void* (*start)(void*) = nullptr;
  void* argument = nullptr;
  std::atomic<uint32_t> turn{0};

  State state = State::kReady;
  Waiter* waiter = nullptr;       // kWaits
  const void* channel = nullptr;  // kSleeps
  const char* what = "";
  Time deadline = kNever;
  uint64_t asleep_since = 0;  // counts sleeps: the longest sleeper is woken first
  bool woken = false;
  bool watches_clock = false;  // has looked at it since it last waited for something else
  ClockSteps clock_steps;
  int rounds_of_ending = 0;
};

namespace {

thread_local void* this_thread __attribute__((tls_model("initial-exec"))) = nullptr;

// Destructors of other keys may set values anew; ours comes last by asking for another round so often.
constexpr int kRoundsOfEnding = 3;

void hand_over(std::atomic<uint32_t>& turn) {
  turn.store(1, std::memory_order_release);
  real_futex(&turn, FUTEX_WAKE_PRIVATE, 1);
}

void await(std::atomic<uint32_t>& turn) {
  while (turn.load(std::memory_order_acquire) == 0) real_futex(&turn, FUTEX_WAIT_PRIVATE, 0);
  turn.store(0, std::memory_order_relaxed);
}

}  // namespace

ProgramThreads::ProgramThreads(VirtualClock& clock, std::function<void()> drive)
    : clock_(clock), drive_(std::move(drive)) {
  threads_.push_back(std::make_unique<Thread>());
  Thread& first = *threads_.back();
  first.owner = this;
  first.handle = pthread_self();
  first.state = State::kRunning;
  this_thread = &first;
  const int made = pthread_key_create(&ending_, &thread_ends);
  ANYGIN_ASSERT(made == 0);
}

ProgramThreads::~ProgramThreads() = default;

bool ProgramThreads::on_program_thread() const {
  return this_thread != nullptr;
}

ProgramThreads::Thread& ProgramThreads::current() {
  ANYGIN_ASSERT(this_thread != nullptr);
  return *static_cast<Thread*>(this_thread);
}

// --- Turns -----------------------------------------------------------------------------------------------------------

void ProgramThreads::give_turn() {
  Thread& me = current();
  if (!driver_started_) {
    driver_started_ = true;
    pthread_t driver;
    const int made = real_pthread_create(&driver, nullptr, &run_driver, this);
    ANYGIN_ASSERT(made == 0);
  }
  hand_over(driver_turn_);
  await(me.turn);
}

void* ProgramThreads::run_driver(void* threads) {
  auto* self = static_cast<ProgramThreads*>(threads);
  await(self->driver_turn_);
  self->drive_();
  return nullptr;
}

void ProgramThreads::run(const Action& action, Time) {
  Thread& thread = *threads_[action.name];
  thread.state = State::kRunning;
  hand_over(thread.turn);
  await(driver_turn_);
}

// --- Lives -----------------------------------------------------------------------------------------------------------

int ProgramThreads::create(pthread_t* handle, const pthread_attr_t* attributes, void* (*start)(void*), void* argument) {
  threads_.push_back(std::make_unique<Thread>());
  Thread& thread = *threads_.back();
  thread.owner = this;
  thread.index = static_cast<uint32_t>(threads_.size() - 1);
  thread.start = start;
  thread.argument = argument;
  const int error = real_pthread_create(&thread.handle, attributes, &run_thread, &thread);
  if (error != 0) {
    threads_.pop_back();
    return error;
  }
  *handle = thread.handle;
  return 0;
}

void* ProgramThreads::run_thread(void* thread) {
  auto& me = *static_cast<Thread*>(thread);
  this_thread = &me;
  pthread_setspecific(me.owner->ending_, &me);
  await(me.turn);
  return me.start(me.argument);
}

// Called when the thread's C++ thread-local objects are gone: it keeps the turn while they go.
void ProgramThreads::thread_ends(void* thread) {
  auto& me = *static_cast<Thread*>(thread);
  if (++me.rounds_of_ending < kRoundsOfEnding) {
    pthread_setspecific(me.owner->ending_, &me);
    return;
  }
  me.state = State::kEnded;
  me.owner->wake(&me, ~0u);
  this_thread = nullptr;
  hand_over(me.owner->driver_turn_);
}

bool ProgramThreads::wait_for_end(pthread_t handle) {
  // From the last on: handles of threads that ended may have been given again.
  for (size_t i = threads_.size(); i-- > 0;) {
    Thread& thread = *threads_[i];
    if (pthread_equal(thread.handle, handle) == 0) continue;
    while (thread.state != State::kEnded) (void)sleep_on_channel(&thread, "the end of another thread");
    return true;
  }
  return false;
}

size_t ProgramThreads::alive() const {
  return static_cast<size_t>(
      std::count_if(threads_.begin(), threads_.end(), [](const auto& one) { return one->state != State::kEnded; }));
}

// --- Waits -----------------------------------------------------------------------------------------------------------

WaitOutcome ProgramThreads::block(Waiter& waiter) {
  Thread& me = current();
  while (true) {
    if (const auto over = outcome_of(waiter, clock_.now())) return *over;
    me.waiter = &waiter;
    me.watches_clock = false;
    me.clock_steps.begin_again();
    me.state = State::kWaits;
    give_turn();
  }
}

void ProgramThreads::note_clock_look() {
  current().watches_clock = true;
}

void ProgramThreads::yield() {
  current().state = State::kPolls;
  give_turn();
}

bool ProgramThreads::sleep_on_channel(const void* channel, const char* what, Time deadline) {
  static uint64_t sleeps = 0;
  Thread& me = current();
  me.channel = channel;
  me.what = what;
  me.deadline = deadline;
  me.woken = false;
  me.asleep_since = ++sleeps;
  me.state = State::kSleeps;
  give_turn();
  return me.woken;
}

void ProgramThreads::sleep_until(Time deadline) {
  if (deadline > clock_.now()) (void)sleep_on_channel(nullptr, "a moment to come", deadline);
}

void ProgramThreads::wake(const void* channel, uint32_t count) {
  for (; count > 0; --count) {
    Thread* longest = nullptr;
    for (const auto& thread : threads_) {
      const bool sleeps = thread->state == State::kSleeps && thread->channel == channel && !thread->woken;
      if (sleeps && (longest == nullptr || thread->asleep_since < longest->asleep_since)) longest = thread.get();
    }
    if (longest == nullptr) return;
    longest->woken = true;
  }
}

bool ProgramThreads::can_go_on(Thread& thread, ActionList& out) const {
  switch (thread.state) {
    case State::kReady:
    case State::kPolls:
      return true;
    case State::kRunning:
    case State::kEnded:
      return false;
    case State::kSleeps:
      if (thread.woken || thread.deadline <= out.now()) return true;
      out.wake_at(thread.deadline);
      return false;
    case State::kWaits:
      break;
  }
  if (outcome_of(*thread.waiter, out.now())) return true;
  out.wake_at(thread.waiter->deadline);
  return false;
}

// A loop that asks, perhaps sleeps, and asks again. For one that watches the clock without sleeping time goes on.
bool ProgramThreads::only_polls(Thread& thread, ActionList& out) const {
  if (thread.state == State::kSleeps) return !thread.woken;
  if (thread.state != State::kPolls) return false;
  if (thread.watches_clock) {
    (void)thread.clock_steps.look(out.now());
    out.wake_at(thread.clock_steps.next());
  }
  return true;
}

void ProgramThreads::ready(ActionList& out) {
  for (const auto& thread : threads_) {
    if (can_go_on(*thread, out)) out.add(id(), 0, thread->index).only_polls = only_polls(*thread, out);
  }
}

std::vector<std::string> ProgramThreads::describe_waits() const {
  std::vector<std::string> lines;
  for (const auto& thread : threads_) {
    if (thread->state == State::kSleeps) lines.push_back(fmt::format("thread {}: {}", thread->index, thread->what));
    if (thread->state == State::kPolls) lines.push_back(fmt::format("thread {} looks over and over", thread->index));
    if (thread->state == State::kWaits)
      lines.push_back(fmt::format("thread {}: a call of this library", thread->index));
  }
  return lines;
}

}  // namespace anygin::sim
