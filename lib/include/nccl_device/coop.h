// SPDX-License-Identifier: Apache-2.0
// Cooperative groups of device threads. A coop is a trivially copyable value with thread_rank(), size(), num_threads()
// and sync(); passing one to a function makes the call collective over its threads. Programs may bring types of their
// own with these members. Contract 5. Blocks are one-dimensional.
#ifndef ANYGIN_NCCL_DEVICE_COOP_H_
#define ANYGIN_NCCL_DEVICE_COOP_H_

#include "utility.h"

#if defined(__cplusplus) && NCCL_CHECK_CUDACC
#include <cuda_runtime.h>
#include <string.h>

// The aligned group of N neighbouring lanes around the caller; N is a power of two.
template <int N>
struct ncclCoopTile {
  static_assert(N >= 1 && N <= 32 && (N & (N - 1)) == 0, "ncclCoopTile<N>: N is a power of two, 1 to 32");

  NCCL_DEVICE_INLINE int thread_rank() const { return nccl::utility::lane() % N; }
  NCCL_DEVICE_INLINE constexpr int size() const { return N; }
  NCCL_DEVICE_INLINE constexpr int num_threads() const { return N; }
  NCCL_DEVICE_INLINE uint32_t laneMask() const { return (~0u >> (32 - N)) << (nccl::utility::lane() & ~(N - 1)); }
  NCCL_DEVICE_INLINE void sync() {
    if (N > 1) __syncwarp(laneMask());
  }
};
using ncclCoopThread = ncclCoopTile<1>;
using ncclCoopWarp = ncclCoopTile<32>;

// The lanes of a mask, the caller's among them.
struct ncclCoopLanes {
  uint32_t lmask;

  ANYGIN_NCCL_HOST_DEVICE constexpr ncclCoopLanes(uint32_t mask = ~0u) : lmask(mask) {}
  NCCL_DEVICE_INLINE int thread_rank() const { return __popc(lmask & nccl::utility::lanemask_lt()); }
  NCCL_DEVICE_INLINE int size() const { return __popc(lmask); }
  NCCL_DEVICE_INLINE int num_threads() const { return __popc(lmask); }
  NCCL_DEVICE_INLINE void sync() { __syncwarp(lmask); }
};

namespace anygin {
namespace coop {
inline constexpr int kLastSpan = 14;
// Not constexpr: an id beyond the last one is no constant, and the span's barrier refuses it when it runs.
ANYGIN_NCCL_HOST_DEVICE inline int id_beyond_the_last_span(int id) {
  return id;
}
}  // namespace coop
}  // namespace anygin

// Warps [warp0, warp0 + nWarps) of the block. `id` names the span: 0 to 14, and no two spans that are in use at a time
// share one (contract A.16).
struct ncclCoopWarpSpan {
  uint32_t warp0 : 8, nWarps : 8, id : 8;

  ANYGIN_NCCL_HOST_DEVICE constexpr ncclCoopWarpSpan(int firstWarp, int warps, int spanId)
      : warp0(static_cast<uint32_t>(firstWarp) & 0xffu),
        nWarps(static_cast<uint32_t>(warps) & 0xffu),
        id(static_cast<uint32_t>(spanId > anygin::coop::kLastSpan ? anygin::coop::id_beyond_the_last_span(spanId)
                                                                  : spanId) &
           0xffu) {}
  NCCL_DEVICE_INLINE int thread_rank() const { return static_cast<int>(threadIdx.x) - 32 * static_cast<int>(warp0); }
  NCCL_DEVICE_INLINE int size() const { return 32 * static_cast<int>(nWarps); }
  NCCL_DEVICE_INLINE int num_threads() const { return size(); }
  NCCL_DEVICE_INLINE void sync() {
#if defined(ANYGIN_TARGET_CPU)
    ::anygin::simt::anygin_named_barrier(1 + static_cast<int>(id), size());
#else
    asm volatile("barrier.sync %0, %1;" ::"r"(1 + static_cast<int>(id)), "r"(size()) : "memory");
#endif
  }
};

// The whole block.
struct ncclCoopCta {
  NCCL_DEVICE_INLINE int thread_rank() const { return static_cast<int>(threadIdx.x); }
  NCCL_DEVICE_INLINE int size() const { return static_cast<int>(blockDim.x); }
  NCCL_DEVICE_INLINE int num_threads() const { return static_cast<int>(blockDim.x); }
  NCCL_DEVICE_INLINE void sync() { __syncthreads(); }
};

