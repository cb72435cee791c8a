// SPDX-License-Identifier: Apache-2.0
// Small pieces of device memory, cut from slabs: once a slab is there, giving out and taking back makes no CUDA call.
#pragma once

#include <cuda_runtime_api.h>

#include <map>
#include <mutex>

#include "anygin/base/status.h"

namespace anygin::gpu {

// Thread-safe. Never gives slabs back: the process ends with them.
class NearMemory {
 public:
  // Zero-filled, aligned to 256 bytes, on the calling thread's device.
  Result<char*> allocate(size_t bytes);
  void free(char* piece);
  // Returns when it is there. Kernels that run are not waited for.
  Status write(char* to, const void* from, size_t bytes);

 private:
  struct Pool {
    cudaStream_t stream = nullptr;
    std::map<char*, size_t> free_pieces;  // by address; neighbours in one slab are joined
    std::map<char*, size_t> used;
  };

  Status add_slab(Pool& pool, size_t bytes);

  std::mutex mutex_;
  std::map<int, Pool> pools_;  // by device
};

}  // namespace anygin::gpu
