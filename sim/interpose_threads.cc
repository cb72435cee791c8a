// SPDX-License-Identifier: Apache-2.0
// The C library's thread calls, for programs that run in the simulated world: pthread create, join, mutex, rwlock,
// condition, barrier, once, semaphores, and the futex calls of the C++ library. Only in libanygin_sim.so, which is
// preloaded. Outside of a simulation, and on the driver's thread, the real calls are made.
//
// A lock is tried; while it is taken, its waiter sleeps on the lock's address until an unlock wakes that address.
// Conditions have no state at all: a waiter sleeps on the condition's address.
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <ctime>
#include <map>

#include "anygin/sim/program_time.h"
#include "anygin/sim/real_calls.h"
#include "anygin/sim/simulation.h"

namespace {

using anygin::kNever;
using anygin::Time;
using anygin::sim::next_definition;
using anygin::sim::ProgramThreads;
using anygin::sim::Simulation;

// Null: make the real call.
ProgramThreads* threads_here() {
  Simulation* simulation = Simulation::active();
  return simulation != nullptr && simulation->threads().on_program_thread() ? &simulation->threads() : nullptr;
}
ProgramThreads* threads_anywhere() {
  Simulation* simulation = Simulation::active();
  return simulation != nullptr ? &simulation->threads() : nullptr;
}

template <typename Object, typename Try>
int lock(Object* object, const char* what, Try attempt, int busy) {
  while (true) {
    const int result = attempt(object);
    if (result != busy) return result;
    (void)threads_here()->sleep_on_channel(object, what);
  }
}

int lock_until(pthread_mutex_t* mutex, Time deadline) {
  while (true) {
    const int result = pthread_mutex_trylock(mutex);
    if (result != EBUSY) return result;
    if (!threads_here()->sleep_on_channel(mutex, "a mutex", deadline)) return ETIMEDOUT;
  }
}

int wait_for_condition(pthread_cond_t* condition, pthread_mutex_t* mutex, Time deadline) {
  ProgramThreads* threads = threads_here();
  pthread_mutex_unlock(mutex);
  const bool woken = threads->sleep_on_channel(condition, "a condition", deadline);
  pthread_mutex_lock(mutex);
  return woken ? 0 : ETIMEDOUT;
}

struct Barrier {
  unsigned count = 0, arrived = 0;
  uint64_t generation = 0;
};
std::map<pthread_barrier_t*, Barrier>& barriers() {
  static auto& all = *new std::map<pthread_barrier_t*, Barrier>;
  return all;
}

long futex(ProgramThreads& threads, uint32_t* word, int operation, uint32_t value, const timespec* timeout) {
  const int command = operation & ~(FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME);
  if (command == FUTEX_WAKE || command == FUTEX_WAKE_BITSET) {
    threads.wake(word, value);
    return 0;
  }
  if (__atomic_load_n(word, __ATOMIC_ACQUIRE) != value) return -EAGAIN;
  Time deadline = kNever;
  if (timeout != nullptr) {
    deadline = command == FUTEX_WAIT ? Simulation::active()->clock().now() + anygin::sim::duration_of(*timeout)
                                     : anygin::sim::time_of(*timeout);
  }
  return threads.sleep_on_channel(word, "a futex", deadline) ? 0 : -ETIMEDOUT;
}

bool is_simulated_futex(int operation) {
  const int command = operation & ~(FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME);
  return command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET || command == FUTEX_WAKE || command == FUTEX_WAKE_BITSET;
}

#define ANYGIN_REAL(name) static auto* const real = reinterpret_cast<decltype(&name)>(next_definition(#name))
#define ANYGIN_REAL_VERSION(name, version) \
  static auto* const real = reinterpret_cast<decltype(&name)>(next_definition(#name, version))

}  // namespace

extern "C" {

// --- Threads ---------------------------------------------------------------------------------------------------------
int pthread_create(pthread_t* handle, const pthread_attr_t* attributes, void* (*start)(void*),
                   void* argument) noexcept {
  ProgramThreads* threads = threads_here();
  if (threads == nullptr) return anygin::sim::real_pthread_create(handle, attributes, start, argument);
  return threads->create(handle, attributes, start, argument);
}

int pthread_join(pthread_t handle, void** result) {
  ANYGIN_REAL(pthread_join);
  if (ProgramThreads* threads = threads_here()) (void)threads->wait_for_end(handle);
  return real(handle, result);
}

int sched_yield() noexcept {
  if (ProgramThreads* threads = threads_here()) {
    threads->yield();
    return 0;
  }
  (void)anygin::sim::real_system_call(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
  return 0;
}

// --- Mutexes ---------------------------------------------------------------------------------------------------------
int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  ANYGIN_REAL(pthread_mutex_lock);
  if (threads_here() == nullptr) return real(mutex);
  return lock(mutex, "a mutex", pthread_mutex_trylock, EBUSY);
}

int pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept {
  ANYGIN_REAL(pthread_mutex_unlock);
  const int result = real(mutex);
  if (ProgramThreads* threads = threads_anywhere()) threads->wake(mutex, 1);
  return result;
}

int pthread_mutex_timedlock(pthread_mutex_t* mutex, const timespec* until) noexcept {
  ANYGIN_REAL(pthread_mutex_timedlock);
  return threads_here() == nullptr ? real(mutex, until) : lock_until(mutex, anygin::sim::time_of(*until));
}

int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock, const timespec* until) noexcept {
  ANYGIN_REAL(pthread_mutex_clocklock);
  return threads_here() == nullptr ? real(mutex, clock, until) : lock_until(mutex, anygin::sim::time_of(*until));
}

int pthread_rwlock_rdlock(pthread_rwlock_t* rwlock) noexcept {
  ANYGIN_REAL(pthread_rwlock_rdlock);
  return threads_here() == nullptr ? real(rwlock) : lock(rwlock, "a read lock", pthread_rwlock_tryrdlock, EBUSY);
}

int pthread_rwlock_wrlock(pthread_rwlock_t* rwlock) noexcept {
  ANYGIN_REAL(pthread_rwlock_wrlock);
  return threads_here() == nullptr ? real(rwlock) : lock(rwlock, "a write lock", pthread_rwlock_trywrlock, EBUSY);
}

int pthread_rwlock_unlock(pthread_rwlock_t* rwlock) noexcept {
  ANYGIN_REAL(pthread_rwlock_unlock);
  const int result = real(rwlock);
  if (ProgramThreads* threads = threads_anywhere()) threads->wake(rwlock, ~0u);
  return result;
}

// --- Conditions ------------------------------------------------------------------------------------------------------
int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  ANYGIN_REAL_VERSION(pthread_cond_wait, "GLIBC_2.3.2");
  return threads_here() == nullptr ? real(condition, mutex) : wait_for_condition(condition, mutex, kNever);
}

int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex, const timespec* until) {
  ANYGIN_REAL_VERSION(pthread_cond_timedwait, "GLIBC_2.3.2");
  if (threads_here() == nullptr) return real(condition, mutex, until);
  return wait_for_condition(condition, mutex, anygin::sim::time_of(*until));
}

