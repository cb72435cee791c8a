// SPDX-License-Identifier: Apache-2.0
// Coops on lanes: ranks, sizes, masks, syncs and broadcasts (contract 5).
#include <gtest/gtest.h>
#include <nccl_device.h>

#include "unit/lane_builtins.h"

namespace {

using anygin::test::on_lanes;

struct Seen {
  int rank, size;
  uint32_t mask;
};

template <int N>
void expect_tile() {
  const auto seen = on_lanes<Seen>(96, [](Seen* out) {
    ncclCoopTile<N> tile;
    // covers: ncclCoopGetLaneMask(ncclCoopTile)
    out[threadIdx.x] = {tile.thread_rank(), tile.num_threads(), ncclCoopGetLaneMask(tile)};
  });
  for (int i = 0; i < 96; ++i) {
    const Seen& s = seen[static_cast<size_t>(i)];
    ASSERT_EQ(s.rank, i % N);
    ASSERT_EQ(s.size, N);
    const uint64_t ones = (uint64_t{1} << N) - 1;
    ASSERT_EQ(s.mask, static_cast<uint32_t>(ones << (i % 32 / N * N))) << "thread " << i << " of tiles of " << N;
  }
}

TEST(NcclCoop, tiles) {
  expect_tile<1>();
  expect_tile<2>();
  expect_tile<4>();
  expect_tile<8>();
  expect_tile<16>();
  expect_tile<32>();
}

TEST(NcclCoop, lanes_spans_and_blocks) {
  const auto seen = on_lanes<Seen>(
      128,
      [](Seen* out) {
        const unsigned t = threadIdx.x;
        const uint32_t mask = t % 2 == 0 ? 0x55555555u : 0xaaaaaaaau;
        ncclCoopLanes lanes(mask);
        // covers: ncclCoopGetLaneMask(ncclCoopLanes)
        out[t] = {lanes.thread_rank(), lanes.size(), ncclCoopGetLaneMask(lanes)};
        ncclCoopWarpSpan span(t < 32 ? 0 : 1, t < 32 ? 1 : 3, t < 32 ? 0 : 1);
        // covers: ncclCoopGetLaneMask(ncclCoopWarpSpan)
        out[128 + t] = {span.thread_rank(), span.size(), ncclCoopGetLaneMask(span)};
        ncclCoopCta block;
        ncclCoopAny any(block);
        // covers: ncclCoopGetLaneMask(ncclCoopCta)
        out[256 + t] = {any.thread_rank(), any.size(), ncclCoopGetLaneMask(block)};
      },
      384);
  for (int t = 0; t < 128; ++t) {
    const auto i = static_cast<size_t>(t);
    ASSERT_EQ(seen[i].rank, t % 32 / 2);
    ASSERT_EQ(seen[i].size, 16);
    ASSERT_EQ(seen[128 + i].rank, t < 32 ? t : t - 32);
    ASSERT_EQ(seen[128 + i].size, t < 32 ? 32 : 96);
    ASSERT_EQ(seen[256 + i].rank, t);
    ASSERT_EQ(seen[256 + i].size, 128);
    ASSERT_EQ(seen[256 + i].mask, ~0u);
  }
}

TEST(NcclCoop, what_is_known_when_compiling) {
  static_assert(ncclCoopIsThread(ncclCoopThread{}) && !ncclCoopIsThread(ncclCoopWarp{}));
  static_assert(!ncclCoopIsThread(ncclCoopLanes{1}) && !ncclCoopIsThread(ncclCoopCta{}));
  static_assert(ncclCoopWithinWarp(ncclCoopTile<8>{}) && ncclCoopWithinWarp(ncclCoopLanes{1}));
  static_assert(!ncclCoopWithinWarp(ncclCoopWarpSpan(0, 1, 0)) && !ncclCoopWithinWarp(ncclCoopCta{}));
  static_assert(ncclCoopTile<8>{}.size() == 8);
}

// The same at run time, and every spelling of how many there are.
TEST(NcclCoop, what_coops_say_of_themselves) {
  // covers: ncclCoopIsThread(ncclCoopTile); ncclCoopIsThread(ncclCoopLanes); ncclCoopIsThread(ncclCoopWarpSpan)
  // covers: ncclCoopIsThread(ncclCoopCta)
  EXPECT_TRUE(ncclCoopIsThread(ncclCoopTile<1>{}));
  EXPECT_FALSE(ncclCoopIsThread(ncclCoopTile<2>{}));
  EXPECT_FALSE(ncclCoopIsThread(ncclCoopLanes{1}) || ncclCoopIsThread(ncclCoopWarpSpan(0, 1, 0)) ||
               ncclCoopIsThread(ncclCoopCta{}));
  // covers: ncclCoopWithinWarp(ncclCoopTile); ncclCoopWithinWarp(ncclCoopLanes)
  // covers: ncclCoopWithinWarp(ncclCoopWarpSpan); ncclCoopWithinWarp(ncclCoopCta)
  EXPECT_TRUE(ncclCoopWithinWarp(ncclCoopTile<32>{}) && ncclCoopWithinWarp(ncclCoopLanes{~0u}));
  EXPECT_FALSE(ncclCoopWithinWarp(ncclCoopWarpSpan(0, 1, 0)) || ncclCoopWithinWarp(ncclCoopCta{}));
  const ncclCoopWarpSpan span(3, 2, 14);
  EXPECT_EQ(span.warp0, 3u);
  EXPECT_EQ(span.nWarps, 2u);
  EXPECT_EQ(span.id, 14u);
  const auto seen = on_lanes<uint32_t>(
      64,
      [](uint32_t* out) {
        const unsigned t = threadIdx.x;
        out[t] = ncclCoopTile<8>{}.laneMask();
        ncclCoopLanes lanes(0xffffu << (t % 32 / 16 * 16));
        ncclCoopAny any(ncclCoopWarpSpan(0, 2, 3));
        const ncclCoopAny block(ncclCoopCta{});
        out[64 + t] = static_cast<uint32_t>(lanes.num_threads() + 100 * ncclCoopWarpSpan(0, 2, 0).num_threads() +
                                            10000 * ncclCoopCta{}.num_threads() + 1000000 * any.num_threads());
        out[128 + t] = static_cast<uint32_t>(block.vtable->thread_rank(block.storage.space));
        // Each sync in turn lets a thread see what another one wrote before.
        out[192 + t] = 0;
        lanes.sync();
        out[192 + (t ^ 1)] += 1;
        lanes.sync();
        any.sync();
        out[192 + (t ^ 32)] += 10;
        any.sync();
        out[256 + t] = out[192 + t];
        // covers: ncclCoopCoalesced()
        if (t % 4 != 3) out[320 + t] = ncclCoopCoalesced().lmask;
      },
      384);
  for (size_t t = 0; t < 64; ++t) {
    EXPECT_EQ(seen[t], 0xffu << (t % 32 / 8 * 8));
    EXPECT_EQ(seen[64 + t], 16u + 100 * 64 + 10000 * 64 + 1000000 * 64);
    EXPECT_EQ(seen[128 + t], t);
    EXPECT_EQ(seen[256 + t], 11u);
    if (t % 4 != 3) {
      EXPECT_EQ(seen[320 + t] >> (t % 32) & 1, 1u) << "its own lane";
      EXPECT_EQ(seen[320 + t] & 0x88888888u, 0u) << "no lane that is elsewhere";
    }
  }
}

struct Wide {
  uint64_t a;
  uint32_t b;
};

TEST(NcclCoop, a_broadcast_brings_everybody_the_roots_value) {
  const auto seen = on_lanes<uint64_t>(
      128,
      [](uint64_t* out) {
        const unsigned t = threadIdx.x;
        const Wide mine = {t * 1000000007ull, t};
        // covers: ncclCoopBcast(ncclCoopTile)
        const Wide tile = ncclCoopBcast(ncclCoopTile<8>{}, mine, 3);
        out[t] = tile.a + tile.b;
        // covers: ncclCoopBcast(ncclCoopLanes)
        const Wide lanes = ncclCoopBcast(ncclCoopLanes(t % 2 == 0 ? 0x55555555u : 0xaaaaaaaau), mine, 5);
        out[128 + t] = lanes.a + lanes.b;
        // covers: ncclCoopBcast(ncclCoopWarpSpan)
        const Wide span = ncclCoopBcast(ncclCoopWarpSpan(t < 32 ? 0 : 1, t < 32 ? 1 : 3, t < 32 ? 0 : 1), mine, 31);
        out[256 + t] = span.a + span.b;
        uint64_t sum = 0;
        // covers: ncclCoopBcast(ncclCoopCta)
        for (int root = 0; root < 128; ++root) sum = sum * 3 + ncclCoopBcast(ncclCoopCta{}, mine, root).b;
        out[384 + t] = sum;
      },
      512);
  const auto of = [](uint64_t t) { return t * 1000000007ull + t; };
  uint64_t sum = 0;
  for (uint64_t root = 0; root < 128; ++root) sum = sum * 3 + root;
  for (uint64_t t = 0; t < 128; ++t) {
    ASSERT_EQ(seen[t], of(t / 8 * 8 + 3));
    ASSERT_EQ(seen[128 + t], of(t / 32 * 32 + 10 + t % 2));
    ASSERT_EQ(seen[256 + t], of(t < 32 ? 31 : 63));
    ASSERT_EQ(seen[384 + t], sum);
  }
}

// Spans sync apart from each other: one passes its barrier while the other has not begun.
TEST(NcclCoop, spans_sync_by_themselves) {
  const auto seen = on_lanes<int>(64, [](int* out) {
    const bool first = threadIdx.x < 32;
    ncclCoopWarpSpan span(first ? 0 : 1, 1, first ? 2 : 3);
    if (first) {
      for (int i = 0; i < 10; ++i) span.sync();
      out[threadIdx.x] = 1;
    }
    __syncthreads();
    if (!first) {
      for (int i = 0; i < 3; ++i) span.sync();
      out[threadIdx.x] = out[threadIdx.x - 32] + 1;
    }
  });
  for (size_t i = 0; i < 64; ++i) ASSERT_EQ(seen[i], i < 32 ? 1 : 2);
}

TEST(NcclCoop, coalesced_is_the_coop_itself_within_a_warp) {
  const auto seen = on_lanes<uint32_t>(32, [](uint32_t* out) {
    // covers: ncclCoopCoalesced(coop)
    out[threadIdx.x] = ncclCoopCoalesced(ncclCoopLanes(0xffffu)).lmask + ncclCoopCoalesced(ncclCoopTile<4>{}).size() +
                       ncclCoopCoalesced(ncclCoopCta{}).size();
  });
  for (const uint32_t value : seen) ASSERT_EQ(value, 0xffffu + 4 + 32);
}

}  // namespace
