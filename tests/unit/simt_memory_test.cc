// SPDX-License-Identifier: Apache-2.0
// Shared memory, static and dynamic.
#include <cstring>
#include <vector>

#include "unit/simt_kernels.h"

namespace anygin::simt {
namespace {

class SimtMemory : public SimtTest {};

struct Tile {
  unsigned value[256];
};
struct alignas(64) Aligned {
  char byte;
};

TEST_F(SimtMemory, SharedObjectsAreOneABlockAndApartBetweenBlocks) {
  constexpr unsigned kBlocks = 64;
  std::vector<unsigned> wrong(kBlocks * 256, 0);
  unsigned* errors = wrong.data();
  ASSERT_EQ(0, run(blocks_of(kBlocks, 256), [errors] {
              Tile& tile = shared_object<Tile>();
              Aligned& aligned = shared_object<Aligned>();
              const unsigned me = anygin_thread_idx.x;
              tile.value[me] = anygin_block_idx.x * 1000 + me;
              if (me == 0) aligned.byte = static_cast<char>(anygin_block_idx.x);
              anygin_syncthreads();
              const unsigned other = (me * 7 + 3) % 256;
              errors[global_thread()] += tile.value[other] != anygin_block_idx.x * 1000 + other;
              errors[global_thread()] += aligned.byte != static_cast<char>(anygin_block_idx.x);
              errors[global_thread()] += reinterpret_cast<uintptr_t>(&aligned) % 64 != 0;
              anygin_syncthreads();
            }));
  EXPECT_EQ(wrong, std::vector<unsigned>(kBlocks * 256, 0));
}

TEST_F(SimtMemory, DynamicSharedMemoryHasTheSizeOfTheLaunch) {
  constexpr size_t kBytes = 100 * 1024;
  std::vector<unsigned> sums(8, 0);
  unsigned* results = sums.data();
  ASSERT_EQ(0, run({{8, 1, 1}, {128, 1, 1}, kBytes}, [results] {
              auto* words = static_cast<unsigned*>(anygin_shared_dynamic());
              const size_t count = anygin_shared_dynamic_bytes() / sizeof(unsigned);
              for (size_t i = anygin_thread_idx.x; i < count; i += 128) words[i] = anygin_block_idx.x;
              Tile& tile = shared_object<Tile>();
              tile.value[anygin_thread_idx.x] = 12345;
              anygin_syncthreads();
              if (anygin_thread_idx.x != 0) return;
              for (size_t i = 0; i < count; ++i) results[anygin_block_idx.x] += words[i];
            }));
  for (unsigned block = 0; block < 8; ++block) EXPECT_EQ(block * (kBytes / 4), sums[block]);
}

struct Large {
  char bytes[40 * 1024];
};
struct AlsoLarge {
  char bytes[40 * 1024];
};

TEST_F(SimtMemory, MoreStaticSharedMemoryThanABlockHasIsReported) {
  testing::internal::CaptureStderr();
  const int error = run(blocks_of(1, 1), [] {
    shared_object<Large>().bytes[0] = 1;
    shared_object<AlsoLarge>().bytes[0] = 1;
  });
  const std::string report = testing::internal::GetCapturedStderr();
  EXPECT_EQ(kCudaLaunchFailure, error);
  EXPECT_NE(std::string::npos, report.find("static shared memory of a block is limited to 49152 bytes")) << report;
}

}  // namespace
}  // namespace anygin::simt
