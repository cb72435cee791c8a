// SPDX-License-Identifier: Apache-2.0
// Puts of 1 MiB from rank 0 to rank 1 through the whole path, beside memcpy of as much in the same run, batch by batch
// in turns: streamed (each put with its signal, one flush at the end), and one after the other complete. The profile is
// ANYGIN_PROFILE's: `inorder` copies once, the others stage chunks.
//   ./put_bandwidth -r 2
#include <string>

#include "bench_common.h"

namespace {

constexpr size_t kBytes = size_t{1} << 20;
constexpr int kPuts = 200;  // a batch
constexpr ncclGinSignal_t kArrived = 0;
constexpr ncclGinSignal_t kAll = 1;

__global__ void put_all(ncclDevComm comm, ncclWindow_t window, bool one_by_one, uint64_t* elapsed_ns) {
  const ncclGin gin(comm, 0);
  const ncclTeam world = ncclTeamWorld(comm);
  const auto begin = device_ns();
  for (int i = 0; i < kPuts; ++i) {
    gin.put(world, 1, window, kBytes, window, 0, kBytes, ncclGin_WeakSignalInc{kArrived});
    if (one_by_one) gin.flush(ncclCoopThread{});
  }
  gin.flush(ncclCoopThread{});
  *elapsed_ns = device_ns() - begin;
}

__global__ void announce_all(ncclDevComm comm) {
  ncclGin(comm, 0).signal(ncclTeamWorld(comm), 1, ncclGin_StrongSignalInc{kAll});
}
__global__ void await_all(ncclDevComm comm) {
  ncclGin(comm, 0).waitSignal(ncclCoopThread{}, kAll, 1);
}

double gigabytes_per_second(double seconds) {
  return static_cast<double>(kBytes) * kPuts / seconds * 1e-9;
}

double memcpy_speed(char* to, const char* from) {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < kPuts; ++i) {
    std::memcpy(to, from, kBytes);
    asm volatile("" : : "r"(to) : "memory");
  }
  return gigabytes_per_second(seconds_since(begin));
}

double put_speed(RankEnv& env, const ncclDevComm& device_comm, ncclWindow_t window, bool one_by_one) {
  static uint64_t* elapsed_ns = nullptr;
  if (!elapsed_ns) CHECK_CUDA(cudaMalloc(&elapsed_ns, sizeof(uint64_t)));
  put_all<<<1, 1, 0, env.stream>>>(device_comm, window, one_by_one, elapsed_ns);
  CHECK_CUDA(cudaStreamSynchronize(env.stream));
  uint64_t host_ns;
  CHECK_CUDA(cudaMemcpy(&host_ns, elapsed_ns, sizeof(host_ns), cudaMemcpyDeviceToHost));
  return gigabytes_per_second(static_cast<double>(host_ns) * 1e-9);
}

void measure(RankEnv& env, const ncclDevComm& device_comm, ncclWindow_t window) {
  std::vector<char> from(kBytes, 1), to(kBytes);
  std::vector<double> copies, streamed, single, streamed_shares, single_shares;
  for (int batch = 0; batch <= kBatches; ++batch) {
    const double copied = memcpy_speed(to.data(), from.data());
    const double streaming = put_speed(env, device_comm, window, false);
    const double one_by_one = put_speed(env, device_comm, window, true);
    if (batch == 0) continue;  // warms up
    copies.push_back(copied);
    streamed.push_back(streaming);
    single.push_back(one_by_one);
    streamed_shares.push_back(100 * streaming / copied);
    single_shares.push_back(100 * one_by_one / copied);
  }
  const char* const profile = std::getenv("ANYGIN_PROFILE");
  std::printf("put_1MiB %s %.1f %% of memcpy (%.2f of %.2f GB/s); one by one %.1f %% (%.2f GB/s)\n",
              profile ? profile : "inorder", median(streamed_shares), median(streamed), median(copies),
              median(single_shares), median(single));
}

int send(RankEnv& env) {
  if (env.ranks != 2) {
    std::fprintf(stderr, "put_bandwidth: %d ranks; it takes 2: -r 2, or anygin run -n 2\n", env.ranks);
    std::exit(2);
  }
  void* buffer;
  ncclWindow_t window;
  CHECK_NCCL(ncclMemAlloc(&buffer, 2 * kBytes));
  std::memset(buffer, env.rank + 1, 2 * kBytes);
  CHECK_NCCL(ncclCommWindowRegister(env.comm, buffer, 2 * kBytes, &window, NCCL_WIN_COLL_SYMMETRIC));
  ncclDevCommRequirements_t requirements = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER;
  requirements.ginConnectionType = NCCL_GIN_CONNECTION_FULL;
  requirements.ginSignalCount = 2;
  ncclDevComm device_comm;
  CHECK_NCCL(ncclDevCommCreate(env.comm, &requirements, &device_comm));
  if (env.rank == 0) measure(env, device_comm, window);
  // Rank 1 is passive meanwhile: it waits here, on the host. The last signal says that it has everything.
  ncclDevComm second;
  CHECK_NCCL(ncclDevCommCreate(env.comm, &requirements, &second));
  if (env.rank == 0) {
    announce_all<<<1, 1, 0, env.stream>>>(device_comm);
  } else {
    await_all<<<1, 1, 0, env.stream>>>(device_comm);
  }
  CHECK_CUDA(cudaStreamSynchronize(env.stream));
  const char* const got = static_cast<const char*>(buffer) + kBytes;
  const int wrong = env.rank == 1 && static_cast<size_t>(std::count(got, got + kBytes, char{1})) != kBytes;
  if (wrong) std::printf("put_bandwidth: rank 1 has not what rank 0 sent\n");
  CHECK_NCCL(ncclDevCommDestroy(env.comm, &second));
  CHECK_NCCL(ncclDevCommDestroy(env.comm, &device_comm));
  CHECK_NCCL(ncclCommWindowDeregister(env.comm, window));
  CHECK_NCCL(ncclMemFree(buffer));
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  return run_example(argc, argv, send);
}
