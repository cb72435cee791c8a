// SPDX-License-Identifier: Apache-2.0
// Every fence has a name, a reason and a partner. Bare fences and atomics on shared words are banned elsewhere in
// device halves. Compiles for host, cpu target and CUDA; everything is at system scope.
#pragma once

#include "anygin/base/platform.h"
#include "anygin/base/wait.h"
#include "anygin/base/wait_board.h"

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
// What a wait's predicate looks at; the wait observes once it holds.
template <typename T>
ANYGIN_DEVICE inline T poll(const T* word) {
  return load_relaxed(word);
}
template <typename T>
ANYGIN_DEVICE inline void store_relaxed(T* word, T value) {
  cuda::atomic_ref<T, cuda::thread_scope_system>(*word).store(value, cuda::memory_order_relaxed);
}
// Among the lanes of this device: an atomic operation in host memory is none for the host, which only reads the word.
template <typename T>
ANYGIN_DEVICE inline T claim(T* word, T count) {
  return cuda::atomic_ref<T, cuda::thread_scope_device>(*word).fetch_add(count, cuda::memory_order_relaxed);
}
ANYGIN_DEVICE inline void release_writes() {
  cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_system);
}
// The fence that only acquires drops what the multiprocessor holds of memory; the others also wait for this thread's
// stores, half a microsecond.
ANYGIN_DEVICE inline void observe_then_read() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.acquire.sys;" ::: "memory");
#else
  cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_system);
#endif
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
// What a wait's predicate looks at; the wait observes once it holds.
template <typename T>
inline T poll(const T* word) {
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

// Plain stores of words [First, Last), which become official with what is published later; `to` is aligned to a cache
// line. A GPU stores two words at once where it can: each store is a message of its own on the bus.
template <int First, int Last>
ANYGIN_DEVICE inline void store_words(uint64_t* to, const uint64_t* from) {
  int i = First;
#if defined(ANYGIN_TARGET_CUDA)
  if (i % 2 != 0 && i < Last) {
    to[i] = from[i];
    ++i;
  }
  for (; i + 1 < Last; i += 2) *reinterpret_cast<ulonglong2*>(&to[i]) = make_ulonglong2(from[i], from[i + 1]);
#endif
  for (; i < Last; ++i) to[i] = from[i];
}

// Waits until `predicate()` holds, then observes. The predicate is pure, captures by value or from the lane's stack,
// reads shared words with poll(), and is evaluated by the scheduler. Returns kDeadline only if `deadline` is given; a
// hopeless wait does not return.
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
// A block's lanes tell each other here that one has left for good; shared memory begins with any content, so that the
// mark names the abort word.
ANYGIN_DEVICE inline volatile uint64_t* farewell() {
  __shared__ uint64_t mark;
  return &mark;
}
ANYGIN_DEVICE inline uint64_t farewell_for(const uint32_t* abort_word) {
  return reinterpret_cast<uint64_t>(abort_word) ^ 0x6c6c657761726566;
}
// The calling lane leaves its kernel, and takes those with it that it meets at barriers: leave_with_others().
ANYGIN_DEVICE inline void leave_kernel(const uint32_t* abort_word) {
  *farewell() = farewell_for(abort_word);
  __threadfence_block();
  asm volatile("exit;");
  __builtin_unreachable();
}
// Behind a barrier of the block that a lane may have left instead: nobody goes on without it.
ANYGIN_DEVICE inline void leave_with_others(const uint32_t* abort_word) {
  if (*farewell() == farewell_for(abort_word) && load_relaxed(abort_word) != 0) asm volatile("exit;");
}

// Notes a long wait on the board that `abort_word` begins; null if it is full around the place where this lane looks.
ANYGIN_DEVICE_OUTLINED inline WaitEntry* note_wait(const uint32_t* abort_word, WaitReason reason) {
  auto* board = reinterpret_cast<WaitBoard*>(const_cast<uint32_t*>(abort_word));
  const uint32_t block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const uint32_t thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  for (uint32_t i = 0; i < 8; ++i) {
    WaitEntry& entry = board->entries[(block * 31 + thread + i) % WaitBoard::kEntries];
    if (atomicCAS(&entry.taken, 0u, 1u) != 0) continue;
    const uint32_t at[2][3] = {{blockIdx.x, blockIdx.y, blockIdx.z}, {threadIdx.x, threadIdx.y, threadIdx.z}};
    for (int axis = 0; axis < 3; ++axis) {
      entry.block[axis] = at[0][axis];
      entry.thread[axis] = at[1][axis];
    }
    entry.reason = reason;
    publish(&entry.complete, 1u);
    atomicAdd(&board->waits_noted, 1u);
    return &entry;
  }
  return nullptr;
}
ANYGIN_DEVICE_OUTLINED inline void forget_wait(WaitEntry* entry) {
  store_relaxed(&entry->complete, 0u);
  __threadfence_system();
  atomicExch(&entry->taken, 0u);
}

template <typename Predicate>
ANYGIN_DEVICE inline WaitOutcome wait_until(const Predicate& predicate, const uint32_t* abort_word,
                                            const WaitReason& reason, Time deadline = kNever) {
  constexpr uint32_t kTurnsUntilNoted = 1u << 14;  // some 20 ms of looks at host memory
  WaitEntry* entry = nullptr;
  for (uint32_t turns = 1; !predicate(); ++turns) {
    if (turns % 64 != 0) continue;
    if (abort_word && load_relaxed(abort_word) != 0) leave_kernel(abort_word);
    if (abort_word && turns == kTurnsUntilNoted) entry = note_wait(abort_word, reason);
    if (deadline == kNever) continue;
    uint64_t now_ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now_ns));
    if (now_ns * kNanosecond < deadline) continue;
    if (entry) forget_wait(entry);
    return WaitOutcome::kDeadline;
  }
  if (entry) forget_wait(entry);
  observe_then_read();
  return WaitOutcome::kSatisfied;
}
#endif

#if !defined(ANYGIN_TARGET_CUDA)
// A lane that leaves fails its grid: nobody goes on past it.
inline void leave_with_others(const uint32_t*) {}
#endif

}  // namespace anygin
