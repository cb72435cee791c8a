// SPDX-License-Identifier: Apache-2.0
// Errors: the calling thread's last one, and devices that are lost.
#include "anygin/base/log.h"
#include "anygin/base/world.h"
#include "anygin/simt/cuda_error.h"
#include "anygin/simt/device.h"
#include "anygin/simt/device_table.h"
#include "anygin/simt/device_variables.h"

namespace anygin::simt {

namespace {

thread_local int this_threads_error = kCudaSuccess;

}  // namespace

int last_error(bool reset) {
  const int error = this_threads_error;
  if (reset) this_threads_error = kCudaSuccess;
  return error;
}

int set_last_error(int error) {
  if (error != kCudaSuccess) this_threads_error = error;
  return error;
}

// The first reason stays.
void poison_device(int device, int error, const std::string& why, AbortCause cause) {
  DeviceLoad& load = device_table().load(device);
  int none = 0;
  if (!load.error.compare_exchange_strong(none, error, std::memory_order_acq_rel)) {
    if (cause == AbortCause::kMisuse) load.lost_by.store(cause, std::memory_order_release);
    return;
  }
  load.lost_by.store(cause, std::memory_order_release);
  log(LogLevel::kError, "device {} is lost (cudaError {}): {}", device, error, why);
  ring_everybody(world().executor);
}

int device_error(int device) {
  return device_table().load(device).error.load(std::memory_order_acquire);
}

void reset_device(int device) {
  synchronize_device(device);
  reset_device_variables(device);
  device_table().load(device).stack_bytes.store(StackPool::kBytesLeast, std::memory_order_relaxed);
  device_table().load(device).error.store(0, std::memory_order_release);
}

void recover_device(int device) {
  DeviceLoad& load = device_table().load(device);
  if (load.error.load(std::memory_order_acquire) == 0) return;
  synchronize_device(device);
  if (load.lost_by.load(std::memory_order_acquire) == AbortCause::kMisuse) return;
  load.error.store(0, std::memory_order_release);
}

}  // namespace anygin::simt
