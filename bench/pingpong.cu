// SPDX-License-Identifier: Apache-2.0
// Round trip of an 8-byte put with its signal between two ranks: rank 0 puts and waits, rank 1 waits and answers. One
// thread of one block a rank. Beside it, in the same run, what the machine itself needs: a cache line that two threads
// (or two processes, if the ranks are processes) pass to and fro.
//   ANYGIN_WORKERS=2 ./pingpong -r 2          ranks as threads
//   anygin run -n 2 -- ./pingpong             ranks as processes
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench_common.h"

namespace {

constexpr uint64_t kTrips = 10000;  // a batch
constexpr ncclGinSignal_t kBall = 0;

// times[b]: nanoseconds of batch b; batch 0 is for warming up. If `splits`, the cycles that the calls of put took
// instead.
template <bool splits>
__global__ void pingpong(ncclDevComm comm, ncclWindow_t window, uint64_t first_trip, uint64_t* times) {
  const ncclGin gin(comm, 0);
  const ncclTeam world = ncclTeamWorld(comm);
  const bool serves = world.rank == 0;
  const int peer = 1 - world.rank;
  uint64_t trip = first_trip;
  for (int batch = 0; batch <= kBatches; ++batch) {
    const uint64_t begin = device_ns();
    uint64_t cycles = 0;
    for (uint64_t i = 0; i < kTrips; ++i) {
      ++trip;
      if (!serves) gin.waitSignal(ncclCoopThread{}, kBall, trip);
      if (splits) cycles -= static_cast<uint64_t>(clock64());
      gin.put(world, peer, window, 0, window, sizeof(uint64_t), sizeof(uint64_t), ncclGin_StrongSignalInc{kBall});
      if (splits) cycles += static_cast<uint64_t>(clock64());
      if (serves) gin.waitSignal(ncclCoopThread{}, kBall, trip);
    }
    times[batch] = splits ? cycles : device_ns() - begin;
  }
  gin.flush(ncclCoopThread{});
}

std::vector<double> per_trip(const uint64_t* times) {
  uint64_t host[kBatches + 1];
  CHECK_CUDA(cudaMemcpy(host, times, sizeof(host), cudaMemcpyDeviceToHost));
  std::vector<double> trips;
  for (int batch = 1; batch <= kBatches; ++batch) trips.push_back(static_cast<double>(host[batch]) / kTrips);
  return trips;
}

int play(RankEnv& env) {
  if (env.ranks != 2) {
    std::fprintf(stderr, "pingpong: %d ranks; it is played by 2: -r 2, or anygin run -n 2\n", env.ranks);
    std::exit(2);
  }
  void* buffer;
  ncclWindow_t window;
  CHECK_NCCL(ncclMemAlloc(&buffer, 4096));
  CHECK_NCCL(ncclCommWindowRegister(env.comm, buffer, 4096, &window, NCCL_WIN_COLL_SYMMETRIC));
  ncclDevCommRequirements_t requirements = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER;
  requirements.ginConnectionType = NCCL_GIN_CONNECTION_FULL;
  requirements.ginSignalCount = 1;
  ncclDevComm device_comm;
  CHECK_NCCL(ncclDevCommCreate(env.comm, &requirements, &device_comm));
  uint64_t* times;
  CHECK_CUDA(cudaMalloc(&times, (kBatches + 1) * sizeof(uint64_t)));

  pingpong<false><<<1, 1, 0, env.stream>>>(device_comm, window, 0, times);
  CHECK_CUDA(cudaStreamSynchronize(env.stream));
  const std::vector<double> trips_ns = per_trip(times);
  pingpong<true><<<1, 1, 0, env.stream>>>(device_comm, window, kTrips * (kBatches + 1), times);
  CHECK_CUDA(cudaStreamSynchronize(env.stream));
  if (env.rank == 0) {
    std::printf("put_signal_round_trip %s %.3f us (min %.3f)\n", placement(), median(trips_ns) * 1e-3,
                *std::min_element(trips_ns.begin(), trips_ns.end()) * 1e-3);
    std::printf("put_signal_call %s %.0f cycles\n", placement(), median(per_trip(times)));
    std::fflush(stdout);
  }
  CHECK_CUDA(cudaFree(times));
  CHECK_NCCL(ncclDevCommDestroy(env.comm, &device_comm));
  CHECK_NCCL(ncclCommWindowDeregister(env.comm, window));
  CHECK_NCCL(ncclMemFree(buffer));
  return 0;
}

// --- The machine itself ---

struct Lines {
  alignas(64) std::atomic<uint64_t> there;
  alignas(64) std::atomic<uint64_t> back;
};

constexpr uint64_t kLineTrips = 20000;  // a batch

// Each end on a core of its own, if there are two.
void run_on_core(int which) {
  cpu_set_t all, one;
  if (sched_getaffinity(0, sizeof(all), &all) != 0 || CPU_COUNT(&all) < 2) return;
  CPU_ZERO(&one);
  for (int core = 0, seen = 0; core < CPU_SETSIZE && seen <= which; ++core) {
    if (CPU_ISSET(core, &all) && seen++ == which) CPU_SET(core, &one);
  }
  (void)sched_setaffinity(0, sizeof(one), &one);
}

void answer(Lines& lines) {
  run_on_core(1);
  for (uint64_t trip = 1; trip <= kLineTrips * kBatches; ++trip) {
    while (lines.there.load(std::memory_order_acquire) != trip) {
    }
    lines.back.store(trip, std::memory_order_release);
  }
}

double serve(Lines& lines) {
  cpu_set_t all;
  const bool pinned = sched_getaffinity(0, sizeof(all), &all) == 0;
  run_on_core(0);
  std::vector<double> trips_us;
  uint64_t trip = 0;
  for (int batch = 0; batch < kBatches; ++batch) {
    const auto begin = std::chrono::steady_clock::now();
    for (uint64_t i = 0; i < kLineTrips; ++i) {
      lines.there.store(++trip, std::memory_order_release);
      while (lines.back.load(std::memory_order_acquire) != trip) {
      }
    }
    trips_us.push_back(seconds_since(begin) / kLineTrips * 1e6);
  }
  if (pinned) (void)sched_setaffinity(0, sizeof(all), &all);
  return median(trips_us);
}

void bare_lines() {
  void* shared = mmap(nullptr, sizeof(Lines), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) std::exit(3);
  Lines& lines = *new (shared) Lines{};
  double trip_us = 0;
  if (ranks_are_processes()) {
    const pid_t child = fork();
    if (child < 0) std::exit(3);
    if (child == 0) {
      answer(lines);
      _exit(0);
    }
    trip_us = serve(lines);
    waitpid(child, nullptr, 0);
  } else {
    std::thread other([&] { answer(lines); });
    trip_us = serve(lines);
    other.join();
  }
  munmap(shared, sizeof(Lines));
  std::printf("cache_line_round_trip %s %.3f us\n", placement(), trip_us);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const char* const rank = std::getenv("RANK");
  if (!ranks_are_processes() || std::atoi(rank) == 0) bare_lines();  // rank 1 waits for rank 0 meanwhile
  return run_example(argc, argv, play);
}
