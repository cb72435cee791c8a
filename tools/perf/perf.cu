// SPDX-License-Identifier: Apache-2.0
// What `anygin perf` starts: 2 ranks, as threads of this process (-r 2) or as a process each, measure GIN operations of
// sizes in powers of four and print a table; figures of this machine in this run, nothing is judged.
//   anygin-perf [--min BYTES] [--max BYTES] [--turns N] [-r 2]
#include <algorithm>

#include "../../examples/common.h"
#include "perf_kernels.h"

namespace {

using perf::Operation;

struct Wish {
  uint64_t least = 8;
  uint64_t most = uint64_t{4} << 20;
  uint64_t turns = 2000;  // of the smallest size; larger ones take fewer
};

struct Figures {
  double median = 0, least = 0, greatest = 0;  // nanoseconds a turn
};

const char* name_of(Operation operation) {
  constexpr const char* kNames[] = {"put+signal", "putValue+signal", "signal", "get+flush"};
  return kNames[static_cast<int>(operation)];
}

// At most 64 MiB a batch.
uint64_t turns_for(const Wish& wish, uint64_t bytes) {
  const uint64_t most = (uint64_t{64} << 20) / std::max<uint64_t>(bytes, 1);
  return std::max<uint64_t>(1, std::min(wish.turns, most));
}

class Bench {
 public:
  Bench(RankEnv& env, const Wish& wish) : env_(env) {
    const size_t half = std::max<size_t>(wish.most, 8);  // room for a value
    const size_t bytes = 2 * half;
    CHECK_NCCL(ncclMemAlloc(&buffer_, bytes));
    CHECK_NCCL(ncclCommWindowRegister(env.comm, buffer_, bytes, &court_.window, NCCL_WIN_COLL_SYMMETRIC));
    ncclDevCommRequirements_t requirements = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER;
    requirements.ginConnectionType = NCCL_GIN_CONNECTION_FULL;
    requirements.ginSignalCount = 1;
    CHECK_NCCL(ncclDevCommCreate(env.comm, &requirements, &court_.comm));
    court_.half = half;
    CHECK_CUDA(cudaMalloc(&batch_ns_, (perf::kBatches + 1) * sizeof(uint64_t)));
  }
  ~Bench() {
    CHECK_CUDA(cudaFree(batch_ns_));
    CHECK_NCCL(ncclDevCommDestroy(env_.comm, &court_.comm));
    CHECK_NCCL(ncclCommWindowDeregister(env_.comm, court_.window));
    CHECK_NCCL(ncclMemFree(buffer_));
  }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  void measure(const perf::Row& row) {
    const Figures latency = run(perf::play, row);
    court_.came += perf::signals_of_play(row);
    const Figures streamed = run(perf::stream, row);
    court_.came += perf::signals_of_stream(row, env_.rank);
    if (env_.rank != 0) return;
    // A turn of the game is there and back.
    const double ways = row.operation == Operation::kGet ? 1e3 : 2e3;
    std::printf("%-16s %10llu %8llu %10.2f %10.2f %10.2f %10.3g %10.3g\n", name_of(row.operation),
                static_cast<unsigned long long>(row.bytes), static_cast<unsigned long long>(row.turns),
                latency.median / ways, latency.least / ways, latency.greatest / ways, 1e3 / streamed.median,
                static_cast<double>(row.bytes) / streamed.median);
    std::fflush(stdout);
  }

 private:
  using Kernel = void (*)(perf::Court, perf::Row, uint64_t*);

  Figures run(Kernel kernel, const perf::Row& row) {
    kernel<<<1, 1, 0, env_.stream>>>(court_, row, batch_ns_);
    CHECK_CUDA(cudaGetLastError());
    CHECK_CUDA(cudaStreamSynchronize(env_.stream));
    uint64_t batches[perf::kBatches + 1];
    CHECK_CUDA(cudaMemcpy(batches, batch_ns_, sizeof(batches), cudaMemcpyDeviceToHost));
    std::sort(batches + 1, batches + 1 + perf::kBatches);
    const auto turns = static_cast<double>(row.turns);
    return {static_cast<double>(batches[1 + perf::kBatches / 2]) / turns, static_cast<double>(batches[1]) / turns,
            static_cast<double>(batches[perf::kBatches]) / turns};
  }

  RankEnv& env_;
  void* buffer_ = nullptr;
  perf::Court court_{};
  uint64_t* batch_ns_ = nullptr;
};

int measure_all(RankEnv& env, const Wish& wish) {
  if (env.ranks != 2) {
    std::fprintf(stderr, "anygin-perf: %d ranks; 2 are right: -r 2, or two processes\n", env.ranks);
    std::exit(2);
  }
  if (env.rank == 0) {
    std::printf("%-16s %10s %8s %10s %10s %10s %10s %10s\n", "# operation", "bytes", "turns", "us median", "us least",
                "us most", "Mop/s", "GB/s");
  }
  Bench bench(env, wish);
  bench.measure({Operation::kSignal, 0, wish.turns});
  bench.measure({Operation::kPutValue, 8, wish.turns});
  for (const Operation operation : {Operation::kPut, Operation::kGet}) {
    for (uint64_t bytes = wish.least; bytes <= wish.most; bytes *= 4) {
      bench.measure({operation, bytes, turns_for(wish, bytes)});
    }
  }
  return 0;
}

// The value behind `name`; exits if it is none.
uint64_t number_after(const char* name, const char* text) {
  char* end = nullptr;
  const uint64_t value = std::strtoull(text, &end, 10);
  if (*text >= '0' && *text <= '9' && *end == '\0' && value > 0) return value;
  std::fprintf(stderr, "anygin-perf: %s %s: a number from 1 on would be right\n", name, text);
  std::exit(2);
}

Wish parse(int argc, char** argv) {
  Wish wish;
  for (int i = 1; i < argc; i += 2) {
    const char* const name = argv[i];
    const bool known = std::strcmp(name, "-r") == 0 || std::strcmp(name, "--min") == 0 ||
                       std::strcmp(name, "--max") == 0 || std::strcmp(name, "--turns") == 0;
    if (!known || i + 1 == argc) {
      std::fprintf(stderr, "anygin-perf: '%s'; --min BYTES, --max BYTES, --turns N and -r 2 are known\n", name);
      std::exit(2);
    }
    const uint64_t value = number_after(name, argv[i + 1]);
    if (std::strcmp(name, "--min") == 0) wish.least = value;
    if (std::strcmp(name, "--max") == 0) wish.most = value;
    if (std::strcmp(name, "--turns") == 0) wish.turns = value;
  }
  if (wish.least <= wish.most && wish.most <= uint64_t{1} << 30) return wish;
  std::fprintf(stderr, "anygin-perf: --min %llu --max %llu: the first is to be the smaller, the second at most 1 GiB\n",
               static_cast<unsigned long long>(wish.least), static_cast<unsigned long long>(wish.most));
  std::exit(2);
}

}  // namespace

int main(int argc, char** argv) {
  const Wish wish = parse(argc, argv);
  return run_example(argc, argv, [&wish](RankEnv& env) { return measure_all(env, wish); });
}
