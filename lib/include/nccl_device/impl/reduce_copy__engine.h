// SPDX-License-Identifier: Apache-2.0
// The loop behind reduce_copy.h: every source folded into one value an element, stored at every destination. 16 bytes
// at a time where all pointers are misaligned alike, else an element at a time.
#ifndef ANYGIN_NCCL_DEVICE_IMPL_REDUCE_COPY__ENGINE_H_
#define ANYGIN_NCCL_DEVICE_IMPL_REDUCE_COPY__ENGINE_H_

#include "../coop.h"
#include "../ptr.h"
#include "anygin/base/mutant.h"

#if NCCL_CHECK_CUDACC
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

namespace anygin {
namespace reduce_copy {

// --- Operators -------------------------------------------------------------------------------------------------------
// An operator folds values of its Accumulator: wide() makes one of an element, narrow() rounds back.
template <typename T>
struct AccumulatorOf {
  using Type = T;
};
template <>
struct AccumulatorOf<__half> {
  using Type = float;
};
template <>
struct AccumulatorOf<__nv_bfloat16> {
  using Type = float;
};
template <>
struct AccumulatorOf<__nv_fp8_e4m3> {
  using Type = __half;
};
template <>
struct AccumulatorOf<__nv_fp8_e5m2> {
  using Type = __half;
};

template <typename T>
struct Sum {
  using Accumulator = typename AccumulatorOf<T>::Type;
  NCCL_DEVICE_INLINE static Accumulator fold(Accumulator a, Accumulator b) { return static_cast<Accumulator>(a + b); }
};
template <typename T, typename RedOp>
struct Custom {
  using Accumulator = T;
  NCCL_DEVICE_INLINE static T fold(T a, T b) { return RedOp()(a, b); }
};

template <typename RedOp, typename T>
struct IsRedOf {
  static constexpr bool value = false;
};
template <template <typename> class Red, typename T>
struct IsRedOf<Red<T>, T> {
  static constexpr bool value = true;
};

// --- Places ----------------------------------------------------------------------------------------------------------
template <typename T>
struct TeamPlaces {
  ncclSymPtr<T> place;
  ncclTeam team;
  NCCL_DEVICE_INLINE T* operator()(int i) const { return place.peerPtr(team, i); }
};
template <typename T>
struct StridedPlaces {
  T* base;
  size_t stride;  // elements
  NCCL_DEVICE_INLINE T* operator()(int i) const { return base + static_cast<size_t>(i) * stride; }
};
template <typename T>
struct OnePlace {
  T* place;
  NCCL_DEVICE_INLINE T* operator()(int) const { return place; }
};

template <typename Lambda>
struct Places {
  Lambda of;
  int count;
};
template <typename Lambda>
NCCL_DEVICE_INLINE Places<Lambda> places(Lambda of, int count) {
  return {of, count};
}
template <typename T>
NCCL_DEVICE_INLINE Places<TeamPlaces<T>> team_places(ncclSymPtr<T> place, ncclTeam team) {
  return {{place, team}, team.nRanks};
}
template <typename T>
NCCL_DEVICE_INLINE Places<OnePlace<T>> one_place(T* place) {
  return {{place}, 1};
}

// --- Packs -----------------------------------------------------------------------------------------------------------
constexpr size_t kPackBytes = 16;

template <typename T, int kWidth>
struct Pack {
  T at[kWidth];
};

// The compiler may move a wide pack at once. One element is moved as what it is: byte by byte is slow, and nvcc 13.0
// converts a __half's low byte to a number where it should cut it off.
NCCL_DEVICE_INLINE void* aligned(const void* place) {
  return __builtin_assume_aligned(const_cast<void*>(place), kPackBytes);
}
template <typename T, int kWidth>
NCCL_DEVICE_INLINE Pack<T, kWidth> load(const T* from) {
  Pack<T, kWidth> pack;
  if constexpr (kWidth == 1) {
    pack.at[0] = *from;
  } else {
    memcpy(&pack, aligned(from), sizeof(pack));
  }
  return pack;
}
template <typename T, int kWidth>
NCCL_DEVICE_INLINE void store(T* to, const Pack<T, kWidth>& pack) {
  if constexpr (kWidth == 1) {
    *to = pack.at[0];
  } else {
    memcpy(aligned(to), &pack, sizeof(pack));
  }
}

// Element `at` of every source, folded in order and rounded once. One source alone is copied bit for bit.
template <typename Op, int kWidth, typename T, typename Sources>
NCCL_DEVICE_INLINE Pack<T, kWidth> fold(const Sources& sources, size_t at) {
  using Accumulator = typename Op::Accumulator;
  Pack<T, kWidth> pack = load<T, kWidth>(sources.of(0) + at);
  if (sources.count == 1) return pack;
  Pack<Accumulator, kWidth> sum;
  for (int i = 0; i < kWidth; ++i) sum.at[i] = static_cast<Accumulator>(pack.at[i]);
  const int last = sources.count - (MUTANT(nccl_reduce_one_less) ? 1 : 0);
  for (int source = 1; source < last; ++source) {
    pack = load<T, kWidth>(sources.of(source) + at);
    for (int i = 0; i < kWidth; ++i) sum.at[i] = Op::fold(sum.at[i], static_cast<Accumulator>(pack.at[i]));
    for (int i = 0; i < kWidth && MUTANT(nccl_sum_rounds_each_time); ++i) {
      sum.at[i] = static_cast<Accumulator>(static_cast<T>(sum.at[i]));
    }
  }
  for (int i = 0; i < kWidth; ++i) pack.at[i] = static_cast<T>(sum.at[i]);
  return pack;
}

// --- The loop --------------------------------------------------------------------------------------------------------
template <typename Op, int kWidth, typename T, typename Coop, typename Sources, typename Destinations>
NCCL_DEVICE_INLINE void run_packs(Coop coop, const Sources& sources, const Destinations& destinations, size_t begin,
                                  size_t packs) {
  const auto step = static_cast<size_t>(coop.size());
  for (size_t i = static_cast<size_t>(coop.thread_rank()); i < packs; i += step) {
    const size_t at = begin + i * kWidth;
    const Pack<T, kWidth> pack = fold<Op, kWidth, T>(sources, at);
    for (int d = 0; d < destinations.count; ++d) store<T, kWidth>(destinations.of(d) + at, pack);
  }
}

// Elements in front of the first 16-byte boundary that all pointers reach together; `count` if they never do.
template <typename T, typename Sources, typename Destinations>
NCCL_DEVICE_INLINE size_t elements_before_packs(const Sources& sources, const Destinations& destinations,
                                                size_t count) {
  const auto first = reinterpret_cast<uintptr_t>(sources.of(0));
  uintptr_t differences = 0;
  for (int i = 1; i < sources.count; ++i) differences |= first ^ reinterpret_cast<uintptr_t>(sources.of(i));
  for (int i = 0; i < destinations.count; ++i) differences |= first ^ reinterpret_cast<uintptr_t>(destinations.of(i));
  if (differences % kPackBytes != 0) return count;
  const size_t before = (kPackBytes - first % kPackBytes) % kPackBytes / sizeof(T);
  return before < count ? before : count;
}

template <typename T, typename Op, int UNROLL, typename Coop, typename Sources, typename Destinations,
          typename IntCount>
NCCL_DEVICE_INLINE void run(Coop coop, const Sources& sources, const Destinations& destinations, IntCount count) {
  constexpr bool kPacks = sizeof(T) < kPackBytes && kPackBytes % sizeof(T) == 0;
  constexpr int kWidth = kPacks ? static_cast<int>(kPackBytes / sizeof(T)) : 1;
  static_assert(UNROLL >= 0, "UNROLL: elements a thread has in flight");
  if (count <= 0 || sources.count <= 0 || destinations.count <= 0) return;
  const auto all = static_cast<size_t>(count);
  const size_t head = kPacks ? elements_before_packs<T>(sources, destinations, all) : all;
  const size_t packs = (all - head) / kWidth;
  const size_t tail = head + packs * kWidth;
  run_packs<Op, 1, T>(coop, sources, destinations, 0, head);
  run_packs<Op, kWidth, T>(coop, sources, destinations, head, packs);
  run_packs<Op, 1, T>(coop, sources, destinations, tail, all - tail);
}

template <typename T, int UNROLL, typename Coop, typename Sources, typename Destinations, typename IntCount>
NCCL_DEVICE_INLINE void sum(Coop coop, const Sources& sources, const Destinations& destinations, IntCount count) {
  run<T, Sum<T>, UNROLL>(coop, sources, destinations, count);
}

}  // namespace reduce_copy
}  // namespace anygin
#endif  // NCCL_CHECK_CUDACC

#endif  // ANYGIN_NCCL_DEVICE_IMPL_REDUCE_COPY__ENGINE_H_
