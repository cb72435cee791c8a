// SPDX-License-Identifier: Apache-2.0
// Kernels run on a GPU: they reach host memory that is registered with CUDA, page by page, and keep it pinned.
#include <cuda_runtime.h>
#include <fmt/format.h>

#include <iterator>
#include <map>
#include <mutex>

#include "anygin/base/env_real.h"
#include "anygin/base/kernel_side.h"
#include "anygin/gpu/near_memory.h"
#include "anygin/gpu/placement.h"
#include "anygin/gpu/window_memory.h"

namespace anygin {
namespace {

constexpr const char* kWhere = "host memory for kernels";

Status cuda_error(const std::string& what, cudaError_t error) {
  const bool no_gpu = error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver;
  return Status(Cause::kCudaCall, kWhere,
                fmt::format("{}: {}{}", what, cudaGetErrorString(error),
                            no_gpu ? "; a program built for the cpu target runs without a GPU" : ""));
}

class CudaKernelSide final : public KernelSide {
 public:
  bool calls_us() const override { return false; }
  bool pins_memory() const override { return true; }

  Status reach(char* base, size_t bytes) override {
    const std::lock_guard lock(mutex_);
    const auto known = reached_.find(base);
    if (known != reached_.end() && known->second >= bytes) return Status();
    const cudaError_t error = cudaHostRegister(base, bytes, cudaHostRegisterMapped | cudaHostRegisterPortable);
    if (error != cudaSuccess) {
      (void)cudaGetLastError();
      return cuda_error(fmt::format("cudaHostRegister of {} bytes", bytes), error);
    }
    reached_[base] = bytes;
    void* seen_by_kernels = nullptr;
    const cudaError_t asked = cudaHostGetDevicePointer(&seen_by_kernels, base, 0);
    if (asked != cudaSuccess) return cuda_error("cudaHostGetDevicePointer", asked);
    if (seen_by_kernels != base) {
      return Status(Cause::kCudaCall, kWhere, "this GPU sees registered memory at addresses of its own");
    }
    return Status();
  }

  void release(char* base) override {
    const std::lock_guard lock(mutex_);
    if (reached_.erase(base) == 1) (void)cudaHostUnregister(base);
  }

  Result<char*> allocate_near(size_t bytes) override { return near_.allocate(bytes); }
  void free_near(char* piece) override { near_.free(piece); }
  Status write_near(char* to, const void* from, size_t bytes) override { return near_.write(to, from, bytes); }

  bool is_reached(const void* address) {
    const auto* byte = static_cast<const char*>(address);
    const std::lock_guard lock(mutex_);
    const auto after = reached_.upper_bound(byte);
    if (after == reached_.begin()) return false;
    const auto& [base, bytes] = *std::prev(after);
    return byte < base + bytes;
  }

 private:
  std::mutex mutex_;
  std::map<const char*, size_t> reached_;
  gpu::NearMemory near_;
};

CudaKernelSide& cuda_side() {
  static CudaKernelSide& side = *new CudaKernelSide;  // never destroyed: the world is not
  return side;
}

// Before the first call into CUDA. A kernel that is loaded at its first launch waits for those that run, which may wait
// for it. Streams that share a hardware queue wait for each other: as many as there can be, if the ranks are threads;
// processes have few streams each, and a daemon of MPS has 48 queues for all: the default of 8 each is too many for
// five.
__attribute__((constructor)) void prepare_cuda() {
  set_environment_default("CUDA_MODULE_LOADING", "EAGER");
  set_environment_default("CUDA_DEVICE_MAX_CONNECTIONS", gpu::ranks_may_be_threads() ? "32" : "2");
}

}  // namespace

KernelSide& kernel_side() {
  return cuda_side();
}

bool gpu::is_window_memory(const void* address) {
  return cuda_side().is_reached(address);
}

}  // namespace anygin
