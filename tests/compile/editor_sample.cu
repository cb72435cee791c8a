// SPDX-License-Identifier: Apache-2.0
// Not run: an editor parses it (compile_face.editor).
#include <cuda_fp16.h>

#include <cstdio>
#include <cuda/atomic>
#include <vector>

__device__ int counter;

template <typename T>
__global__ void __launch_bounds__(128) count(T* sums, int rounds) {
  extern __shared__ float dynamic[];
  __shared__ int first[4];
  first[0] = static_cast<int>(threadIdx.x);
  dynamic[0] = 1.0f;
  __syncthreads();
  if (rounds > 0) atomicAdd(sums, __shfl_sync(~0u, first[0], 1));
  cuda::atomic_ref<int>(counter).fetch_add(1);
  printf("%f\n", __half2float(__float2half(dynamic[0])));
}

int main() {
  std::vector<int> sums(4);
  count<int><<<dim3(1), 128, 16, nullptr>>>(sums.data(), 3);  // expected-error {{kernel call to non-global function}}
  return cudaDeviceSynchronize();
}
