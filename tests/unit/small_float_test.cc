// SPDX-License-Identifier: Apache-2.0
// Conversions of __half and __nv_bfloat16 over all 65,536 patterns and around every rounding boundary, against a
// reference that knows only the definition: the number is sign * fraction * 2^exponent, and the nearest wins.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "cuda_bf16.h"
#include "cuda_fp16.h"

namespace {

struct Definition {
  int exponent_bits, fraction_bits;
  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  unsigned infinity() const { return ((1u << exponent_bits) - 1) << fraction_bits; }
  // Of a finite pattern without sign; one past the largest gives the number that would follow it.
  double value(unsigned magnitude) const {
    const int field = static_cast<int>(magnitude >> fraction_bits);
    const double fraction = magnitude & ((1u << fraction_bits) - 1);
    const double unit_count = field == 0 ? fraction : fraction + (1 << fraction_bits);
    return std::ldexp(unit_count, (field == 0 ? 1 : field) - bias() - fraction_bits);
  }
};
constexpr Definition kHalf{5, 10};
constexpr Definition kBrain{8, 7};

unsigned bits(__half v) {
  return __half_as_ushort(v);
}
unsigned bits(__nv_bfloat16 v) {
  return __bfloat16_as_ushort(v);
}
template <typename T>
T from_bits(unsigned pattern) {
  if constexpr (std::is_same_v<T, __half>)
    return __ushort_as_half(static_cast<unsigned short>(pattern));
  else
    return __ushort_as_bfloat16(static_cast<unsigned short>(pattern));
}

template <typename T>
void every_pattern_decodes(const Definition& format) {
  for (unsigned pattern = 0; pattern < 65536; ++pattern) {
    const float value = from_bits<T>(pattern);
    const unsigned magnitude = pattern & 0x7fff;
    const bool negative = pattern >> 15;
    if (magnitude > format.infinity()) {
      ASSERT_TRUE(std::isnan(value)) << pattern;
    } else if (magnitude == format.infinity()) {
      ASSERT_EQ(value, negative ? -INFINITY : INFINITY) << pattern;
    } else {
      ASSERT_EQ(value, (negative ? -1.0 : 1.0) * format.value(magnitude)) << pattern;
      ASSERT_EQ(std::signbit(value), negative) << pattern;
    }
  }
}

template <typename T>
void every_pattern_survives_a_round_trip(const Definition& format) {
  for (unsigned pattern = 0; pattern < 65536; ++pattern) {
    const bool nan = (pattern & 0x7fff) > format.infinity();
    ASSERT_EQ(bits(T(static_cast<float>(from_bits<T>(pattern)))), nan ? 0x7fffu : pattern);
  }
}

struct Rounded {
  unsigned nearest, zero, up, down;
};
template <typename T>
Rounded rounded(float value) {
  if constexpr (std::is_same_v<T, __half>) {
    return {bits(__float2half_rn(value)), bits(__float2half_rz(value)), bits(__float2half_ru(value)),
            bits(__float2half_rd(value))};
  } else {
    return {bits(__float2bfloat16_rn(value)), bits(__float2bfloat16_rz(value)), bits(__float2bfloat16_ru(value)),
            bits(__float2bfloat16_rd(value))};
  }
}

// Between each pattern and the next lie a tie and its float neighbours.
template <typename T>
void every_boundary_rounds(const Definition& format) {
  for (unsigned low = 0; low < format.infinity(); ++low) {
    const unsigned high = low + 1;
    const auto tie = static_cast<float>((format.value(low) + format.value(high)) / 2);
    // bfloat16: halfway above the smallest subnormals and below infinity still is a float.
    ASSERT_EQ(tie, (format.value(low) + format.value(high)) / 2);
    const unsigned even = low % 2 == 0 ? low : high;
    for (unsigned sign : {0u, 0x8000u}) {
      const float s = sign ? -1.0f : 1.0f;
      const Rounded at_tie = rounded<T>(s * tie);
      ASSERT_EQ(at_tie.nearest, sign | even) << low;
      ASSERT_EQ(rounded<T>(s * std::nextafter(tie, 0.0f)).nearest, sign | low) << low;
      ASSERT_EQ(rounded<T>(s * std::nextafter(tie, INFINITY)).nearest, sign | high) << low;
      ASSERT_EQ(at_tie.zero, sign | low) << low;
      ASSERT_EQ(at_tie.up, sign ? sign | low : high) << low;
      ASSERT_EQ(at_tie.down, sign ? sign | high : low) << low;
    }
  }
}

TEST(SmallFloat, EveryPatternDecodes) {
  every_pattern_decodes<__half>(kHalf);
  every_pattern_decodes<__nv_bfloat16>(kBrain);
}
TEST(SmallFloat, EveryPatternSurvivesARoundTrip) {
  every_pattern_survives_a_round_trip<__half>(kHalf);
  every_pattern_survives_a_round_trip<__nv_bfloat16>(kBrain);
}
TEST(SmallFloat, EveryHalfBoundaryRounds) {
  every_boundary_rounds<__half>(kHalf);
}
TEST(SmallFloat, EveryBfloat16BoundaryRounds) {
  every_boundary_rounds<__nv_bfloat16>(kBrain);
}

TEST(SmallFloat, OverflowGoesToInfinityOrToTheLargest) {
  EXPECT_EQ(bits(__float2half_rn(65520.0f)), 0x7c00u);  // the tie between 65504 and 65536
  EXPECT_EQ(bits(__float2half_rn(65519.996f)), 0x7bffu);
  EXPECT_EQ(bits(__float2half_rz(1e10f)), 0x7bffu);
  EXPECT_EQ(bits(__float2half_rd(1e10f)), 0x7bffu);
  EXPECT_EQ(bits(__float2half_rd(-1e10f)), 0xfc00u);
  EXPECT_EQ(bits(__float2half_ru(-1e10f)), 0xfbffu);
  EXPECT_EQ(bits(__float2half_rz(INFINITY)), 0x7c00u);
  EXPECT_EQ(bits(__float2bfloat16_rn(std::numeric_limits<float>::max())), 0x7f80u);
  EXPECT_EQ(bits(__float2bfloat16_rz(std::numeric_limits<float>::max())), 0x7f7fu);
}

TEST(SmallFloat, WhatUnderflowsKeepsItsSign) {
  EXPECT_EQ(bits(__float2half_rn(-1e-10f)), 0x8000u);
  EXPECT_EQ(bits(__float2half_ru(1e-10f)), 0x0001u);
  EXPECT_EQ(bits(__float2half_rd(-1e-10f)), 0x8001u);
  EXPECT_EQ(bits(__double2half(std::numeric_limits<double>::denorm_min())), 0x0000u);
}

// Through float first, 1 + 2^-11 + 2^-40 would become a tie.
TEST(SmallFloat, DoubleRoundsOnce) {
  EXPECT_EQ(bits(__double2half(1.0 + std::ldexp(1.0, -11) + std::ldexp(1.0, -40))), 0x3c01u);
  EXPECT_EQ(bits(__double2half(1.0 + std::ldexp(1.0, -11))), 0x3c00u);
  EXPECT_EQ(bits(__double2bfloat16(1.0 + std::ldexp(1.0, -8) + std::ldexp(1.0, -50))), 0x3f81u);
}

// 2^62 + 2^54 is a tie of bfloat16; one more is not, and does not fit a double.
TEST(SmallFloat, LongIntegersRoundOnce) {
  const long long tie = (1ll << 62) + (1ll << 54);
  EXPECT_EQ(bits(__ll2bfloat16_rn(tie)), 0x5e80u);
  EXPECT_EQ(bits(__ll2bfloat16_rn(tie + 1)), 0x5e81u);
  EXPECT_EQ(bits(__ll2bfloat16_rn(-tie - 1)), 0xde81u);
  EXPECT_EQ(bits(__nv_bfloat16(tie + 1)), 0x5e81u);
  EXPECT_EQ(bits(__ull2bfloat16_rz(~0ull)), 0x5f7fu);
  EXPECT_EQ(bits(__int2half_rn(2049)), 0x6800u);  // a tie: 2048
  EXPECT_EQ(bits(__int2half_rn(2051)), 0x6802u);  // a tie: 2052
}

TEST(SmallFloat, ToIntegersSaturates) {
  EXPECT_EQ(__half2int_rn(__half(2.5f)), 2);
  EXPECT_EQ(__half2int_rz(__half(-2.75f)), -2);
  EXPECT_EQ(__half2int_ru(__half(2.25f)), 3);
  EXPECT_EQ(__half2int_rd(__half(-2.25f)), -3);
  EXPECT_EQ(__half2short_rz(__half(65504.0f)), 32767);
  EXPECT_EQ(__half2ushort_rz(__half(-1.0f)), 0);
  EXPECT_EQ(__bfloat162int_rz(__nv_bfloat16(1e30f)), std::numeric_limits<int>::max());
  EXPECT_EQ(__half2int_rz(__half(NAN)), 0);
}

// Used in unions and copied as bytes.
static_assert(sizeof(__half) == 2 && alignof(__half) == 2 && std::is_trivially_copyable_v<__half>);
static_assert(sizeof(__half2) == 4 && alignof(__half2) == 4 && std::is_trivially_copyable_v<__half2>);
static_assert(sizeof(__nv_bfloat162) == 4 && alignof(__nv_bfloat162) == 4);
static_assert(std::is_trivially_default_constructible_v<__half>);

}  // namespace