int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock, const timespec* until) {
  ANYGIN_REAL(pthread_cond_clockwait);
  if (threads_here() == nullptr) return real(condition, mutex, clock, until);
  return wait_for_condition(condition, mutex, anygin::sim::time_of(*until));
}

int pthread_cond_signal(pthread_cond_t* condition) noexcept {
  ANYGIN_REAL_VERSION(pthread_cond_signal, "GLIBC_2.3.2");
  if (ProgramThreads* threads = threads_anywhere()) threads->wake(condition, 1);
  return real(condition);
}

int pthread_cond_broadcast(pthread_cond_t* condition) noexcept {
  ANYGIN_REAL_VERSION(pthread_cond_broadcast, "GLIBC_2.3.2");
  if (ProgramThreads* threads = threads_anywhere()) threads->wake(condition, ~0u);
  return real(condition);
}

// --- Barriers, once, semaphores --------------------------------------------------------------------------------------
int pthread_barrier_init(pthread_barrier_t* barrier, const pthread_barrierattr_t* attributes, unsigned count) noexcept {
  ANYGIN_REAL(pthread_barrier_init);
  if (threads_here() != nullptr) barriers()[barrier] = {count};
  return real(barrier, attributes, count);
}

int pthread_barrier_wait(pthread_barrier_t* barrier) noexcept {
  ANYGIN_REAL(pthread_barrier_wait);
  ProgramThreads* threads = threads_here();
  const auto found = barriers().find(barrier);
  if (threads == nullptr || found == barriers().end()) return real(barrier);
  Barrier& state = found->second;
  if (++state.arrived == state.count) {
    state.arrived = 0;
    ++state.generation;
    threads->wake(barrier, ~0u);
    return PTHREAD_BARRIER_SERIAL_THREAD;
  }
  for (const uint64_t mine = state.generation; state.generation == mine;) {
    (void)threads->sleep_on_channel(barrier, "a barrier");
  }
  return 0;
}

