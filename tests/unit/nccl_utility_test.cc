// SPDX-License-Identifier: Apache-2.0
// nccl::utility (contract 1.4) and rolling comparison (P13).
#include <gtest/gtest.h>
#include <nccl_device.h>

#include <type_traits>

#include "unit/lane_builtins.h"

namespace {

using namespace nccl::utility;

template <typename Uint>
void expect_rolling(int bits) {
  const uint64_t mask = ~uint64_t{0} >> (64 - bits);
  const uint64_t half = uint64_t{1} << (bits - 1);
  const uint64_t starts[] = {0, 1, half - 1, half, mask - 1, mask};
  const uint64_t steps[] = {0, 1, half - 1, half, half + 1, mask};
  for (const uint64_t start : starts) {
    for (const uint64_t step : steps) {
      const uint64_t value = (start + step) & mask;
      const bool reached = step < half;  // P13
      EXPECT_EQ(rollingLessEq<Uint>(static_cast<Uint>(start), static_cast<Uint>(value), bits), reached)
          << start << " + " << step << " at " << bits;
      EXPECT_EQ(rollingLessThan<Uint>(static_cast<Uint>(value), static_cast<Uint>(start), bits), !reached);
      EXPECT_EQ(anygin::rolling_reached(start, value, bits), reached) << start << " + " << step << " at " << bits;
    }
  }
}

TEST(NcclUtility, P13_comparison_rolls_at_every_width) {
  for (const int bits : {8, 32, 56, 64}) expect_rolling<uint64_t>(bits);
  expect_rolling<uint32_t>(32);
  expect_rolling<uint32_t>(8);
  expect_rolling<uint8_t>(8);
}

TEST(NcclUtility, P13_bits_beyond_the_width_do_not_count) {
  EXPECT_TRUE(anygin::rolling_reached(0x1234567800000005, 0x0000000000000006, 32));
  EXPECT_FALSE(anygin::rolling_reached(0x06, 0xff05, 8));
}

TEST(NcclUtility, integers) {
  EXPECT_EQ(divUp(7, 4), 2);
  EXPECT_EQ(divUp(8, 4), 2);
  EXPECT_EQ(roundUp(7, 4), 8);
  EXPECT_EQ(roundUp(8, 4), 8);
  EXPECT_EQ(roundDown(7, 4), 4);
  EXPECT_EQ(alignUp(uint32_t{129}, 128), 256u);
  EXPECT_EQ(alignDown(size_t{255}, 128), 128u);
  EXPECT_TRUE(isPow2(64));
  EXPECT_FALSE(isPow2(48));
  EXPECT_EQ(add4G(uint64_t{5}, 3), 5 + (uint64_t{3} << 32));
  EXPECT_EQ(add4G(uint64_t{5} << 32, -1), uint64_t{4} << 32);
  EXPECT_EQ(mul32hi(0xffffffffu, 0xffffffffu), 0xfffffffeu);
  EXPECT_EQ(mul64hi(~uint64_t{0}, ~uint64_t{0}), ~uint64_t{0} - 1);
  EXPECT_EQ(mul64hi(0x123456789abcdef0, 0x0fedcba987654321), 0x121fa00ad77d742u);
}

TEST(NcclUtility, division_by_reciprocal_is_division) {
  EXPECT_EQ(idivRcp32(1), 0u);
  EXPECT_EQ(idivRcp32(2), 0x80000000u);
  EXPECT_EQ(idivRcp32(3), 0x55555555u);
  EXPECT_EQ(idivRcp64(1), 0u);
  const uint64_t numbers[] = {0, 1, 2, 3, 7, 63, 64, 65, 1000, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff};
  for (const uint64_t y : numbers) {
    if (y == 0) continue;
    const auto y32 = static_cast<uint32_t>(y);
    for (const uint64_t x : numbers) {
      const auto x32 = static_cast<uint32_t>(x);
      EXPECT_EQ(idivFast32(x32, y32, idivRcp32(y32)), x32 / y32) << x << " / " << y;
      EXPECT_EQ(imodFast32(x32, y32, idivRcp32(y32)), x32 % y32) << x << " % " << y;
      const uint64_t wide = x << 32 | x;
      EXPECT_EQ(idivFast64(wide, y, idivRcp64(y)), wide / y) << wide << " / " << y;
      EXPECT_EQ(imodFast64(wide, y, idivRcp64(y)), wide % y) << wide << " % " << y;
    }
  }
}

TEST(NcclUtility, quotient_and_remainder_at_once_and_reciprocals_of_products) {
  uint32_t q32 = 0, r32 = 0;
  idivmodFast32(&q32, &r32, 1000u, 7u, idivRcp32(7u));
  EXPECT_EQ(q32, 142u);
  EXPECT_EQ(r32, 6u);
  uint64_t q64 = 0, r64 = 0;
  idivmodFast64(&q64, &r64, uint64_t{1} << 40, uint64_t{10}, idivRcp64(10));
  EXPECT_EQ(q64, 109951162777u);
  EXPECT_EQ(r64, 6u);
  EXPECT_EQ(imulRcp32(6, idivRcp32(6), 7, idivRcp32(7)), idivRcp32(42));
  EXPECT_EQ(imulRcp64(6, idivRcp64(6), 7, idivRcp64(7)), idivRcp64(42));
  for (int x = 1; x <= 64; ++x) {
    EXPECT_EQ(idivRcp32_upto64(x), idivRcp32(static_cast<uint32_t>(x)));
    EXPECT_EQ(idivRcp64_upto64(x), idivRcp64(static_cast<uint64_t>(x)));
  }
}

TEST(NcclUtility, loads_stores_and_zeros) {
  uint64_t word = 0;
  for (const cuda::thread_scope scope :
       {cuda::thread_scope_thread, cuda::thread_scope_block, cuda::thread_scope_device, cuda::thread_scope_system}) {
    atomicStore(&word, word + 5, cuda::memory_order_release, scope);
    EXPECT_EQ(atomicLoad(&word, cuda::memory_order_acquire, scope), word);
  }
  EXPECT_EQ(word, 20u);
  EXPECT_EQ(loadConst(&word), 20u);
  EXPECT_EQ(opaqueZero(), 0);
}

TEST(NcclUtility, lanes_and_those_below) {
  const auto seen = anygin::test::on_lanes<uint64_t>(
      64, [](uint64_t* out) { out[threadIdx.x] = static_cast<uint64_t>(lane()) << 32 | lanemask_lt(); });
  for (uint64_t t = 0; t < 64; ++t) EXPECT_EQ(seen[t], (t % 32) << 32 | ((uint64_t{1} << (t % 32)) - 1));
}

TEST(NcclUtility, types) {
  EXPECT_TRUE((std::is_same_v<decltype(declval<int&>()), int&>));
  EXPECT_FALSE((always_false<int, char>::value));
  EXPECT_EQ((ValueAsType<int, 7>::value), 7);
  EXPECT_TRUE((std::is_same_v<decltype(present(5, 'x')), Present<int, char>>));
  const int five = 5;
  const Present<const int&> one = present(five);
  EXPECT_EQ(&one.arg, &five);
}

TEST(NcclUtility, orders_split_into_acquire_and_release) {
  EXPECT_EQ(acquireOrderOf(cuda::memory_order_release), cuda::memory_order_relaxed);
  EXPECT_EQ(acquireOrderOf(cuda::memory_order_acq_rel), cuda::memory_order_acquire);
  EXPECT_EQ(acquireOrderOf(cuda::memory_order_seq_cst), cuda::memory_order_seq_cst);
  EXPECT_EQ(releaseOrderOf(cuda::memory_order_acquire), cuda::memory_order_relaxed);
  EXPECT_EQ(releaseOrderOf(cuda::memory_order_acq_rel), cuda::memory_order_release);
  EXPECT_EQ(releaseOrderOf(cuda::memory_order_relaxed), cuda::memory_order_relaxed);
}

TEST(NcclUtility, the_abort_word_is_looked_at_every_10000th_time) {
  uint32_t word = 1, steps = 0;
  int calls = 1;
  while (!testAbort(&word, steps)) ++calls;
  EXPECT_EQ(calls, 10000);
  EXPECT_EQ(steps, 0u);
}

struct Counted {
  static inline int alive = 0;
  const int& number;
  int sum;
  Counted(const int& n, int a, int b) : number(n), sum(a + b) { ++alive; }
  ~Counted() { --alive; }
  Counted(const Counted&) = delete;
};

TEST(NcclUtility, an_optional_makes_its_value_in_place_and_once) {
  const int outside = 5;
  {
    Optional<Counted> there(present(outside, 2, 3));
    Optional<Counted> none(Absent{});
    EXPECT_TRUE(there.present());
    EXPECT_FALSE(none.present());
    EXPECT_EQ(&there.value().number, &outside);
    EXPECT_EQ(there.value().sum, 5);
    EXPECT_EQ(Counted::alive, 1);
  }
  EXPECT_EQ(Counted::alive, 0);
}

}  // namespace
