// SPDX-License-Identifier: Apache-2.0
// The operations that cuda::atomic and cuda::atomic_ref share, and cuda::std::memory_order.
#pragma once

#include <cstddef>
#include <type_traits>

#include "anygin_cuda/cuda_mode.h"
#include "anygin_cuda/number_bits.h"
#ifdef ANYGIN_CUDA_DEVICE_CODE
#include "anygin/base/order.h"
#include "anygin/simt/device_runtime.h"
#else
#include <sched.h>
#endif

namespace cuda::std {

enum memory_order : int {
  memory_order_relaxed = __ATOMIC_RELAXED,
  memory_order_consume = __ATOMIC_CONSUME,
  memory_order_acquire = __ATOMIC_ACQUIRE,
  memory_order_release = __ATOMIC_RELEASE,
  memory_order_acq_rel = __ATOMIC_ACQ_REL,
  memory_order_seq_cst = __ATOMIC_SEQ_CST
};

}  // namespace cuda::std

namespace anygin::simt {

// Whoever spins on a word comes by here.
inline void poll_point() {
#ifdef ANYGIN_CUDA_DEVICE_CODE
  tick();
#endif
}

// Until `changed()` holds. On a lane parked; on a host thread of a program without kernels, yielding.
template <typename Changed>
void wait_for_change(const Changed& changed) {
#ifdef ANYGIN_CUDA_DEVICE_CODE
  WaitReason reason;
  reason.kind = WaitKind::kSpin;
  (void)wait_until(changed, nullptr, reason);
#else
  while (!changed()) sched_yield();
#endif
}

// The order of the failing side of a compare-exchange, when only one is given.
constexpr ::cuda::std::memory_order load_order_of(::cuda::std::memory_order order) {
  if (order == ::cuda::std::memory_order_acq_rel) return ::cuda::std::memory_order_acquire;
  if (order == ::cuda::std::memory_order_release) return ::cuda::std::memory_order_relaxed;
  return order;
}

// `Self` gives address(). Everything is const, as a reference's operations are: the word changes, not the view.
template <typename T, typename Self>
class AtomicOperations {
  using Order = ::cuda::std::memory_order;
  static constexpr Order kDefault = ::cuda::std::memory_order_seq_cst;
  // Arithmetic on integers is one instruction; on the rest it is a loop on the bits.
  static constexpr bool kNative = ::std::is_integral_v<T> && !::std::is_same_v<T, bool>;
  using Word = ::std::conditional_t<
      sizeof(T) == 1, uint8_t,
      ::std::conditional_t<sizeof(T) == 2, uint16_t, ::std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>;

 public:
  using value_type = T;

  bool is_lock_free() const { return true; }
  T load(Order order = kDefault) const {
    static_assert(sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8,
                  "atomics have 1, 2, 4 or 8 bytes on the cpu target");
    static_assert(::std::is_trivially_copyable_v<T>, "an atomic holds a plain value");
    poll_point();
    return peek(order);
  }
  void store(T value, Order order = kDefault) const { __atomic_store_n(word(), bits(value), static_cast<int>(order)); }
  T exchange(T value, Order order = kDefault) const {
    poll_point();
    return value_of(__atomic_exchange_n(word(), bits(value), static_cast<int>(order)));
  }
  bool compare_exchange_strong(T& expected, T desired, Order success, Order failure) const {
    Word seen = bits(expected);
    const bool done = __atomic_compare_exchange_n(word(), &seen, bits(desired), false, static_cast<int>(success),
                                                  static_cast<int>(failure));
    if (!done) {
      expected = value_of(seen);
      poll_point();
    }
    return done;
  }
  bool compare_exchange_strong(T& expected, T desired, Order order = kDefault) const {
    return compare_exchange_strong(expected, desired, order, load_order_of(order));
  }
  bool compare_exchange_weak(T& expected, T desired, Order success, Order failure) const {
    return compare_exchange_strong(expected, desired, success, failure);
  }
  bool compare_exchange_weak(T& expected, T desired, Order order = kDefault) const {
    return compare_exchange_strong(expected, desired, order);
  }

