// SPDX-License-Identifier: Apache-2.0
// Devices of the cuda target, for lib/comm: what it calls of simt/device.h and simt/virtual_memory.h. Lanes do not park
// here; what they wait for stands on the wait boards of their communicators.
#include <cuda_runtime.h>

#include "anygin/simt/capture.h"
#include "anygin/simt/cuda_error.h"
#include "anygin/simt/device.h"
#include "anygin/simt/virtual_memory.h"

namespace anygin::simt {

int device_count() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

int current_device() {
  int device = 0;
  return cudaGetDevice(&device) == cudaSuccess ? device : 0;
}

int set_current_device(int device) {
  return static_cast<int>(cudaSetDevice(device));
}

std::vector<BlockedLane> blocked_lanes(size_t) {
  return {};
}
std::vector<std::string> unplaced_blocks() {
  return {};
}
uint64_t runnable_lanes() {
  return 0;
}
uint64_t parked_lanes() {
  return 0;
}
uint64_t lane_progress() {
  return 0;
}
bool LaneWatch::look() {
  return false;
}
// Nothing ends a kernel on a GPU but itself: waits see the abort word, loops of the program's own go on.
void end_kernels(int, std::vector<const void*>, const std::string&) {}
// The streams are the driver's.
bool kernels_hold(int, const std::vector<const void*>&) {
  return false;
}
uint64_t newest_kernel() {
  return 0;
}
bool kernels_left(int, uint64_t) {
  return false;
}

// No work of the host goes on a stream of a GPU: communicators have no host queue here (lib/comm/host_queue.h).
Stream* resolve_stream(void*) {
  return nullptr;
}
int stream_device(const Stream*) {
  return 0;
}
int enqueue_host_work(Stream*, std::function<int()>) {
  return kCudaNotSupported;
}
int enqueue_wait(Stream*, std::function<bool()>, std::string) {
  return kCudaNotSupported;
}
Event* create_event(bool) {
  return nullptr;
}
void destroy_event(Event*) {}
int record_event(Event*, Stream*) {
  return kCudaNotSupported;
}
int stream_wait_event(Stream*, Event*) {
  return kCudaNotSupported;
}
void poison_device(int, int, const std::string&, AbortCause) {}
// Kernels that leave do not lose a GPU.
void recover_device(int) {}
int capture_status(const Stream*, uint64_t*) {
  return 0;
}

// Windows lie in the heap that kernels reach; what the driver maps is the GPU's and none of ours.
VirtualMemory::VirtualMemory() : state_(nullptr) {}
std::vector<MemorySegment> VirtualMemory::segments(const void*, size_t) const {
  return {};
}
bool VirtualMemory::reserved(const void*) const {
  return false;
}
VirtualMemory& virtual_memory() {
  static VirtualMemory none;
  return none;
}

}  // namespace anygin::simt
