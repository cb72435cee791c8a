// SPDX-License-Identifier: Apache-2.0
#include "anygin/simt/device_stack.h"

#include <vector>

#include "anygin/simt/cuda_error.h"
#include "anygin/simt/device.h"

namespace anygin::simt {
namespace {

thread_local std::vector<int> devices_before;

}  // namespace

int push_device(int device) {
  const int before = current_device();
  const int error = set_current_device(device);
  if (error == kCudaSuccess) devices_before.push_back(before);
  return error;
}

bool pop_device() {
  if (devices_before.empty()) return false;
  const int before = devices_before.back();
  devices_before.pop_back();
  return set_current_device(before) == kCudaSuccess;
}

}  // namespace anygin::simt
