// SPDX-License-Identifier: Apache-2.0
// Device builtins of a block and of one lane: barriers, fences, clocks, sleep, trap, assert, address spaces.
#pragma once

// Declares __assert_fail also in programs that are compiled with NDEBUG.
#pragma push_macro("NDEBUG")
#undef NDEBUG
#include <assert.h>
#pragma pop_macro("NDEBUG")
#include <assert.h>
#include <stdio.h>

#include "anygin/simt/device_runtime.h"
#include "anygin/simt/lane_failure.h"
#include "device_launch_parameters.h"

// --- Barriers --------------------------------------------------------------------------------------------------------
inline void __syncthreads() {
  anygin::simt::anygin_syncthreads();
}
// The number of the block's threads whose predicate is not zero.
inline int __syncthreads_count(int predicate) {
  return anygin::simt::anygin_syncthreads_reduce(anygin::simt::BlockReduce::kCount, predicate);
}
inline int __syncthreads_and(int predicate) {
  return anygin::simt::anygin_syncthreads_reduce(anygin::simt::BlockReduce::kAnd, predicate);
}
inline int __syncthreads_or(int predicate) {
  return anygin::simt::anygin_syncthreads_reduce(anygin::simt::BlockReduce::kOr, predicate);
}

// --- Fences. Lanes of one block share an OS thread, but the compiler may still move memory accesses
// --------------------
inline void __threadfence_block() {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
inline void __threadfence() {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
inline void __threadfence_system() {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

// --- Time. Nanoseconds of world().clock; reading one is a yield point, since kernels poll it -------------------------
__attribute__((always_inline)) inline long long clock64() {
  anygin::simt::tick();
  return static_cast<long long>(anygin::simt::anygin_clock_ns());
}
__attribute__((always_inline)) inline void __nanosleep(unsigned nanoseconds) {
  anygin::simt::anygin_nanosleep(nanoseconds);
}

// --- Ends ------------------------------------------------------------------------------------------------------------
[[noreturn]] inline void __trap() {
  anygin::simt::anygin_trap("__trap()");
}
inline void __brkpt() {
  __builtin_trap();
}

// On a lane a failed assert() fails its grid, as on a GPU; elsewhere it is libc's. assert.h calls this by name.
[[noreturn]] inline void anygin_assert_failed(const char* expression, const char* file, unsigned line,
                                              const char* function) noexcept {
  if (!anygin::simt::anygin_lane_active()) __assert_fail(expression, file, line, function);
  fprintf(stderr, "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n", file, line, function,
          blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x, threadIdx.y, threadIdx.z, expression);
  anygin::simt::anygin_fail_grid(710, "assertion failed");  // cudaErrorAssert
}
#define __assert_fail anygin_assert_failed

// --- Address spaces: one flat space; shared addresses keep their low 32 bits where PTX wants a 32-bit operand
// ---------
inline size_t __cvta_generic_to_shared(const void* pointer) {
  return reinterpret_cast<size_t>(pointer);
}
inline size_t __cvta_generic_to_global(const void* pointer) {
  return reinterpret_cast<size_t>(pointer);
}
inline void* __cvta_shared_to_generic(size_t address) {
  return reinterpret_cast<void*>(address);
}
inline void* __cvta_global_to_generic(size_t address) {
  return reinterpret_cast<void*>(address);
}

// --- Programmatic dependent launch: grids of a stream follow each other completely, so both are satisfied at once
// -----
inline void cudaGridDependencySynchronize() {}
inline void cudaTriggerProgrammaticLaunchCompletion() {}
