// SPDX-License-Identifier: Apache-2.0
// Multicast addresses as sources and destinations of reductions and copies. Contract 9, rule 4.
#ifndef ANYGIN_NCCL_DEVICE_IMPL_REDUCE_COPY__MULTIMEM_H_
#define ANYGIN_NCCL_DEVICE_IMPL_REDUCE_COPY__MULTIMEM_H_

#include "anygin/backends/misuse.h"
#include "multimem__funcs.h"
#include "reduce_copy__engine.h"

#if NCCL_CHECK_CUDACC
#include <type_traits>

namespace anygin {
namespace reduce_copy {

#if defined(NCCL_DEVICE_PERMIT_EXPERIMENTAL_CODE)
constexpr bool kNarrowMultimem = true;
#else
constexpr bool kNarrowMultimem = false;
#endif

// No communicator is at hand that could be told: the grid fails.
NCCL_DEVICE_INLINE void multimem_misuse(MisuseKind kind, uint64_t value, const void* call_site) {
#if defined(ANYGIN_TARGET_CPU)
  Misuse misuse;
  misuse.kind = kind;
  misuse.call = DeviceCall::kReduceCopy;
  misuse.value = value;
  misuse.call_site = call_site;
  report_misuse(misuse);
#else
  (void)kind, (void)value, (void)call_site;
  __trap();
#endif
}

template <typename T>
struct MultimemSummable {
  static constexpr bool kWide = std::is_arithmetic<T>::value && sizeof(T) >= 4;
  static constexpr bool value = kWide || !std::is_same<typename AccumulatorOf<T>::Type, T>::value;
};

template <typename T, typename IntCount>
NCCL_DEVICE_INLINE Places<multimem::Replicas<T>> multimem_place(T* address, IntCount count, const void* call_site) {
  if (count <= 0) return {{}, 0};
  const auto elements = static_cast<size_t>(count);
  const multimem::Replicas<T> replicas = multimem::replicas_of(address, elements);
  if (replicas.count == 0) multimem_misuse(MisuseKind::kNotMultimem, elements * sizeof(T), call_site);
  return {replicas, replicas.count};
}

// The ranks' parts behind each of several multicast addresses, one after the other.
template <typename T, typename Lambda>
struct MultimemList {
  Lambda of;
  int ranks;  // of each
  NCCL_DEVICE_INLINE T* operator()(int i) const { return multimem::replicas_of<T>(of(i / ranks), 1)(i % ranks); }
};
template <typename T, typename Lambda, typename IntCount>
NCCL_DEVICE_INLINE Places<MultimemList<T, Lambda>> multimem_list(Lambda of, int addresses, IntCount count,
                                                                 const void* call_site) {
  int ranks = 0;
  for (int i = 0; i < addresses; ++i) {
    const int others = multimem_place<T>(of(i), count, call_site).count;
    if (i > 0 && others != ranks) multimem_misuse(MisuseKind::kNotMultimem, 0, call_site);
    ranks = others;
  }
  return {{of, ranks}, addresses * ranks};
}

template <typename T, typename IntCount>
NCCL_DEVICE_INLINE Places<multimem::Replicas<T>> multimem_source(T* address, IntCount count, const void* call_site) {
  static_assert(MultimemSummable<T>::value, "multicast sources: not of this type");
  return multimem_place(address, count, call_site);
}
template <typename T, typename Lambda, typename IntCount>
NCCL_DEVICE_INLINE Places<MultimemList<T, Lambda>> multimem_source_list(Lambda of, int addresses, IntCount count,
                                                                        const void* call_site) {
  static_assert(MultimemSummable<T>::value, "multicast sources: not of this type");
  return multimem_list<T>(of, addresses, count, call_site);
}

template <typename T, typename Op, int UNROLL, typename Coop, typename Sources, typename Destinations,
          typename IntCount>
NCCL_DEVICE_INLINE void multimem_run(Coop coop, const Sources& sources, const Destinations& destinations,
                                     IntCount count, const void* call_site) {
  if (count <= 0 || sources.count <= 0 || destinations.count <= 0) return;
  if constexpr (sizeof(T) < 4 && !kNarrowMultimem) {
    const auto all = static_cast<size_t>(count);
    const size_t head = elements_before_packs<T>(sources, destinations, all);
    const size_t alone = head + (all - head) % (kPackBytes / sizeof(T));
    if (alone != 0) multimem_misuse(MisuseKind::kNarrowMultimem, alone, call_site);
  }
  run<T, Op, UNROLL>(coop, sources, destinations, count);
}

}  // namespace reduce_copy
}  // namespace anygin
#endif  // NCCL_CHECK_CUDACC

#endif  // ANYGIN_NCCL_DEVICE_IMPL_REDUCE_COPY__MULTIMEM_H_
