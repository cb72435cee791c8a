// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime_api.h>
#include <nccl.h>

#include "factor.h"

void launch_multiply(int* value);

int main() {
  int version = 0;
  int* value = nullptr;
  int result = 7;
  if (ncclGetVersion(&version) != ncclSuccess || version != NCCL_VERSION_CODE) return 1;
  if (cudaMalloc(reinterpret_cast<void**>(&value), sizeof *value) != cudaSuccess) return 2;
  if (cudaMemcpy(value, &result, sizeof result, cudaMemcpyHostToDevice) != cudaSuccess) return 3;
  launch_multiply(value);
  if (cudaMemcpy(&result, value, sizeof result, cudaMemcpyDeviceToHost) != cudaSuccess) return 4;
  return result == 7 * factor() ? 0 : 5;
}
