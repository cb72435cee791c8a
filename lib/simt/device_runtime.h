// SPDX-License-Identifier: Apache-2.0
// What compiled kernels call: the seam between rewritten user code (and the CUDA face's headers) and the SIMT engine in
// libanygin.so. C++17. Everything here is called on a lane unless it says otherwise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

namespace anygin::simt {

struct Index3 {
  unsigned x, y, z;
};

// Plain thread-local words in libanygin.so, so that members called gridDim stay legal and gdb prints them. Set at every
// switch of lanes. The CUDA face shows them as threadIdx, blockIdx, blockDim, gridDim.
#define ANYGIN_LANE_TLS extern __thread __attribute__((tls_model("initial-exec")))
extern "C" {
ANYGIN_LANE_TLS Index3 anygin_thread_idx, anygin_block_idx, anygin_block_dim, anygin_grid_dim;
ANYGIN_LANE_TLS unsigned anygin_linear_thread;  // x fastest, within the block
ANYGIN_LANE_TLS int anygin_tick_budget;         // loops with raw spins count it down
}

// --- Block -----------------------------------------------------------------------------------------------------------
enum class BlockReduce : int { kNone, kCount, kAnd, kOr };
extern "C" {
void anygin_syncthreads();
int anygin_syncthreads_reduce(BlockReduce reduce, int predicate);
// bar.sync id, threads: the barrier with that id completes when `threads` (multiple of 32) have arrived. id 1..15.
void anygin_named_barrier(int id, int threads);
// Storage of one static __shared__ declaration, per block; `key` is unique per declaration and instantiation.
void* anygin_shared_static(const void* key, size_t bytes, size_t alignment);
void* anygin_shared_dynamic();
size_t anygin_shared_dynamic_bytes();
}

// --- Warp ------------------------------------------------------------------------------------------------------------
enum class WarpOpKind : int {
  kSync,
  kShuffle,
  kBallot,
  kMatchAny,
  kMatchAll,
  kReduceAdd,
  kReduceMin,
  kReduceMax,
  kReduceAnd,
  kReduceOr,
  kReduceXor
};

// Lives on the calling lane's stack; the last lane of `mask` to arrive computes all results. All lanes of a mask must
// bring the same kind: anything else is a reported misuse that names both call sites.
struct WarpOp {
  WarpOpKind kind = WarpOpKind::kSync;
  uint32_t mask = ~0u;
  int source_lane = 0;  // kShuffle: lane to read from (own lane if it does not take part)
  unsigned bytes = 0;   // of value and result
  const void* value = nullptr;
  void* result = nullptr;
  uint64_t predicate = 0;  // kBallot; kMatch*: the value widened; kReduce*: the operand
  bool is_signed = false;  // kReduceMin, kReduceMax
  const void* call_site = nullptr;
};
extern "C" {
void anygin_warp_op(WarpOp* op);
uint32_t anygin_activemask();
}

// --- Scheduling ------------------------------------------------------------------------------------------------------
extern "C" {
void anygin_yield();      // also declared in base/wait.h
void anygin_tick_slow();  // budget used up: yields and refills
void anygin_nanosleep(unsigned ns);
uint64_t anygin_clock_ns();                       // world().clock; loops on it tick, as clock64() does
int anygin_lane_active();                         // any thread: 1 on a lane
[[noreturn]] void anygin_trap(const char* what);  // the grid fails with `what`
[[noreturn]] void anygin_lane_exit();             // `exit;`: this lane is done, its grid is not failed
int anygin_printf(const char* format, ...) __attribute__((format(printf, 1, 2)));
}

// First statement of a loop body that might spin on memory: `if (::anygin::simt::tick()) {} else body`.
// Inlined without optimisation, too: reports tell where lanes spin.
__attribute__((always_inline)) inline bool tick() {
  if (--anygin_tick_budget < 0) anygin_tick_slow();
  return false;
}

template <typename T>
T& shared_object() {
  static const char key = 0;
  return *static_cast<T*>(anygin_shared_static(&key, sizeof(T), alignof(T)));
}

// --- Launch (host threads) -------------------------------------------------------------------------------------------
struct LaunchShape {
  Index3 grid{1, 1, 1};
  Index3 block{1, 1, 1};
  size_t dynamic_shared_bytes = 0;
  void* stream = nullptr;  // cudaStream_t
  bool cooperative = false;
};

// A kernel with its arguments bound. `run_lanes` runs fresh lanes back to back on the current stack: the kernel is
// inlined into that loop.
struct BoundKernel {
  void (*run_lanes)(void* arguments) = nullptr;
  void* arguments = nullptr;  // owned: destroyed with `destroy` when the grid is done
  void (*destroy)(void* arguments) = nullptr;
  const void* function = nullptr;  // address of the kernel, for names and attributes
  size_t bytes = 0;                // at `arguments`; 0 if not known
};

extern "C" {
// Queues the grid on the stream of the calling thread's current device. Returns a cudaError_t; errors are sticky as
// CUDA's.
int anygin_launch(const LaunchShape* shape, const BoundKernel* kernel);
// The next lane of the current block that has not started: true if there is one, and the lane words are set.
bool anygin_next_lane();
// The lane that ran last has returned from the kernel.
void anygin_lane_done();
}

template <typename F>
void run_lanes(void* arguments) {
  F& body = *static_cast<F*>(arguments);
  while (anygin_next_lane()) {
    body();
    anygin_lane_done();
  }
}

// Launches a callable of no arguments on every lane. `body` is copied once a grid.
template <typename F>
int launch_callable(const LaunchShape& shape, F body, const void* function = nullptr) {
  BoundKernel kernel{&run_lanes<F>, new F(std::move(body)), [](void* p) { delete static_cast<F*>(p); }, function,
                     sizeof(F)};
  return anygin_launch(&shape, &kernel);
}

// --- Kernels by address (cudaLaunchKernel): a record per __global__ instantiation, emitted by the rewriter
// ------------
struct KernelRecord {
  const void* function;
  const char* name;
  int parameter_count;
  const size_t* parameter_sizes;
  // Copies the parameters that `arguments[i]` point to and binds them.
  BoundKernel (*bind)(void** arguments);
  int max_threads_per_block;  // __launch_bounds__, 0 if none
};
extern "C" void anygin_register_kernel(const KernelRecord* record);  // static storage; any thread, also before main
extern "C" const KernelRecord* anygin_find_kernel(const void* function);

}  // namespace anygin::simt
