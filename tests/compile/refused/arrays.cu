// SPDX-License-Identifier: Apache-2.0
// Refused: arrays (`cudaMallocArray`)
// Compiler: error: .*cudaMallocArray.* was not declared
int main() {
  cudaArray_t array;
  return cudaMallocArray(&array, nullptr, 4, 4);
}
