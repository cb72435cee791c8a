// SPDX-License-Identifier: Apache-2.0
// Warp builtins. Each posts a WarpOp on the lane's stack; the last lane of the mask to arrive computes all results.
// A lane that reads from one outside the mask gets its own value (CUDA leaves it undefined).
#pragma once

#include <type_traits>

#include "anygin/simt/device_runtime.h"
#include "anygin_cuda/cuda_mode.h"

namespace anygin::simt {

inline int lane_of_warp() {
  return static_cast<int>(anygin_linear_thread & 31u);
}

// An address inside the caller, for reports; the functions here are inlined into user code.
__attribute__((always_inline)) inline const void* call_site() {
  const void* here = nullptr;
#if defined(__x86_64__)
  __asm__ __volatile__("lea 0(%%rip), %0" : "=r"(here));
#elif defined(__aarch64__)
  __asm__ __volatile__("adr %0, ." : "=r"(here));
#endif
  return here;
}

template <typename T>
T shuffle(unsigned mask, const T& value, int source_lane) {
  static_assert(std::is_trivially_copyable_v<T>, "a shuffle moves plain values");
  static_assert(sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8, "a shuffle moves 2, 4 or 8 bytes");
  T result = value;
  WarpOp op;
  op.kind = WarpOpKind::kShuffle;
  op.mask = mask;
  op.source_lane = source_lane;
  op.bytes = sizeof(T);
  op.value = &value;
  op.result = &result;
  op.call_site = call_site();
  anygin_warp_op(&op);
  return result;
}

// The first lane of this lane's group of `width` (a power of two up to 32).
inline int first_of_group(int width) {
  return lane_of_warp() & ~(width - 1);
}

// A warp operation whose result is a word.
inline uint32_t warp_word(WarpOpKind kind, unsigned mask, uint64_t operand, bool is_signed = false) {
  uint32_t result = 0;
  WarpOp op;
  op.kind = kind;
  op.mask = mask;
  op.bytes = sizeof(result);
  op.result = &result;
  op.predicate = operand;
  op.is_signed = is_signed;
  op.call_site = call_site();
  anygin_warp_op(&op);
  return result;
}

template <typename T>
uint64_t match_operand(T value) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "__match compares 4 or 8 bytes");
  if constexpr (sizeof(T) == 4) {
    uint32_t bits;
    __builtin_memcpy(&bits, &value, 4);
    return bits;
  } else {
    uint64_t bits;
    __builtin_memcpy(&bits, &value, 8);
    return bits;
  }
}

}  // namespace anygin::simt

inline void __syncwarp(unsigned mask = 0xffffffffu) {
  anygin::simt::WarpOp op;
  op.mask = mask;
  op.call_site = anygin::simt::call_site();
  anygin::simt::anygin_warp_op(&op);
}
inline unsigned __activemask() {
  return anygin::simt::anygin_activemask();
}

// --- Shuffles: the value of another lane of the same group of `width`
// --------------------------------------------------
template <typename T>
T __shfl_sync(unsigned mask, T value, int source_lane, int width = 32) {
  return anygin::simt::shuffle(mask, value, anygin::simt::first_of_group(width) + (source_lane & (width - 1)));
}
template <typename T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  const int lane = anygin::simt::lane_of_warp();
  const int source = lane - static_cast<int>(delta);
  return anygin::simt::shuffle(mask, value, source < anygin::simt::first_of_group(width) ? lane : source);
}
template <typename T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  const int lane = anygin::simt::lane_of_warp();
  const int end = anygin::simt::first_of_group(width) + width;
  const int source = lane + static_cast<int>(delta);
  return anygin::simt::shuffle(mask, value, source >= end ? lane : source);
}
// Groups before one's own can be read, groups after it cannot.
template <typename T>
T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32) {
  const int lane = anygin::simt::lane_of_warp();
  const int end = anygin::simt::first_of_group(width) + width;
  const int source = lane ^ lane_mask;
  return anygin::simt::shuffle(mask, value, source >= end ? lane : source);
}

// --- Votes -----------------------------------------------------------------------------------------------------------
inline unsigned __ballot_sync(unsigned mask, int predicate) {
  return anygin::simt::warp_word(anygin::simt::WarpOpKind::kBallot, mask, predicate != 0);
}
inline int __any_sync(unsigned mask, int predicate) {
  return __ballot_sync(mask, predicate) != 0;
}
inline int __all_sync(unsigned mask, int predicate) {
  return __ballot_sync(mask, !predicate) == 0;
}
// All lanes agree.
inline int __uni_sync(unsigned mask, int predicate) {
  const unsigned votes = __ballot_sync(mask, predicate);
  return votes == 0 || votes == __ballot_sync(mask, 1);
}

// --- Matches: the lanes of the mask with the same bits
// -----------------------------------------------------------------
template <typename T>
unsigned __match_any_sync(unsigned mask, T value) {
  return anygin::simt::warp_word(anygin::simt::WarpOpKind::kMatchAny, mask, anygin::simt::match_operand(value));
}
// The mask, if all lanes bring the same bits, else 0; `*all_equal` says which.
template <typename T>
unsigned __match_all_sync(unsigned mask, T value, int* all_equal) {
  const unsigned matched =
      anygin::simt::warp_word(anygin::simt::WarpOpKind::kMatchAll, mask, anygin::simt::match_operand(value));
  *all_equal = matched != 0;
  return matched;
}

// --- Reductions ------------------------------------------------------------------------------------------------------
inline unsigned __reduce_add_sync(unsigned mask, unsigned value) {
  return anygin::simt::warp_word(anygin::simt::WarpOpKind::kReduceAdd, mask, value);
}
inline int __reduce_add_sync(unsigned mask, int value) {
  return static_cast<int>(__reduce_add_sync(mask, static_cast<unsigned>(value)));
}
inline unsigned __reduce_min_sync(unsigned mask, unsigned value) {
  return anygin::simt::warp_word(anygin::simt::WarpOpKind::kReduceMin, mask, value);
}
inline unsigned __reduce_max_sync(unsigned mask, unsigned value) {
  return anygin::simt::warp_word(anygin::simt::WarpOpKind::kReduceMax, mask, value);
}
// Signed operands travel sign-extended.
inline int __reduce_min_sync(unsigned mask, int value) {
  const uint64_t operand = static_cast<uint64_t>(static_cast<int64_t>(value));
  return static_cast<int>(anygin::simt::warp_word(anygin::simt::WarpOpKind::kReduceMin, mask, operand, true));
}
inline int __reduce_max_sync(unsigned mask, int value) {
  const uint64_t operand = static_cast<uint64_t>(static_cast<int64_t>(value));
  return static_cast<int>(anygin::simt::warp_word(anygin::simt::WarpOpKind::kReduceMax, mask, operand, true));
}
inline unsigned __reduce_and_sync(unsigned mask, unsigned value) {
  return anygin::simt::warp_word(anygin::simt::WarpOpKind::kReduceAnd, mask, value);
}
inline unsigned __reduce_or_sync(unsigned mask, unsigned value) {
  return anygin::simt::warp_word(anygin::simt::WarpOpKind::kReduceOr, mask, value);
}
inline unsigned __reduce_xor_sync(unsigned mask, unsigned value) {
  return anygin::simt::warp_word(anygin::simt::WarpOpKind::kReduceXor, mask, value);
}
