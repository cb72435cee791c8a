// SPDX-License-Identifier: Apache-2.0
// ANYGIN_DEVICES devices on the GPUs there are: device v is GPU v modulo their number. Each has a legacy stream of its
// own, so that ranks that share a GPU do not wait for each other: in the real runtime the legacy stream is one, and
// waits for all streams of its GPU. Host threads; thread-safe.
#pragma once

#include <cuda_runtime_api.h>

#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace anygin::gpu {

struct VirtualDevice {
  int number = 0;
  int real = 0;
  // The rest is guarded by VirtualDevices' lock.
  cudaStream_t legacy = nullptr;  // made at first use
  cudaEvent_t legacy_reached = nullptr;
  uint64_t legacy_operations = 0;
};

class VirtualDevices {
 public:
  // Null: ANYGIN_DEVICES is not set, the real devices are shown as they are.
  static VirtualDevices* get();

  int count() const { return static_cast<int>(devices_.size()); }
  VirtualDevice& device(int number) { return *devices_[static_cast<size_t>(number)]; }
  // The calling thread's.
  VirtualDevice& current();
  cudaError_t set_current(int number);

  // Streams that the program makes and ends.
  void add_stream(cudaStream_t stream, bool blocking);
  void remove_stream(cudaStream_t stream);
  // The real stream behind a handle: the legacy one of the current device for 0 and cudaStreamLegacy.
  cudaStream_t resolve(cudaStream_t stream);
  // Around an operation on a stream: the order that the legacy stream and blocking streams of one device keep.
  void before(cudaStream_t stream);
  void after(cudaStream_t stream);
  // Waits for all that was queued on the device.
  cudaError_t synchronize(VirtualDevice& device);

  // Memory that malloc() took from the GPU's pool: taking and giving back waits for this device's streams only.
  cudaError_t malloc(void** pointer, size_t bytes);
  cudaError_t free(void* pointer);
  // The device on which malloc() gave the memory around `pointer`; -1 if it did not.
  int owner_of(const void* pointer);

 private:
  struct Stream {
    int device = 0;
    bool blocking = true;
    uint64_t legacy_seen = 0;  // operations of the legacy stream that it waits for already
  };

  VirtualDevices(int count, int real_count);
  bool is_legacy(cudaStream_t stream) const { return stream == nullptr || stream == cudaStreamLegacy; }
  cudaStream_t legacy_of(VirtualDevice& device);  // lock held

  std::vector<std::unique_ptr<VirtualDevice>> devices_;
  std::mutex mutex_;
  std::map<cudaStream_t, Stream> streams_;
  struct Owned {
    size_t bytes = 0;
    int device = 0;
  };
  std::map<const char*, Owned> owned_;
};

}  // namespace anygin::gpu
