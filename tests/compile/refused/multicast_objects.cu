// SPDX-License-Identifier: Apache-2.0
// Refused: multicast objects (`cuMulticast*`)
// Program: supported: 0\nCUDA_ERROR_NOT_SUPPORTED
#include <cuda.h>

#include <cstdio>
int main() {
  int supported = -1;
  CUmemGenericAllocationHandle handle;
  const CUmulticastObjectProp properties{};
  const char* name = "?";
  cuInit(0);
  cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED, 0);
  cuGetErrorName(cuMulticastCreate(&handle, &properties), &name);
  std::printf("supported: %d\n%s\n", supported, name);
}
