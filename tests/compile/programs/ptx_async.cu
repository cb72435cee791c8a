// SPDX-License-Identifier: Apache-2.0
// Inline PTX of pipelines: barriers in shared memory that count arrivals and bytes, copies to and from it, warps that
// arrive at a named barrier without waiting; warp operations in assembly.
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>

constexpr int kStages = 2, kTiles = 6, kWords = 32;

__device__ uint32_t shared_address(const void* p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}
__device__ void init(uint64_t* bar, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(bar)), "r"(count));
}
__device__ void expect(uint64_t* bar, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(bar)), "r"(bytes)
               : "memory");
}
__device__ void arrive(uint64_t* bar) {
  asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" ::"r"(shared_address(bar)) : "memory");
}
__device__ void wait(uint64_t* bar, uint32_t parity) {
  asm volatile(
      "{ .reg .pred p;\n"
      "again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1, 0x989680;\n"
      "@p bra done; bra again;\n"
      "done: }" ::"r"(shared_address(bar)),
      "r"(parity)
      : "memory");
}

// One warp brings tiles, the others add to them and send them back.
__global__ void pipeline(const uint32_t* in, uint32_t* out) {
  __shared__ alignas(16) uint32_t tile[kStages][kWords];
  __shared__ uint64_t full[kStages], empty[kStages];
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (threadIdx.x == 0) {
    for (int s = 0; s < kStages; ++s) {
      init(&full[s], 1);
      init(&empty[s], 32);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  for (int t = 0; t < kTiles; ++t) {
    const int stage = t % kStages;
    const uint32_t parity = static_cast<uint32_t>(t / kStages % 2);
    if (warp == 0 && lane == 0) {
      wait(&empty[stage], parity ^ 1);
      expect(&full[stage], sizeof tile[0]);
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                       shared_address(tile[stage])),
                   "l"(in + t * kWords), "r"(static_cast<uint32_t>(sizeof tile[0])), "r"(shared_address(&full[stage]))
                   : "memory");
    } else if (warp == 1) {
      wait(&full[stage], parity);
      tile[stage][lane] += 100;
      __syncwarp();
      asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
      if (lane == 0) {
        asm volatile(
            "cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;\n"
            "cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;" ::"l"(out + t * kWords),
            "r"(shared_address(tile[stage])), "n"(kWords * 4)
            : "memory");
      }
      __syncwarp();
      arrive(&empty[stage]);
    }
  }
}

// Two warps arrive and go on, even end; the third waits for them.
__global__ void named(uint32_t* out) {
  if (threadIdx.x < 64) {
    out[1 + threadIdx.x / 32] = 7 + threadIdx.x / 32;
    asm volatile("bar.arrive %0, %1;" ::"n"(3), "n"(96) : "memory");
    return;
  }
  asm volatile("barrier.cta.sync 3, 96;" ::: "memory");
  if (threadIdx.x == 64) out[0] = out[1] + out[2];
}

__global__ void pieces(const uint4* in, uint4* out) {
  __shared__ uint4 words[32];
  const uint32_t to = shared_address(&words[threadIdx.x]);
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(to), "l"(in + threadIdx.x), "r"(12)
               : "memory");
  asm volatile("cp.async.commit_group;\ncp.async.wait_group 0;" ::: "memory");
  __syncthreads();
  out[threadIdx.x] = words[31 - threadIdx.x];
}

__global__ void lanes(uint32_t* out) {
  const uint32_t lane = threadIdx.x;
  uint32_t up, down, cross, from, inside, ballot, any, all, same, equal, sum;
  int32_t least;
  asm volatile("{ .reg .pred p; shfl.sync.up.b32 %0|p, %2, 3, 0x1000, 0xffffffff; selp.b32 %1, 1, 0, p; }"
               : "=r"(up), "=r"(inside)
               : "r"(lane));
  asm volatile("shfl.sync.down.b32 %0, %1, 1, 0x1f, -1;" : "=r"(down) : "r"(lane));
  asm volatile("shfl.sync.bfly.b32 %0, %1, 5, 31, -1;" : "=r"(cross) : "r"(lane));
  asm volatile("shfl.sync.idx.b32 %0, %1, 2, 0x181f, -1;" : "=r"(from) : "r"(lane));
  asm volatile("{ .reg .pred p, q; setp.lt.u32 p, %1, 4; vote.sync.ballot.b32 %0, p, -1; }" : "=r"(ballot) : "r"(lane));
  asm volatile(
      "{ .reg .pred p, q; setp.lt.u32 p, %2, 4; vote.sync.any.pred q, p, -1; selp.b32 %0, 1, 0, q;\n"
      "vote.sync.all.pred q, p, -1; selp.b32 %1, 1, 0, q; }"
      : "=r"(any), "=r"(all)
      : "r"(lane));
  asm volatile("match.any.sync.b32 %0, %1, -1;" : "=r"(same) : "r"(lane % 4));
  asm volatile("{ .reg .pred p; match.all.sync.b32 %0|p, %1, -1; }" : "=r"(equal) : "r"(5));
  asm volatile("redux.sync.add.u32 %0, %1, -1;" : "=r"(sum) : "r"(lane));
  asm volatile("redux.sync.min.s32 %0, %1, -1;" : "=r"(least) : "r"(3 - static_cast<int>(lane)));
  if (lane == 17) {
    const uint32_t all_of_them[] = {up,  inside, down, cross, from, ballot,
                                    any, all,    same, equal, sum,  static_cast<uint32_t>(-least)};
    for (int i = 0; i < 12; ++i) out[i] = all_of_them[i];
  }
}

int main() {
  uint32_t *in, *out;
  cudaMallocManaged(&in, 4096);
  cudaMallocManaged(&out, 4096);
  for (uint32_t i = 0; i < 1024; ++i) in[i] = i;
  pipeline<<<1, 64>>>(in, out);
  std::printf("%s", cudaGetErrorString(cudaDeviceSynchronize()));
  int right = 0;
  for (uint32_t i = 0; i < kTiles * kWords; ++i) right += out[i] == i + 100;
  std::printf(" %d\n", right);
  named<<<1, 96>>>(out);
  std::printf("%s", cudaGetErrorString(cudaDeviceSynchronize()));
  std::printf(" %u\n", out[0]);
  pieces<<<1, 32>>>(reinterpret_cast<uint4*>(in), reinterpret_cast<uint4*>(out));
  std::printf("%s", cudaGetErrorString(cudaDeviceSynchronize()));
  std::printf(" %u %u %u\n", out[0], out[2], out[3]);
  lanes<<<1, 32>>>(out);
  std::printf("%s", cudaGetErrorString(cudaDeviceSynchronize()));
  for (int i = 0; i < 12; ++i) std::printf(" %x", out[i]);
  std::printf("\n");
}
