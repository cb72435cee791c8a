// SPDX-License-Identifier: Apache-2.0
// The 8-bit formats over all 256 patterns, every rounding boundary and both ways to overflow.
#include <gtest/gtest.h>

#include <cmath>

#include "cuda_fp8.h"

namespace {

struct Definition {
  __nv_fp8_interpretation_t kind;
  int fraction_bits, bias;
  unsigned largest;  // pattern of the largest number

  double value(unsigned magnitude) const {
    const int field = static_cast<int>(magnitude >> fraction_bits);
    const double fraction = magnitude & ((1u << fraction_bits) - 1);
    return std::ldexp(field == 0 ? fraction : fraction + (1 << fraction_bits),
                      (field == 0 ? 1 : field) - bias - fraction_bits);
  }
};
constexpr Definition kE4m3{__NV_E4M3, 3, 7, 0x7e};
constexpr Definition kE5m2{__NV_E5M2, 2, 15, 0x7b};

class Fp8 : public testing::TestWithParam<Definition> {
 protected:
  unsigned encode(double value, __nv_saturation_t saturate) const {
    return __nv_cvt_double_to_fp8(value, saturate, GetParam().kind);
  }
  float decode(unsigned pattern) const {
    return static_cast<float>(
        __half(__nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(pattern), GetParam().kind)));
  }
};

TEST_P(Fp8, EveryNumberDecodesAndSurvivesARoundTrip) {
  for (unsigned pattern = 0; pattern < 256; ++pattern) {
    const unsigned magnitude = pattern & 0x7f;
    if (magnitude > GetParam().largest) continue;
    const double wanted = (pattern & 0x80 ? -1.0 : 1.0) * GetParam().value(magnitude);
    EXPECT_EQ(decode(pattern), wanted) << pattern;
    EXPECT_EQ(encode(decode(pattern), __NV_NOSAT), pattern);
    EXPECT_EQ(encode(decode(pattern), __NV_SATFINITE), pattern);
  }
}

TEST_P(Fp8, EveryBoundaryRoundsToNearestEven) {
  for (unsigned low = 0; low < GetParam().largest; ++low) {
    const double tie = (GetParam().value(low) + GetParam().value(low + 1)) / 2;
    for (unsigned sign : {0u, 0x80u}) {
      const double s = sign ? -1.0 : 1.0;
      EXPECT_EQ(encode(s * tie, __NV_SATFINITE), sign | (low + low % 2)) << low;
      EXPECT_EQ(encode(s * std::nextafter(tie, 0.0), __NV_SATFINITE), sign | low) << low;
      EXPECT_EQ(encode(s * std::nextafter(tie, INFINITY), __NV_SATFINITE), sign | (low + 1)) << low;
    }
  }
}

TEST_P(Fp8, NanIsCanonical) {
  EXPECT_EQ(encode(NAN, __NV_SATFINITE), 0x7fu);
  EXPECT_EQ(encode(-NAN, __NV_NOSAT), 0x7fu);
  EXPECT_TRUE(std::isnan(decode(0x7f)));
  EXPECT_TRUE(std::isnan(decode(0xff)));
}

INSTANTIATE_TEST_SUITE_P(Formats, Fp8, testing::Values(kE4m3, kE5m2),
                         [](const auto& one) { return one.param.kind == __NV_E4M3 ? "e4m3" : "e5m2"; });

TEST(Fp8Overflow, SaturatesOrLeavesTheNumbers) {
  const auto e4m3 = [](double v, __nv_saturation_t s) { return __nv_cvt_double_to_fp8(v, s, __NV_E4M3); };
  const auto e5m2 = [](double v, __nv_saturation_t s) { return __nv_cvt_double_to_fp8(v, s, __NV_E5M2); };
  EXPECT_EQ(e4m3(464.0, __NV_NOSAT), 0x7e);  // the tie above 448 goes down, to even
  EXPECT_EQ(e4m3(464.1, __NV_NOSAT), 0x7f);  // no infinity: NaN
  EXPECT_EQ(e4m3(-1e9, __NV_NOSAT), 0xff);
  EXPECT_EQ(e4m3(-1e9, __NV_SATFINITE), 0xfe);
  EXPECT_EQ(e4m3(INFINITY, __NV_SATFINITE), 0x7e);
  EXPECT_EQ(e5m2(61440.0, __NV_NOSAT), 0x7c);  // the tie above 57344 goes up, to even: infinity
  EXPECT_EQ(e5m2(61439.0, __NV_NOSAT), 0x7b);
  EXPECT_EQ(e5m2(1e9, __NV_SATFINITE), 0x7b);
  EXPECT_EQ(e5m2(-INFINITY, __NV_NOSAT), 0xfc);
}

TEST(Fp8Types, ConvertAloneAndInGroups) {
  EXPECT_EQ(static_cast<float>(__nv_fp8_e4m3(1000.0f)), 448.0f);
  EXPECT_EQ(static_cast<float>(__nv_fp8_e5m2(__half(3.0f))), 3.0f);
  EXPECT_EQ(__nv_fp8_e4m3(1.0f).__x, 0x38);
  const __nv_fp8x2_e4m3 two(float2{1.0f, -2.0f});
  EXPECT_EQ(two.__x, 0xc038);
  EXPECT_EQ(static_cast<float2>(two).y, -2.0f);
  const __nv_fp8x4_e5m2 four(float4{1.0f, 2.0f, -4.0f, 0.5f});
  const auto back = static_cast<float4>(four);
  EXPECT_EQ(back.x, 1.0f);
  EXPECT_EQ(back.y, 2.0f);
  EXPECT_EQ(back.z, -4.0f);
  EXPECT_EQ(back.w, 0.5f);
  static_assert(sizeof(__nv_fp8_e4m3) == 1 && sizeof(two) == 2 && sizeof(four) == 4);
}

}  // namespace
