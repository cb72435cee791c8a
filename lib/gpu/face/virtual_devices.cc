// SPDX-License-Identifier: Apache-2.0
#include "virtual_devices.h"

#include <iterator>

#include "anygin/base/host_threads.h"
#include "anygin/base/options.h"
#include "real_runtime.h"

namespace anygin::gpu {
namespace {

thread_local int current_number = 0;

// For events that only order.
cudaEvent_t make_event() {
  cudaEvent_t event = nullptr;
  (void)ANYGIN_REAL(cudaEventCreateWithFlags)(&event, cudaEventDisableTiming);
  return event;
}

// Memory that the pool of a GPU takes before kernels run, and never gives back: both would wait for them.
void fill_pool(int real) {
  constexpr size_t kBytes = size_t{256} << 20;
  cudaMemPool_t pool = nullptr;
  if (ANYGIN_REAL(cudaDeviceGetDefaultMemPool)(&pool, real) != cudaSuccess) return;
  uint64_t keep = ~uint64_t{0};
  (void)ANYGIN_REAL(cudaMemPoolSetAttribute)(pool, cudaMemPoolAttrReleaseThreshold, &keep);
  int before = 0;
  (void)ANYGIN_REAL(cudaGetDevice)(&before);
  (void)ANYGIN_REAL(cudaSetDevice)(real);
  void* memory = nullptr;
  if (ANYGIN_REAL(cudaMallocAsync)(&memory, kBytes, nullptr) == cudaSuccess) {
    (void)ANYGIN_REAL(cudaFreeAsync)(memory, nullptr);
    (void)ANYGIN_REAL(cudaStreamSynchronize)(nullptr);
  }
  (void)ANYGIN_REAL(cudaSetDevice)(before);
}

}  // namespace

VirtualDevices* VirtualDevices::get() {
  static VirtualDevices* const only = []() -> VirtualDevices* {
    int real = 0;
    if (options().devices <= 0 || ANYGIN_REAL(cudaGetDeviceCount)(&real) != cudaSuccess || real == 0) return nullptr;
    return new VirtualDevices(options().devices, real);
  }();
  return only;
}

VirtualDevices::VirtualDevices(int count, int real_count) {
  for (int number = 0; number < count; ++number) {
    devices_.push_back(std::make_unique<VirtualDevice>());
    devices_.back()->number = number;
    devices_.back()->real = number % real_count;
  }
  for (int real = 0; real < real_count && real < count; ++real) fill_pool(real);
}

VirtualDevice& VirtualDevices::current() {
  return device(current_number);
}

cudaError_t VirtualDevices::set_current(int number) {
  if (number < 0 || number >= count()) return cudaErrorInvalidDevice;
  const cudaError_t error = ANYGIN_REAL(cudaSetDevice)(device(number).real);
  if (error == cudaSuccess) current_number = number;
  return error;
}

// --- Streams ---------------------------------------------------------------------------------------------------------
cudaStream_t VirtualDevices::legacy_of(VirtualDevice& device) {
  if (device.legacy == nullptr) {
    (void)ANYGIN_REAL(cudaStreamCreateWithFlags)(&device.legacy, cudaStreamNonBlocking);
    device.legacy_reached = make_event();
  }
  return device.legacy;
}

void VirtualDevices::add_stream(cudaStream_t stream, bool blocking) {
  const std::lock_guard lock(mutex_);
  streams_[stream] = Stream{current_number, blocking, 0};
}

void VirtualDevices::remove_stream(cudaStream_t stream) {
  const std::lock_guard lock(mutex_);
  streams_.erase(stream);
}

cudaStream_t VirtualDevices::resolve(cudaStream_t stream) {
  const std::lock_guard lock(mutex_);
  return is_legacy(stream) ? legacy_of(current()) : stream;
}

// The legacy stream waits for what the blocking streams of its device have; they wait for what it had before.
void VirtualDevices::before(cudaStream_t stream) {
  const std::lock_guard lock(mutex_);
  VirtualDevice& here = current();
  if (is_legacy(stream)) {
    const cudaStream_t legacy = legacy_of(here);
    for (const auto& [other, known] : streams_) {
      if (known.device != here.number || !known.blocking) continue;
      const cudaEvent_t reached = make_event();
      (void)ANYGIN_REAL(cudaEventRecord)(reached, other);
      (void)ANYGIN_REAL(cudaStreamWaitEvent)(legacy, reached, 0);
      (void)ANYGIN_REAL(cudaEventDestroy)(reached);
    }
    return;
  }
  const auto known = streams_.find(stream);
  if (known == streams_.end() || !known->second.blocking) return;
  VirtualDevice& its = device(known->second.device);
  if (known->second.legacy_seen == its.legacy_operations) return;
  known->second.legacy_seen = its.legacy_operations;
  (void)ANYGIN_REAL(cudaStreamWaitEvent)(stream, its.legacy_reached, 0);
}

void VirtualDevices::after(cudaStream_t stream) {
  if (!is_legacy(stream)) return;
  const std::lock_guard lock(mutex_);
  VirtualDevice& here = current();
  ++here.legacy_operations;
  (void)ANYGIN_REAL(cudaEventRecord)(here.legacy_reached, legacy_of(here));
}

cudaError_t VirtualDevices::synchronize(VirtualDevice& device) {
  std::vector<cudaStream_t> all;
  {
    const std::lock_guard lock(mutex_);
    all.push_back(legacy_of(device));
    for (const auto& [stream, known] : streams_) {
      if (known.device == device.number) all.push_back(stream);
    }
  }
  const BlockingCall blocking;
  cudaError_t first = cudaSuccess;
  for (const cudaStream_t stream : all) {
    const cudaError_t error = ANYGIN_REAL(cudaStreamSynchronize)(stream);
    if (first == cudaSuccess) first = error;
  }
  return first;
}

// --- Memory ----------------------------------------------------------------------------------------------------------
cudaError_t VirtualDevices::malloc(void** pointer, size_t bytes) {
  const cudaStream_t legacy = resolve(nullptr);
  cudaError_t error = ANYGIN_REAL(cudaMallocAsync)(pointer, bytes == 0 ? 1 : bytes, legacy);
  if (error == cudaSuccess) error = ANYGIN_REAL(cudaStreamSynchronize)(legacy);
  if (error != cudaSuccess) return error;
  const std::lock_guard lock(mutex_);
  owned_[static_cast<const char*>(*pointer)] = Owned{bytes, current_number};
  return cudaSuccess;
}

cudaError_t VirtualDevices::free(void* pointer) {
  int owner = -1;
  {
    const std::lock_guard lock(mutex_);
    const auto found = owned_.find(static_cast<const char*>(pointer));
    if (found != owned_.end()) {
      owner = found->second.device;
      owned_.erase(found);
    }
  }
  if (owner < 0) return ANYGIN_REAL(cudaFree)(pointer);
  const cudaError_t error = synchronize(device(owner));
  const cudaError_t freed = ANYGIN_REAL(cudaFreeAsync)(pointer, device(owner).legacy);
  return error == cudaSuccess ? freed : error;
}

int VirtualDevices::owner_of(const void* pointer) {
  const std::lock_guard lock(mutex_);
  const auto* address = static_cast<const char*>(pointer);
  const auto after = owned_.upper_bound(address);
  if (after == owned_.begin()) return -1;
  const auto& [base, owned] = *std::prev(after);
  return address < base + owned.bytes ? owned.device : -1;
}

}  // namespace anygin::gpu
