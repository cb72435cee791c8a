// SPDX-License-Identifier: Apache-2.0
// Conversions and arithmetic with a named rounding, bit builtins, and what CUDA adds to <math.h>.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "cuda_runtime.h"

namespace {

TEST(CudaConversions, FloatToIntegerByDirection) {
  EXPECT_EQ(__float2int_rn(2.5f), 2);
  EXPECT_EQ(__float2int_rn(3.5f), 4);
  EXPECT_EQ(__float2int_rz(-2.9f), -2);
  EXPECT_EQ(__float2int_ru(-2.9f), -2);
  EXPECT_EQ(__float2int_rd(-2.1f), -3);
  EXPECT_EQ(__double2ll_rn(-4503599627370497.5), -4503599627370498ll);
}
TEST(CudaConversions, OutOfRangeSaturates) {
  EXPECT_EQ(__float2int_rz(3e9f), std::numeric_limits<int>::max());
  EXPECT_EQ(__float2int_rz(-3e9f), std::numeric_limits<int>::min());
  EXPECT_EQ(__float2uint_rz(-1.0f), 0u);
  EXPECT_EQ(__float2uint_rz(5e9f), ~0u);
  EXPECT_EQ(__float2ull_rz(2e19f), ~0ull);
  EXPECT_EQ(__float2int_rz(NAN), 0);
  EXPECT_EQ(__double2int_rz(2147483647.5), std::numeric_limits<int>::max());
}
TEST(CudaConversions, IntegerToFloatByDirection) {
  const int tie = (1 << 24) + 1;  // between two floats
  EXPECT_EQ(__int2float_rn(tie), 16777216.0f);
  EXPECT_EQ(__int2float_ru(tie), 16777218.0f);
  EXPECT_EQ(__int2float_rd(-tie), -16777218.0f);
  EXPECT_EQ(__int2float_rz(-tie), -16777216.0f);
  EXPECT_EQ(__ull2double_rd(~0ull), 18446744073709549568.0);
  EXPECT_EQ(__double2float_ru(1.0 + 1e-12), std::nextafter(1.0f, 2.0f));
}
TEST(CudaConversions, ArithmeticByDirection) {
  const float tiny = std::ldexp(1.0f, -60);
  EXPECT_EQ(__fadd_rn(1.0f, tiny), 1.0f);
  EXPECT_EQ(__fadd_ru(1.0f, tiny), std::nextafter(1.0f, 2.0f));
  EXPECT_EQ(__fsub_rd(1.0f, tiny), std::nextafter(1.0f, 0.0f));
  const double x = 1.0 + std::ldexp(1.0, -30);  // its square lies just above 1 + 2^-29
  EXPECT_EQ(__dmul_rz(x, x), 1.0 + std::ldexp(1.0, -29));
  EXPECT_EQ(__dmul_ru(x, x), 1.0 + std::ldexp(1.0, -29) + std::ldexp(1.0, -52));
  EXPECT_EQ(__fdiv_ru(1.0f, 3.0f) - __fdiv_rd(1.0f, 3.0f), std::ldexp(1.0f, -25));
  EXPECT_EQ(__fmaf_rn(1.0f + std::ldexp(1.0f, -12), 1.0f + std::ldexp(1.0f, -12), -1.0f),
            std::ldexp(1.0f, -11) + std::ldexp(1.0f, -24));
}

TEST(CudaBits, CountsAndPlaces) {
  EXPECT_EQ(__popc(0xf0f0u), 8);
  EXPECT_EQ(__popcll(~0ull), 64);
  EXPECT_EQ(__clz(0), 32);
  EXPECT_EQ(__clz(1), 31);
  EXPECT_EQ(__clzll(-1), 0);
  EXPECT_EQ(__ffs(0), 0);
  EXPECT_EQ(__ffs(8), 4);
  EXPECT_EQ(__ffsll(1ll << 40), 41);
  EXPECT_EQ(__brev(1u), 0x80000000u);
  EXPECT_EQ(__brevll(0x3ull), 0xc000000000000000ull);
}
TEST(CudaBits, BytesAndProducts) {
  EXPECT_EQ(__byte_perm(0x33221100u, 0x77665544u, 0x7410u), 0x77441100u);
  EXPECT_EQ(__byte_perm(0x00000080u, 0u, 0x0008u), 0x808080ffu);
  EXPECT_EQ(__funnelshift_l(0x80000000u, 1u, 1), 3u);
  EXPECT_EQ(__funnelshift_r(0x80000000u, 1u, 31), 3u);
  EXPECT_EQ(__umulhi(~0u, ~0u), 0xfffffffeu);
  EXPECT_EQ(__mul64hi(-1, 5), -1);
  EXPECT_EQ(__umul64hi(~0ull, 2), 1ull);
  EXPECT_EQ(__dp4a(0x01020304, static_cast<int>(0xff010101u), 10), 10 - 1 + 2 + 3 + 4);
  EXPECT_EQ(__hadd(std::numeric_limits<int>::max(), 1), 0x40000000);
  EXPECT_EQ(__float_as_uint(1.0f), 0x3f800000u);
  EXPECT_EQ(__hiloint2double(0x3ff00000, 0), 1.0);
}

TEST(CudaMath, MinAndMaxTakeMixtures) {
  EXPECT_EQ(min(3u, 5u), 3u);
  EXPECT_EQ(max(-1, 5), 5);
  EXPECT_EQ(max(-1, 5u), ~0u);  // the int becomes unsigned, as in CUDA
  EXPECT_EQ(min(1ull << 40, 7ull), 7ull);
  EXPECT_EQ(max(1.0f, NAN), 1.0f);
  EXPECT_EQ(max(1.0f, 2.5), 2.5);
}
TEST(CudaMath, RootsAndFastForms) {
  EXPECT_EQ(rsqrtf(4.0f), 0.5f);
  EXPECT_EQ(__fdividef(1.0f, 4.0f), 0.25f);
  EXPECT_EQ(__expf(0.0f), 1.0f);
  EXPECT_EQ(__saturatef(2.0f), 1.0f);
  EXPECT_EQ(__saturatef(NAN), 0.0f);
  EXPECT_EQ(sinpif(1.0f), 0.0f);
  EXPECT_EQ(cospi(0.5), 0.0);
  EXPECT_EQ(norm3d(2.0, 3.0, 6.0), 7.0);
}

}  // namespace
