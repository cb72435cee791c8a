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
void poison_device(int device, int error, const std::string& why) {
  int none = 0;
  if (!device_table().load(device).error.compare_exchange_strong(none, error, std::memory_order_acq_rel)) return;
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

}  // namespace anygin::simt