int pthread_once(pthread_once_t* once, void (*routine)()) {
  ANYGIN_REAL(pthread_once);
  ProgramThreads* threads = threads_here();
  if (threads == nullptr) return real(once, routine);
  constexpr int kFresh = 0, kRunning = 1, kDone = 2;  // as the C library has them
  while (__atomic_load_n(once, __ATOMIC_ACQUIRE) == kRunning) (void)threads->sleep_on_channel(once, "pthread_once");
  if (*once == kDone) return 0;
  struct Guard {  // an exception leaves it as it was
    pthread_once_t* once;
    int outcome = kFresh;
    ~Guard() {
      __atomic_store_n(once, outcome, __ATOMIC_RELEASE);
      if (ProgramThreads* all = threads_anywhere()) all->wake(once, ~0u);
    }
  } guard{once};
  *once = kRunning;
  routine();
  guard.outcome = kDone;
  return 0;
}

int sem_wait(sem_t* semaphore) {
  ANYGIN_REAL(sem_wait);
  ProgramThreads* threads = threads_here();
  if (threads == nullptr) return real(semaphore);
  while (sem_trywait(semaphore) != 0) {
    if (errno != EAGAIN) return -1;
    (void)threads->sleep_on_channel(semaphore, "a semaphore");
  }
  return 0;
}

int sem_post(sem_t* semaphore) noexcept {
  ANYGIN_REAL(sem_post);
  const int result = real(semaphore);
  if (ProgramThreads* threads = threads_anywhere()) threads->wake(semaphore, 1);
  return result;
}

// --- Futexes of the C++ library (futures, atomic waits, guards of static objects)
// --------------------------------------
long syscall(long number, ...) noexcept {
  va_list list;
  va_start(list, number);
  const long a = va_arg(list, long), b = va_arg(list, long), c = va_arg(list, long);
  const long d = va_arg(list, long), e = va_arg(list, long), f = va_arg(list, long);
  va_end(list);
  ProgramThreads* threads = number == SYS_futex && is_simulated_futex(static_cast<int>(b)) ? threads_here() : nullptr;
  const long result = threads != nullptr ? futex(*threads, reinterpret_cast<uint32_t*>(a), static_cast<int>(b),
                                                 static_cast<uint32_t>(c), reinterpret_cast<const timespec*>(d))
                                         : anygin::sim::real_system_call(number, a, b, c, d, e, f);
  if (result >= 0 || result < -4095) return result;
  errno = static_cast<int>(-result);
  return -1;
}

}  // extern "C"
