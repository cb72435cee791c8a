// SPDX-License-Identifier: Apache-2.0
// Loads and stores with a cache hint. Caches are coherent here, so the hint is nothing; __ldcv and __ldcg, which
// programs poll with, read memory anew each time and are yield points.
#pragma once

#include "anygin/simt/device_runtime.h"
#include "anygin_cuda/cuda_mode.h"

namespace anygin::simt {

// A read that the compiler does not merge with another one; not torn up to eight bytes.
template <typename T>
T load_again(const T* address) {
  tick();
  if constexpr (sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8) {
    T value;
    __atomic_load(address, &value, __ATOMIC_RELAXED);
    return value;
  } else {
    __asm__ __volatile__("" : : "r"(address) : "memory");
    return *address;
  }
}

}  // namespace anygin::simt

template <typename T>
T __ldg(const T* address) {
  return *address;
}
template <typename T>
T __ldca(const T* address) {
  return *address;
}
template <typename T>
T __ldcs(const T* address) {
  return *address;
}
template <typename T>
T __ldlu(const T* address) {
  return *address;
}
template <typename T>
T __ldcg(const T* address) {
  return anygin::simt::load_again(address);
}
template <typename T>
T __ldcv(const T* address) {
  return anygin::simt::load_again(address);
}
template <typename T>
void __stwb(T* address, T value) {
  *address = value;
}
template <typename T>
void __stcg(T* address, T value) {
  *address = value;
}
template <typename T>
void __stcs(T* address, T value) {
  *address = value;
}
// Written at once.
template <typename T>
void __stwt(T* address, T value) {
  *address = value;
  __asm__ __volatile__("" : : "r"(address) : "memory");
}
