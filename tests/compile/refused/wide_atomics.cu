// SPDX-License-Identifier: Apache-2.0
// Refused: atomics of 16 bytes
// Compiler: atomics have 1, 2, 4 or 8 bytes on the cpu target
#include <cuda/atomic>
struct Two {
  long a, b;
};
__global__ void kernel(Two* two) {
  *two = cuda::atomic_ref<Two>(*two).load();
}
int main() {}