// Any coop of at most 16 bytes, chosen at run time.
struct ncclCoopAny {
  struct Storage {
    alignas(alignof(void*)) char space[16];
  };
  struct VTable {
    int (*thread_rank)(void const*);
    int (*size)(void const*);
    void (*sync)(void*);
  };
  Storage storage;
  VTable const* vtable;

  ncclCoopAny() = default;
  ncclCoopAny(ncclCoopAny const&) = default;
  ncclCoopAny(ncclCoopAny&&) = default;
  ncclCoopAny& operator=(ncclCoopAny const&) = default;
  template <typename Impl>
  ANYGIN_NCCL_DEVICE ncclCoopAny(Impl impl) : vtable(table<Impl>()) {
    static_assert(sizeof(Impl) <= sizeof(Storage), "ncclCoopAny: a coop of at most 16 bytes");
    static_assert(alignof(Impl) <= alignof(Storage), "ncclCoopAny: a coop of at most pointer alignment");
    ::new (static_cast<void*>(storage.space)) Impl(impl);
  }

  NCCL_DEVICE_INLINE int thread_rank() const { return vtable->thread_rank(storage.space); }
  NCCL_DEVICE_INLINE int size() const { return vtable->size(storage.space); }
  NCCL_DEVICE_INLINE int num_threads() const { return size(); }
  NCCL_DEVICE_INLINE void sync() { vtable->sync(storage.space); }

 private:
  template <typename Impl>
  static ANYGIN_NCCL_DEVICE int thread_rank_of(void const* impl) {
    return static_cast<Impl const*>(impl)->thread_rank();
  }
  template <typename Impl>
  static ANYGIN_NCCL_DEVICE int size_of(void const* impl) {
    return static_cast<Impl const*>(impl)->size();
  }
  template <typename Impl>
  static ANYGIN_NCCL_DEVICE void sync_of(void* impl) {
    static_cast<Impl*>(impl)->sync();
  }
  template <typename Impl>
  static ANYGIN_NCCL_DEVICE VTable const* table() {
    static const VTable kTable = {&thread_rank_of<Impl>, &size_of<Impl>, &sync_of<Impl>};
    return &kTable;
  }
};

// --- Helpers ---------------------------------------------------------------------------------------------------------
// Lanes of the caller's warp that the coop covers.
template <int N>
NCCL_DEVICE_INLINE uint32_t ncclCoopGetLaneMask(ncclCoopTile<N> coop) {
  return coop.laneMask();
}
NCCL_DEVICE_INLINE uint32_t ncclCoopGetLaneMask(ncclCoopLanes coop) {
  return coop.lmask;
}
NCCL_DEVICE_INLINE uint32_t ncclCoopGetLaneMask(ncclCoopWarpSpan) {
  return ~0u;
}
NCCL_DEVICE_INLINE uint32_t ncclCoopGetLaneMask(ncclCoopCta) {
  return ~0u;
}

// Known when compiling: a single thread.
template <int N>
NCCL_DEVICE_INLINE constexpr bool ncclCoopIsThread(ncclCoopTile<N>) {
  return N == 1;
}
NCCL_DEVICE_INLINE constexpr bool ncclCoopIsThread(ncclCoopLanes) {
  return false;
}
NCCL_DEVICE_INLINE constexpr bool ncclCoopIsThread(ncclCoopWarpSpan) {
  return false;
}
NCCL_DEVICE_INLINE constexpr bool ncclCoopIsThread(ncclCoopCta) {
  return false;
}

// Known when compiling: within one warp.
template <int N>
NCCL_DEVICE_INLINE constexpr bool ncclCoopWithinWarp(ncclCoopTile<N>) {
  return true;
}
NCCL_DEVICE_INLINE constexpr bool ncclCoopWithinWarp(ncclCoopLanes) {
  return true;
}
NCCL_DEVICE_INLINE constexpr bool ncclCoopWithinWarp(ncclCoopWarpSpan) {
  return false;
}
NCCL_DEVICE_INLINE constexpr bool ncclCoopWithinWarp(ncclCoopCta) {
  return false;
}

