// SPDX-License-Identifier: Apache-2.0
// Refused: interprocess events
// Program: cudaErrorNotSupported\ncudaErrorNotSupported
#include <cstdio>
int main() {
  cudaEvent_t event = nullptr;
  cudaIpcEventHandle_t handle;
  std::printf("%s\n",
              cudaGetErrorName(cudaEventCreateWithFlags(&event, cudaEventInterprocess | cudaEventDisableTiming)));
  std::printf("%s\n", cudaGetErrorName(cudaIpcGetEventHandle(&handle, event)));
}