  // For pointers `value` counts elements.
  template <typename Operand = ::std::conditional_t<::std::is_pointer_v<T>, ptrdiff_t, T>>
  T fetch_add(Same<Operand> value, Order order = kDefault) const {
    poll_point();
    if constexpr (kNative) return __atomic_fetch_add(self().address(), value, static_cast<int>(order));
    return update([value](T old) { return static_cast<T>(old + value); }, order);
  }
  template <typename Operand = ::std::conditional_t<::std::is_pointer_v<T>, ptrdiff_t, T>>
  T fetch_sub(Same<Operand> value, Order order = kDefault) const {
    poll_point();
    if constexpr (kNative) return __atomic_fetch_sub(self().address(), value, static_cast<int>(order));
    return update([value](T old) { return static_cast<T>(old - value); }, order);
  }
  T fetch_and(T value, Order order = kDefault) const {
    poll_point();
    return __atomic_fetch_and(self().address(), value, static_cast<int>(order));
  }
  T fetch_or(T value, Order order = kDefault) const {
    poll_point();
    return __atomic_fetch_or(self().address(), value, static_cast<int>(order));
  }
  T fetch_xor(T value, Order order = kDefault) const {
    poll_point();
    return __atomic_fetch_xor(self().address(), value, static_cast<int>(order));
  }
  T fetch_min(T value, Order order = kDefault) const {
    poll_point();
    return update([value](T old) { return value < old ? value : old; }, order);
  }
  T fetch_max(T value, Order order = kDefault) const {
    poll_point();
    return update([value](T old) { return old < value ? value : old; }, order);
  }

  // Blocks while the value is `old`; sees a change whether or not somebody notifies.
  void wait(T old, Order order = kDefault) const {
    const Self* view = &self();
    wait_for_change([view, old, order] { return bits(view->peek(order)) != bits(old); });
  }
  void notify_one() const {}
  void notify_all() const {}

  // A load that is no yield point: for predicates of waits.
  T anygin_peek() const { return peek(::cuda::std::memory_order_acquire); }

  operator T() const { return load(); }
  T operator++() const { return static_cast<T>(fetch_add(1) + 1); }
  T operator--() const { return static_cast<T>(fetch_sub(1) - 1); }
  T operator++(int) const { return fetch_add(1); }
  T operator--(int) const { return fetch_sub(1); }
  T operator+=(T value) const { return static_cast<T>(fetch_add(value) + value); }
  T operator-=(T value) const { return static_cast<T>(fetch_sub(value) - value); }
  T operator&=(T value) const { return static_cast<T>(fetch_and(value) & value); }
  T operator|=(T value) const { return static_cast<T>(fetch_or(value) | value); }
  T operator^=(T value) const { return static_cast<T>(fetch_xor(value) ^ value); }

 private:
  const Self& self() const { return static_cast<const Self&>(*this); }
  Word* word() const { return reinterpret_cast<Word*>(self().address()); }
  static Word bits(T value) { return bits_as<Word>(value); }
  static T value_of(Word word) { return bits_as<T>(word); }
  // A load without a yield: a wait's predicate is evaluated by the scheduler.
  T peek(Order order) const { return value_of(__atomic_load_n(word(), static_cast<int>(order))); }

  template <typename Change>
  T update(Change change, Order order) const {
    Word seen = __atomic_load_n(word(), __ATOMIC_RELAXED);
    for (;;) {
      const T old = value_of(seen);
      if (__atomic_compare_exchange_n(word(), &seen, bits(change(old)), false, static_cast<int>(order),
                                      __ATOMIC_RELAXED)) {
        return old;
      }
    }
  }
};

}  // namespace anygin::simt