// The lanes that are here now; or the part of `coop` within the caller's warp, where the coop is collectively.
NCCL_DEVICE_INLINE ncclCoopLanes ncclCoopCoalesced() {
  return ncclCoopLanes(__activemask());
}
template <typename Coop>
NCCL_DEVICE_INLINE ncclCoopWarp ncclCoopCoalesced(Coop) {
  return ncclCoopWarp();
}
NCCL_DEVICE_INLINE ncclCoopLanes ncclCoopCoalesced(ncclCoopLanes coop) {
  return coop;
}
template <int N>
NCCL_DEVICE_INLINE ncclCoopTile<N> ncclCoopCoalesced(ncclCoopTile<N> coop) {
  return coop;
}

namespace anygin {
namespace coop {

// Reads `value` of `source_lane`; all lanes of `mask` call.
template <typename T>
NCCL_DEVICE_INLINE T shuffle(uint32_t mask, const T& value, int source_lane) {
  constexpr int kWords = (sizeof(T) + 3) / 4;
  unsigned words[kWords] = {};
  memcpy(words, &value, sizeof(T));
  for (int i = 0; i < kWords; ++i) words[i] = __shfl_sync(mask, words[i], source_lane);
  T result;
  memcpy(&result, words, sizeof(T));
  return result;
}

// Where a block passes 16 bytes on: one place a span and one for the block.
struct Scratch {
  alignas(16) char space[16];
};
struct SpanScratches {
  Scratch of_id[kLastSpan + 2];  // the last one for ids beyond, until their barrier refuses them
};

// `T` fits; everybody calls. The first sync keeps the last broadcast's readers apart from this store.
template <typename T, typename Coop>
NCCL_DEVICE_INLINE T through_scratch(Coop coop, const T& value, int root, bool entry_sync, void* scratch) {
  static_assert(sizeof(T) <= sizeof(Scratch), "ncclCoopBcast: at most 16 bytes beyond one warp");
  if (entry_sync) coop.sync();
  if (coop.thread_rank() == root) memcpy(scratch, &value, sizeof(T));
  coop.sync();
  T result;
  memcpy(&result, scratch, sizeof(T));
  return result;
}

}  // namespace coop
}  // namespace anygin

NCCL_DEVICE_INLINE void* ncclCoopBcast_WarpSpan_stash() {
#if defined(ANYGIN_TARGET_CPU)
  return &::anygin::simt::shared_object<anygin::coop::SpanScratches>();
#else
  __shared__ anygin::coop::SpanScratches stash;
  return &stash;
#endif
}
NCCL_DEVICE_INLINE void* ncclCoopBcast_Cta_stash() {
#if defined(ANYGIN_TARGET_CPU)
  return &::anygin::simt::shared_object<anygin::coop::Scratch>();
#else
  __shared__ anygin::coop::Scratch stash;
  return &stash;
#endif
}

// The value that the thread with rank `root` brought. Spans and blocks carry at most 16 bytes; they sync in front
// unless `entrySync` is false and the caller has just synced.
template <int N, typename T>
NCCL_DEVICE_INLINE T ncclCoopBcast(ncclCoopTile<N> coop, T value, int root, bool entrySync = true) {
  (void)entrySync;
  if (N == 1) return value;
  return anygin::coop::shuffle(coop.laneMask(), value, (nccl::utility::lane() & ~(N - 1)) + root);
}
template <typename T>
NCCL_DEVICE_INLINE T ncclCoopBcast(ncclCoopLanes coop, T value, int root, bool entrySync = true) {
  (void)entrySync;
  uint32_t rest = coop.lmask;
  for (int i = 0; i < root; ++i) rest &= rest - 1;
  return anygin::coop::shuffle(coop.lmask, value, __ffs(static_cast<int>(rest)) - 1);
}
template <typename T>
NCCL_DEVICE_INLINE T ncclCoopBcast(ncclCoopWarpSpan coop, T value, int root, bool entrySync = true) {
  void* scratch = &static_cast<anygin::coop::SpanScratches*>(ncclCoopBcast_WarpSpan_stash())
                       ->of_id[coop.id > anygin::coop::kLastSpan ? anygin::coop::kLastSpan + 1 : coop.id];
  return anygin::coop::through_scratch(coop, value, root, entrySync, scratch);
}
template <typename T>
NCCL_DEVICE_INLINE T ncclCoopBcast(ncclCoopCta coop, T value, int root, bool entrySync = true) {
  return anygin::coop::through_scratch(coop, value, root, entrySync, ncclCoopBcast_Cta_stash());
}
#endif  // __cplusplus && NCCL_CHECK_CUDACC

#endif  // ANYGIN_NCCL_DEVICE_COOP_H_
