// SPDX-License-Identifier: Apache-2.0
// Every fence has a name, a reason and a partner. Bare fences and atomics on shared words are banned elsewhere in
// device halves. Compiles for host, cpu target and CUDA; everything is at system scope.
#pragma once

#include "anygin/base/platform.h"
#include "anygin/base/wait.h"

#if defined(ANYGIN_TARGET_CUDA)
#include <cuda/atomic>
#endif

namespace anygin {

#if !defined(ANYGIN_TARGET_CUDA)
// Kicks `engine`, an Engine*, through the World's executor. Any thread; cheap.
extern "C" void anygin_ring_engine(void* engine);
#endif

#if defined(ANYGIN_TARGET_CUDA)
template <typename T>
ANYGIN_DEVICE inline T load_relaxed(const T* word) {
  return cuda::atomic_ref<T, cuda::thread_scope_system>(*const_cast<T*>(word)).load(cuda::memory_order_relaxed);
}
template <typename T>
ANYGIN_DEVICE inline void store_relaxed(T* word, T value) {
  cuda::atomic_ref<T, cuda::thread_scope_system>(*word).store(value, cuda::memory_order_relaxed);
}
template <typename T>
ANYGIN_DEVICE inline T claim(T* word, T count) {
  return cuda::atomic_ref<T, cuda::thread_scope_system>(*word).fetch_add(count, cuda::memory_order_relaxed);
}
template <typename T>
ANYGIN_DEVICE inline void raise_bits(T* word, T bits) {
  cuda::atomic_ref<T, cuda::thread_scope_system>(*word).fetch_or(bits, cuda::memory_order_release);
}
// Engines of CUDA kernels poll: the store is the doorbell.
template <typename T>
ANYGIN_DEVICE inline void ring_doorbell(T* word, T bits, void*) {
  raise_bits(word, bits);
}
ANYGIN_DEVICE inline void release_writes() {
  cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_system);
}
ANYGIN_DEVICE inline void observe_then_read() {
  cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_system);
}
template <typename T>
ANYGIN_DEVICE inline void publish(T* word, T value) {
  cuda::atomic_ref<T, cuda::thread_scope_system>(*word).store(value, cuda::memory_order_release);
}
template <typename T>
ANYGIN_DEVICE inline T observe(const T* word) {
  return cuda::atomic_ref<T, cuda::thread_scope_system>(*const_cast<T*>(word)).load(cuda::memory_order_acquire);
}
#else
#if defined(ANYGIN_SANITIZE_THREAD)
// ThreadSanitizer does not know fences. There every load acquires and every store releases, so that what a fence would
// have ordered is ordered; it finds less than it could, and reports nothing that is not there.
inline constexpr int kLoadOrder = __ATOMIC_ACQUIRE;
inline constexpr int kStoreOrder = __ATOMIC_RELEASE;
inline void named_fence(int) {}
#else
inline constexpr int kLoadOrder = __ATOMIC_RELAXED;
inline constexpr int kStoreOrder = __ATOMIC_RELAXED;
inline void named_fence(int order) {
  __atomic_thread_fence(order);
}
#endif

// A word that somebody else may change at any time; no order. Partner: store_relaxed, publish.
template <typename T>
inline T load_relaxed(const T* word) {
  return __atomic_load_n(word, kLoadOrder);
}
template <typename T>
inline void store_relaxed(T* word, T value) {
  __atomic_store_n(word, value, kStoreOrder);
}
// Takes the next `count` places of a free-running index; the winner owns them alone. No order: publish() gives it.
template <typename T>
inline T claim(T* word, T count) {
  return __atomic_fetch_add(word, count, __ATOMIC_RELAXED);
}
// Sets bits that an engine clears when it looks. Partner: take_bits.
template <typename T>
inline void raise_bits(T* word, T bits) {
  __atomic_fetch_or(word, bits, __ATOMIC_RELEASE);
}
// Raises bits of an engine's doorbell word, then sees to it that somebody steps the engine (docs/decisions/0012).
// `engine` is an Engine*. Partner: take_bits.
template <typename T>
inline void ring_doorbell(T* word, T bits, void* engine) {
  raise_bits(word, bits);
  anygin_ring_engine(engine);
}
// Reads and clears. Partner: raise_bits.
template <typename T>
inline T take_bits(T* word) {
  return __atomic_exchange_n(word, T{0}, __ATOMIC_ACQUIRE);
}
// Earlier writes of this thread come before what it stores next. Partner: observe_then_read on the other side.
inline void release_writes() {
  named_fence(__ATOMIC_RELEASE);
}
// What was read just now comes before what is read next. Partner: release_writes or publish on the other side.
inline void observe_then_read() {
  named_fence(__ATOMIC_ACQUIRE);
}
// Stores the word that makes earlier writes official: a descriptor's tag, a doorbell, a consumer index.
// Partner: observe.
template <typename T>
inline void publish(T* word, T value) {
  __atomic_store_n(word, value, __ATOMIC_RELEASE);
}
// Reads a published word; what the publisher wrote before is visible after. Partner: publish.
template <typename T>
inline T observe(const T* word) {
  return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}
#endif

// Waits until `predicate()` holds, then observes. The predicate is pure, captures by value or from the lane's stack,
// and is evaluated by the scheduler. Returns kDeadline only if `deadline` is given; a hopeless wait does not return.
#if !defined(ANYGIN_TARGET_CUDA)
template <typename Predicate>
inline WaitOutcome wait_until(const Predicate& predicate, const uint32_t* abort_word, const WaitReason& reason,
                              Time deadline = kNever) {
  if (!predicate()) {
    Waiter waiter;
    waiter.test = [](const void* object) { return static_cast<bool>((*static_cast<const Predicate*>(object))()); };
    waiter.object = &predicate;
    waiter.abort_word = abort_word;
    waiter.deadline = deadline;
    waiter.reason = reason;
    const WaitOutcome outcome = anygin_wait(&waiter);
    if (outcome != WaitOutcome::kSatisfied) return outcome;
  }
  observe_then_read();
  return WaitOutcome::kSatisfied;
}
#else
template <typename Predicate>
ANYGIN_DEVICE inline WaitOutcome wait_until(const Predicate& predicate, const uint32_t* abort_word, const WaitReason&,
                                            Time deadline = kNever) {
  for (uint32_t turns = 0; !predicate(); ++turns) {
    if ((turns & 63) == 63) {
      if (abort_word && load_relaxed(abort_word) != 0) asm volatile("exit;");
      if (deadline != kNever) {
        uint64_t now_ns;
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now_ns));
        if (now_ns * kNanosecond >= deadline) return WaitOutcome::kDeadline;
      }
    }
  }
  observe_then_read();
  return WaitOutcome::kSatisfied;
}
#endif

}  // namespace anygin
