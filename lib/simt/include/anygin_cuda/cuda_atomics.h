// SPDX-License-Identifier: Apache-2.0
// atomicAdd and its family: relaxed, on CUDA's types, at every scope the same instruction. Each is a yield point,
// since kernels spin on them. The value is not deduced, so that atomicAdd(&unsigned_word, 1) converts as in CUDA.
#pragma once

#include <cstdint>
#include <type_traits>

#include "anygin/simt/device_runtime.h"
#include "anygin_cuda/cuda_mode.h"
#include "anygin_cuda/number_bits.h"

namespace anygin::simt {

template <typename T, typename... Types>
inline constexpr bool kIsOneOf = (std::is_same_v<T, Types> || ...);

template <typename T>
inline constexpr bool kIsAtomicInteger = kIsOneOf<T, int, unsigned, long long, unsigned long long>;

// The unsigned integer with the size of T.
template <typename T>
using WordOf = std::conditional_t<sizeof(T) == 2, uint16_t, std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>;

// old = *address; *address = update(old), atomically. For everything the processor has no instruction for.
template <typename T, typename Update>
T atomic_update(T* address, Update update) {
  using Word = WordOf<T>;
  tick();
  Word* word = reinterpret_cast<Word*>(address);
  Word seen = __atomic_load_n(word, __ATOMIC_RELAXED);
  for (;;) {
    const T old = bits_as<T>(seen);
    const Word wanted = bits_as<Word>(static_cast<T>(update(old)));
    if (__atomic_compare_exchange_n(word, &seen, wanted, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return old;
  }
}

}  // namespace anygin::simt

template <typename T>
T atomicAdd(T* address, anygin::simt::Same<T> value) {
  static_assert(!std::is_same_v<T, long long>, "CUDA has atomicAdd for unsigned long long, not for long long");
  if constexpr (std::is_integral_v<T>) {
    static_assert(anygin::simt::kIsAtomicInteger<T>, "CUDA has no atomicAdd for this type");
    anygin::simt::tick();
    return __atomic_fetch_add(address, value, __ATOMIC_RELAXED);
  } else {
    return anygin::simt::atomic_update(address, [value](T old) { return old + value; });
  }
}
template <typename T>
T atomicSub(T* address, anygin::simt::Same<T> value) {
  static_assert(anygin::simt::kIsOneOf<T, int, unsigned>, "CUDA has atomicSub for int and unsigned");
  anygin::simt::tick();
  return __atomic_fetch_sub(address, value, __ATOMIC_RELAXED);
}
template <typename T>
T atomicExch(T* address, anygin::simt::Same<T> value) {
  static_assert(anygin::simt::kIsOneOf<T, int, unsigned, unsigned long long, float>, "CUDA has no such atomicExch");
  using Word = anygin::simt::WordOf<T>;
  anygin::simt::tick();
  return anygin::simt::bits_as<T>(
      __atomic_exchange_n(reinterpret_cast<Word*>(address), anygin::simt::bits_as<Word>(value), __ATOMIC_RELAXED));
}
template <typename T>
T atomicCAS(T* address, anygin::simt::Same<T> compare, anygin::simt::Same<T> value) {
  static_assert(anygin::simt::kIsOneOf<T, int, unsigned, unsigned long long, unsigned short>,
                "CUDA has no such atomicCAS");
  anygin::simt::tick();
  __atomic_compare_exchange_n(address, &compare, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return compare;
}
template <typename T>
T atomicMin(T* address, anygin::simt::Same<T> value) {
  static_assert(anygin::simt::kIsAtomicInteger<T>, "CUDA has no such atomicMin");
  return anygin::simt::atomic_update(address, [value](T old) { return value < old ? value : old; });
}
template <typename T>
T atomicMax(T* address, anygin::simt::Same<T> value) {
  static_assert(anygin::simt::kIsAtomicInteger<T>, "CUDA has no such atomicMax");
  return anygin::simt::atomic_update(address, [value](T old) { return value > old ? value : old; });
}
template <typename T>
T atomicAnd(T* address, anygin::simt::Same<T> value) {
  static_assert(anygin::simt::kIsAtomicInteger<T>, "CUDA has no such atomicAnd");
  anygin::simt::tick();
  return __atomic_fetch_and(address, value, __ATOMIC_RELAXED);
}
template <typename T>
T atomicOr(T* address, anygin::simt::Same<T> value) {
  static_assert(anygin::simt::kIsAtomicInteger<T>, "CUDA has no such atomicOr");
  anygin::simt::tick();
  return __atomic_fetch_or(address, value, __ATOMIC_RELAXED);
}
template <typename T>
T atomicXor(T* address, anygin::simt::Same<T> value) {
  static_assert(anygin::simt::kIsAtomicInteger<T>, "CUDA has no such atomicXor");
  anygin::simt::tick();
  return __atomic_fetch_xor(address, value, __ATOMIC_RELAXED);
}
// Counts up to `limit`, then from 0 again.
inline unsigned atomicInc(unsigned* address, unsigned limit) {
  return anygin::simt::atomic_update(address, [limit](unsigned old) { return old >= limit ? 0u : old + 1; });
}
// Counts down to 0, then from `limit` again.
inline unsigned atomicDec(unsigned* address, unsigned limit) {
  return anygin::simt::atomic_update(address,
                                     [limit](unsigned old) { return old == 0 || old > limit ? limit : old - 1; });
}

// The forms that name a scope: here every scope is the system.
#define ANYGIN_CUDA_SCOPED_ATOMIC(name)                      \
  template <typename T>                                      \
  T name##_block(T* address, anygin::simt::Same<T> value) {  \
    return name(address, value);                             \
  }                                                          \
  template <typename T>                                      \
  T name##_system(T* address, anygin::simt::Same<T> value) { \
    return name(address, value);                             \
  }
ANYGIN_CUDA_SCOPED_ATOMIC(atomicAdd)
ANYGIN_CUDA_SCOPED_ATOMIC(atomicSub)
ANYGIN_CUDA_SCOPED_ATOMIC(atomicExch)
ANYGIN_CUDA_SCOPED_ATOMIC(atomicMin)
ANYGIN_CUDA_SCOPED_ATOMIC(atomicMax)
ANYGIN_CUDA_SCOPED_ATOMIC(atomicAnd)
ANYGIN_CUDA_SCOPED_ATOMIC(atomicOr)
ANYGIN_CUDA_SCOPED_ATOMIC(atomicXor)
ANYGIN_CUDA_SCOPED_ATOMIC(atomicInc)
ANYGIN_CUDA_SCOPED_ATOMIC(atomicDec)
#undef ANYGIN_CUDA_SCOPED_ATOMIC
template <typename T>
T atomicCAS_block(T* address, anygin::simt::Same<T> compare, anygin::simt::Same<T> value) {
  return atomicCAS(address, compare, value);
}
template <typename T>
T atomicCAS_system(T* address, anygin::simt::Same<T> compare, anygin::simt::Same<T> value) {
  return atomicCAS(address, compare, value);
}
