// SPDX-License-Identifier: Apache-2.0
// The CUDA runtime that stands behind this face.
#pragma once

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace anygin::gpu {

inline void* find_in_runtime(const char* name) {
  void* found = dlsym(RTLD_NEXT, name);
  if (found) return found;
  std::fprintf(stderr,
               "anygin: the CUDA runtime behind libanygin_cudart.so does not define %s; link with this prefix's "
               "bin/nvcc, without -cudart static\n",
               name);
  std::abort();
}

}  // namespace anygin::gpu

// ANYGIN_REAL(cudaMalloc)(&pointer, bytes): the runtime's own function of that name.
#define ANYGIN_REAL(name)                                                                                \
  ([]() -> decltype(&::name) {                                                                           \
    static const auto found_ = reinterpret_cast<decltype(&::name)>(anygin::gpu::find_in_runtime(#name)); \
    return found_;                                                                                       \
  }())
