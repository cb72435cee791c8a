// SPDX-License-Identifier: Apache-2.0
// Arithmetic of __half and __nv_bfloat16: one rounding of the exact result, with CUDA's rules for NaN.
#include <gtest/gtest.h>

#include <cmath>

#include "cuda_bf16.h"
#include "cuda_fp16.h"

namespace {

using Bits = unsigned short;
Bits bits(__half v) {
  return __half_as_ushort(v);
}
Bits bits(__nv_bfloat16 v) {
  return __bfloat16_as_ushort(v);
}
__half half_of(Bits pattern) {
  return __ushort_as_half(pattern);
}

// A fixed walk through patterns; neighbours differ in all bits.
Bits walk(unsigned step) {
  return static_cast<Bits>(step * 40503u + (step >> 3) * 7919u);
}

__extension__ typedef __float128 Quad;  // 113 bits: holds every a * b + c of halves exactly

Quad distance(Quad a, Quad b) {
  return a > b ? a - b : b - a;
}

// No neighbour of `result` is nearer to `exact`; at equal distance `result` is the even one.
bool is_nearest(__half result, Quad exact) {
  const Quad error = distance(static_cast<float>(result), exact);
  for (int step : {-1, 1}) {
    const Bits magnitude = bits(result) & 0x7fff;
    if (magnitude == 0 && step < 0) continue;
    const __half neighbour = half_of(static_cast<Bits>((bits(result) & 0x8000) | (magnitude + step)));
    const Quad other = distance(static_cast<float>(neighbour), exact);
    if (other < error || (other == error && (magnitude & 1))) return false;
  }
  return true;
}

TEST(SmallFloatFunctions, HalfResultsAreTheNearestToTheExactOnes) {
  int checked = 0;
  for (unsigned step = 0; step < 300000; ++step) {
    const __half a = half_of(walk(step)), b = half_of(walk(step * 3 + 1)), c = half_of(walk(step * 7 + 2));
    const Quad wide_a = static_cast<float>(a), wide_b = static_cast<float>(b), wide_c = static_cast<float>(c);
    const Quad exact = wide_a * wide_b + wide_c;
    if (!(distance(exact, 0) < 65000) || !(distance(wide_a, wide_b) < 65000)) continue;
    ASSERT_TRUE(is_nearest(__hfma(a, b, c), exact)) << bits(a) << " " << bits(b) << " " << bits(c);
    ASSERT_TRUE(is_nearest(a - b, wide_a - wide_b)) << bits(a) << " " << bits(b);
    if (distance(wide_a * wide_b, 0) < 65000) {
      ASSERT_TRUE(is_nearest(a * b, wide_a * wide_b));
    }
    ++checked;
  }
  EXPECT_GT(checked, 50000);
}

// 2^-120 is far below the last bit that a double keeps of 1.5 + 2^-7 + 2^-8, which is a tie.
TEST(SmallFloatFunctions, FusedMultiplyAddSeesWhatIsFarBelowATie) {
  const __nv_bfloat16 tiny(std::ldexp(1.0f, -120)), one_and_bit(1.0f + std::ldexp(1.0f, -7));
  // (1 + 2^-7) * (1 + 2^-7) = 1 + 2^-6 + 2^-14: 2^-14 is below half a unit (2^-8).
  EXPECT_EQ(bits(__hfma(one_and_bit, one_and_bit, __nv_bfloat16(0.0f))), 0x3f82);
  // 1.5 * (1 + 2^-7) = 1.5 + 2^-7 + 2^-8: a tie between ...c1 and ...c2; the addend decides.
  const __nv_bfloat16 one_and_half(1.5f);
  EXPECT_EQ(bits(__hfma(one_and_half, one_and_bit, __nv_bfloat16(0.0f))), 0x3fc2);
  EXPECT_EQ(bits(__hfma(one_and_half, one_and_bit, tiny)), 0x3fc2);
  EXPECT_EQ(bits(__hfma(one_and_half, one_and_bit, -tiny)), 0x3fc1);
}

TEST(SmallFloatFunctions, MinAndMaxPreferNumbers) {
  const __half nan(NAN), one(1.0f), minus_zero(-0.0f), zero(0.0f);
  EXPECT_EQ(bits(__hmin(nan, one)), 0x3c00);
  EXPECT_EQ(bits(__hmax(one, nan)), 0x3c00);
  EXPECT_EQ(bits(__hmax(nan, nan)), 0x7fff);
  EXPECT_EQ(bits(__hmin_nan(nan, one)), 0x7fff);
  EXPECT_EQ(bits(__hmin(zero, minus_zero)), 0x8000);
  EXPECT_EQ(bits(__hmax(minus_zero, zero)), 0x0000);
}

TEST(SmallFloatFunctions, ComparisonsWithNan) {
  const __half nan(NAN), one(1.0f), two(2.0f);
  EXPECT_TRUE(__hlt(one, two));
  EXPECT_FALSE(__hlt(nan, two));
  EXPECT_TRUE(__hltu(nan, two));
  EXPECT_FALSE(__hne(nan, two));
  EXPECT_TRUE(__hneu(nan, two));
  EXPECT_TRUE(nan != nan);
  EXPECT_TRUE(__hisnan(nan));
  EXPECT_EQ(__hisinf(__half(-INFINITY)), -1);
  EXPECT_EQ(__hisinf(one), 0);
}

TEST(SmallFloatFunctions, SaturatedResultsStayInTheUnitInterval) {
  const __half three(3.0f), minus(-1.0f), quarter(0.25f);
  EXPECT_EQ(bits(__hadd_sat(three, minus)), 0x3c00);
  EXPECT_EQ(bits(__hmul_sat(three, minus)), 0x0000);
  EXPECT_EQ(bits(__hmul_sat(quarter, quarter)), 0x2c00);
  EXPECT_EQ(bits(__hadd_sat(__half(NAN), minus)), 0x0000);
  EXPECT_EQ(bits(__hfma_relu(three, minus, quarter)), 0x0000);
}

TEST(SmallFloatFunctions, PairsWorkElementwise) {
  const __half2 a = __floats2half2_rn(1.0f, -2.0f), b = __floats2half2_rn(3.0f, 5.0f);
  EXPECT_EQ(__low2float(__hadd2(a, b)), 4.0f);
  EXPECT_EQ(__high2float(__hmul2(a, b)), -10.0f);
  EXPECT_EQ(__high2float(__hfma2(a, b, b)), -5.0f);
  EXPECT_EQ(__low2float(__hmax2(a, b)), 3.0f);
  EXPECT_EQ(__low2float(__hgt2(b, a)), 1.0f);
  EXPECT_TRUE(__hbgt2(b, a));
  EXPECT_FALSE(__hblt2(b, a));
  EXPECT_EQ(__low2float(__lowhigh2highlow(a)), -2.0f);
  const float2 back = __half22float2(a);
  EXPECT_EQ(back.x, 1.0f);
  EXPECT_EQ(back.y, -2.0f);
  const __nv_bfloat162 c = __float22bfloat162_rn(float2{0.5f, 4.0f});
  EXPECT_EQ(__high2float(c * c), 16.0f);
  EXPECT_EQ(bits(__low2bfloat16(c)), 0x3f00);
}

TEST(SmallFloatFunctions, OperatorsAssign) {
  __half x = 1.0f;
  x += __half(2.0f);
  x *= __half(4.0f);
  EXPECT_EQ(static_cast<float>(x), 12.0f);
  EXPECT_EQ(static_cast<float>(x--), 12.0f);
  EXPECT_EQ(static_cast<float>(-x), -11.0f);
  EXPECT_EQ(static_cast<float>(hsqrt(__half(9.0f))), 3.0f);
  EXPECT_EQ(static_cast<float>(hrint(__half(2.5f))), 2.0f);
}

}  // namespace
