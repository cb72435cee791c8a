// SPDX-License-Identifier: Apache-2.0
// Refused: modules, `cuLaunchKernel`, `cudaLibrary*`
// Program: CUDA_ERROR_NOT_SUPPORTED\nCUDA_ERROR_NOT_SUPPORTED\ncudaErrorNotSupported
#include <cuda.h>

#include <cstdio>
void show(CUresult result) {
  const char* name = "?";
  cuGetErrorName(result, &name);
  std::printf("%s\n", name);
}
int main() {
  CUmodule module;
  cudaLibrary_t library;
  cuInit(0);
  show(cuModuleLoadData(&module, "image"));
  show(cuLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
  std::printf("%s\n",
              cudaGetErrorName(cudaLibraryLoadFromFile(&library, "file", nullptr, nullptr, 0, nullptr, nullptr, 0)));
}
