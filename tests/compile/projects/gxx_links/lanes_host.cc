// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime.h>
#include <nccl.h>

#include <cstdio>

int sum_of_lanes(int lanes);

int main() {
  int version = 0;
  if (ncclGetVersion(&version) != ncclSuccess) return 1;
  const int sum = sum_of_lanes(64);
  std::printf("%d\n", sum);
  return sum == 64 * 63 / 2 ? 0 : 1;
}
