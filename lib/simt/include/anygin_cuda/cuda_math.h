// SPDX-License-Identifier: Apache-2.0
// What CUDA adds to <math.h> in device code: min and max overloads, the reciprocal roots, the fast forms (__expf: here
// as exact as libm), conversions and arithmetic that name their rounding.
#pragma once

#include <math.h>

#include <cfenv>
#include <cmath>
#include <cstdlib>

#include "anygin_cuda/cuda_bits.h"

// --- min and max: CUDA has them for every mixture of arithmetic types ------------------------------------------------
inline int min(int x, int y) {
  return x < y ? x : y;
}
inline int max(int x, int y) {
  return x > y ? x : y;
}
inline unsigned min(unsigned x, unsigned y) {
  return x < y ? x : y;
}
inline unsigned max(unsigned x, unsigned y) {
  return x > y ? x : y;
}
inline unsigned min(int x, unsigned y) {
  return static_cast<unsigned>(x) < y ? static_cast<unsigned>(x) : y;
}
inline unsigned max(int x, unsigned y) {
  return static_cast<unsigned>(x) > y ? static_cast<unsigned>(x) : y;
}
inline unsigned min(unsigned x, int y) {
  return x < static_cast<unsigned>(y) ? x : static_cast<unsigned>(y);
}
inline unsigned max(unsigned x, int y) {
  return x > static_cast<unsigned>(y) ? x : static_cast<unsigned>(y);
}
inline long min(long x, long y) {
  return x < y ? x : y;
}
inline long max(long x, long y) {
  return x > y ? x : y;
}
inline unsigned long min(unsigned long x, unsigned long y) {
  return x < y ? x : y;
}
inline unsigned long max(unsigned long x, unsigned long y) {
  return x > y ? x : y;
}
inline unsigned long min(long x, unsigned long y) {
  return static_cast<unsigned long>(x) < y ? static_cast<unsigned long>(x) : y;
}
inline unsigned long max(long x, unsigned long y) {
  return static_cast<unsigned long>(x) > y ? static_cast<unsigned long>(x) : y;
}
inline unsigned long min(unsigned long x, long y) {
  return x < static_cast<unsigned long>(y) ? x : static_cast<unsigned long>(y);
}
inline unsigned long max(unsigned long x, long y) {
  return x > static_cast<unsigned long>(y) ? x : static_cast<unsigned long>(y);
}
inline long long min(long long x, long long y) {
  return x < y ? x : y;
}
inline long long max(long long x, long long y) {
  return x > y ? x : y;
}
inline unsigned long long min(unsigned long long x, unsigned long long y) {
  return x < y ? x : y;
}
inline unsigned long long max(unsigned long long x, unsigned long long y) {
  return x > y ? x : y;
}
inline unsigned long long min(long long x, unsigned long long y) {
  return static_cast<unsigned long long>(x) < y ? static_cast<unsigned long long>(x) : y;
}
inline unsigned long long max(long long x, unsigned long long y) {
  return static_cast<unsigned long long>(x) > y ? static_cast<unsigned long long>(x) : y;
}
inline unsigned long long min(unsigned long long x, long long y) {
  return x < static_cast<unsigned long long>(y) ? x : static_cast<unsigned long long>(y);
}
inline unsigned long long max(unsigned long long x, long long y) {
  return x > static_cast<unsigned long long>(y) ? x : static_cast<unsigned long long>(y);
}
inline float min(float x, float y) {
  return fminf(static_cast<float>(x), static_cast<float>(y));
}
inline float max(float x, float y) {
  return fmaxf(static_cast<float>(x), static_cast<float>(y));
}
inline double min(double x, double y) {
  return fmin(static_cast<double>(x), static_cast<double>(y));
}
inline double max(double x, double y) {
  return fmax(static_cast<double>(x), static_cast<double>(y));
}
inline double min(float x, double y) {
  return fmin(static_cast<double>(x), static_cast<double>(y));
}
inline double max(float x, double y) {
  return fmax(static_cast<double>(x), static_cast<double>(y));
}
inline double min(double x, float y) {
  return fmin(static_cast<double>(x), static_cast<double>(y));
}
inline double max(double x, float y) {
  return fmax(static_cast<double>(x), static_cast<double>(y));
}
inline unsigned umin(unsigned x, unsigned y) {
  return min(x, y);
}
inline unsigned umax(unsigned x, unsigned y) {
  return max(x, y);
}

// --- Functions that <math.h> lacks
// -------------------------------------------------------------------------------------
inline float rsqrtf(float x) {
  return 1.0f / sqrtf(x);
}
inline float rcbrtf(float x) {
  return 1.0f / cbrtf(x);
}
// sin and cos of pi times x, exact at multiples of a half.
inline float sinpif(float x) {
  const double r = std::remainder(static_cast<double>(x), 2.0);
  return static_cast<float>(r == 1.0 || r == -1.0 ? 0.0 : std::sin(3.14159265358979323846 * r));
}
inline float cospif(float x) {
  const double r = std::remainder(static_cast<double>(x), 2.0);
  return static_cast<float>(r == 0.5 || r == -0.5 ? 0.0 : std::cos(3.14159265358979323846 * r));
}
inline void sincospif(float x, float* sine, float* cosine) {
  *sine = sinpif(x);
  *cosine = cospif(x);
}
inline float rhypotf(float x, float y) {
  return 1.0f / hypotf(x, y);
}
inline float norm3df(float x, float y, float z) {
  return std::hypot(x, y, z);
}
inline float rnorm3df(float x, float y, float z) {
  return 1.0f / std::hypot(x, y, z);
}
inline float normcdff(float x) {
  return static_cast<float>(0.5 * std::erfc(-static_cast<double>(x) * 0.70710678118654752440));
}
inline double rsqrt(double x) {
  return 1.0 / sqrt(x);
}
inline double rcbrt(double x) {
  return 1.0 / cbrt(x);
}
// sin and cos of pi times x, exact at multiples of a half.
inline double sinpi(double x) {
  const double r = std::remainder(static_cast<double>(x), 2.0);
  return static_cast<double>(r == 1.0 || r == -1.0 ? 0.0 : std::sin(3.14159265358979323846 * r));
}
inline double cospi(double x) {
  const double r = std::remainder(static_cast<double>(x), 2.0);
  return static_cast<double>(r == 0.5 || r == -0.5 ? 0.0 : std::cos(3.14159265358979323846 * r));
}
inline void sincospi(double x, double* sine, double* cosine) {
  *sine = sinpi(x);
  *cosine = cospi(x);
}
inline double rhypot(double x, double y) {
  return 1.0 / hypot(x, y);
}
inline double norm3d(double x, double y, double z) {
  return std::hypot(x, y, z);
}
inline double rnorm3d(double x, double y, double z) {
  return 1.0 / std::hypot(x, y, z);
}
inline double normcdf(double x) {
  return static_cast<double>(0.5 * std::erfc(-static_cast<double>(x) * 0.70710678118654752440));
}
inline float rsqrt(float x) {
  return rsqrtf(x);
}

// --- Fast forms. glibc declares some of these names; the definitions here follow its declarations
// ----------------------
inline float __expf(float x) noexcept {
  return expf(x);
}
inline float __exp10f(float x) noexcept {
  return static_cast<float>(std::pow(10.0, static_cast<double>(x)));
}
inline float __logf(float x) noexcept {
  return logf(x);
}
inline float __log2f(float x) noexcept {
  return log2f(x);
}
inline float __log10f(float x) noexcept {
  return log10f(x);
}
inline float __sinf(float x) noexcept {
  return sinf(x);
}
inline float __cosf(float x) noexcept {
  return cosf(x);
}
inline float __tanf(float x) noexcept {
  return tanf(x);
}
inline float __tanhf(float x) noexcept {
  return tanhf(x);
}
inline float __powf(float x, float y) noexcept {
  return powf(x, y);
}
inline void __sincosf(float x, float* sine, float* cosine) noexcept {
  *sine = sinf(x);
  *cosine = cosf(x);
}
inline float __fdividef(float x, float y) {
  return x / y;
}
inline float fdividef(float x, float y) {
  return x / y;
}
inline float __saturatef(float x) {
  return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f;  // NaN gives 0
}

// --- Arithmetic with a named rounding
// ----------------------------------------------------------------------------------
namespace anygin::simt {

// Evaluates with the processor's rounding set; the barriers keep the compiler from moving the operation out.
template <typename T, typename F>
T rounded(int mode, T x, T y, T z, F operation) {
  const int before = std::fegetround();
  std::fesetround(mode);
  volatile T a = x, b = y, c = z;
  volatile T result = operation(a, b, c);
  std::fesetround(before);
  return result;
}

}  // namespace anygin::simt

inline float __fadd_rn(float x, float y) {
  return x + y;
}
inline float __fadd_rz(float x, float y) {
  return anygin::simt::rounded(FE_TOWARDZERO, x, y, x, [](float a, float b, float) { return a + b; });
}
inline float __fadd_ru(float x, float y) {
  return anygin::simt::rounded(FE_UPWARD, x, y, x, [](float a, float b, float) { return a + b; });
}
inline float __fadd_rd(float x, float y) {
  return anygin::simt::rounded(FE_DOWNWARD, x, y, x, [](float a, float b, float) { return a + b; });
}
inline float __fsub_rn(float x, float y) {
  return x - y;
}
inline float __fsub_rz(float x, float y) {
  return anygin::simt::rounded(FE_TOWARDZERO, x, y, x, [](float a, float b, float) { return a - b; });
}
inline float __fsub_ru(float x, float y) {
  return anygin::simt::rounded(FE_UPWARD, x, y, x, [](float a, float b, float) { return a - b; });
}
inline float __fsub_rd(float x, float y) {
  return anygin::simt::rounded(FE_DOWNWARD, x, y, x, [](float a, float b, float) { return a - b; });
}
inline float __fmul_rn(float x, float y) {
  return x * y;
}
inline float __fmul_rz(float x, float y) {
  return anygin::simt::rounded(FE_TOWARDZERO, x, y, x, [](float a, float b, float) { return a * b; });
}
inline float __fmul_ru(float x, float y) {
  return anygin::simt::rounded(FE_UPWARD, x, y, x, [](float a, float b, float) { return a * b; });
}
inline float __fmul_rd(float x, float y) {
  return anygin::simt::rounded(FE_DOWNWARD, x, y, x, [](float a, float b, float) { return a * b; });
}
inline float __fdiv_rn(float x, float y) {
  return x / y;
}
inline float __fdiv_rz(float x, float y) {
  return anygin::simt::rounded(FE_TOWARDZERO, x, y, x, [](float a, float b, float) { return a / b; });
}
inline float __fdiv_ru(float x, float y) {
  return anygin::simt::rounded(FE_UPWARD, x, y, x, [](float a, float b, float) { return a / b; });
}
inline float __fdiv_rd(float x, float y) {
  return anygin::simt::rounded(FE_DOWNWARD, x, y, x, [](float a, float b, float) { return a / b; });
}
inline float __frcp_rn(float x) {
  return 1.0f / x;
}
inline float __frcp_rz(float x) {
  return anygin::simt::rounded(FE_TOWARDZERO, x, x, x, [](float a, float, float) { return 1.0f / a; });
}
inline float __frcp_ru(float x) {
  return anygin::simt::rounded(FE_UPWARD, x, x, x, [](float a, float, float) { return 1.0f / a; });
}
inline float __frcp_rd(float x) {
  return anygin::simt::rounded(FE_DOWNWARD, x, x, x, [](float a, float, float) { return 1.0f / a; });
}
inline float __fsqrt_rn(float x) {
  return sqrtf(x);
}
inline float __fsqrt_rz(float x) {
  return anygin::simt::rounded(FE_TOWARDZERO, x, x, x, [](float a, float, float) { return sqrtf(a); });
}
inline float __fsqrt_ru(float x) {
  return anygin::simt::rounded(FE_UPWARD, x, x, x, [](float a, float, float) { return sqrtf(a); });
}
inline float __fsqrt_rd(float x) {
  return anygin::simt::rounded(FE_DOWNWARD, x, x, x, [](float a, float, float) { return sqrtf(a); });
}
inline float __fmaf_rn(float x, float y, float z) {
  return fmaf(x, y, z);
}
inline float __fmaf_rz(float x, float y, float z) {
  return anygin::simt::rounded(FE_TOWARDZERO, x, y, z, [](float a, float b, float c) { return fmaf(a, b, c); });
}
inline float __fmaf_ru(float x, float y, float z) {
  return anygin::simt::rounded(FE_UPWARD, x, y, z, [](float a, float b, float c) { return fmaf(a, b, c); });
}
inline float __fmaf_rd(float x, float y, float z) {
  return anygin::simt::rounded(FE_DOWNWARD, x, y, z, [](float a, float b, float c) { return fmaf(a, b, c); });
}
inline double __dadd_rn(double x, double y) {
  return x + y;
}
inline double __dadd_rz(double x, double y) {
  return anygin::simt::rounded(FE_TOWARDZERO, x, y, x, [](double a, double b, double) { return a + b; });
}
inline double __dadd_ru(double x, double y) {
  return anygin::simt::rounded(FE_UPWARD, x, y, x, [](double a, double b, double) { return a + b; });
}
inline double __dadd_rd(double x, double y) {
  return anygin::simt::rounded(FE_DOWNWARD, x, y, x, [](double a, double b, double) { return a + b; });
}
inline double __dsub_rn(double x, double y) {
  return x - y;
}
inline double __dsub_rz(double x, double y) {
  return anygin::simt::rounded(FE_TOWARDZERO, x, y, x, [](double a, double b, double) { return a - b; });
}
inline double __dsub_ru(double x, double y) {
  return anygin::simt::rounded(FE_UPWARD, x, y, x, [](double a, double b, double) { return a - b; });
}
inline double __dsub_rd(double x, double y) {
  return anygin::simt::rounded(FE_DOWNWARD, x, y, x, [](double a, double b, double) { return a - b; });
}
inline double __dmul_rn(double x, double y) {
  return x * y;
}
inline double __dmul_rz(double x, double y) {
  return anygin::simt::rounded(FE_TOWARDZERO, x, y, x, [](double a, double b, double) { return a * b; });
}
inline double __dmul_ru(double x, double y) {
  return anygin::simt::rounded(FE_UPWARD, x, y, x, [](double a, double b, double) { return a * b; });
}
inline double __dmul_rd(double x, double y) {
  return anygin::simt::rounded(FE_DOWNWARD, x, y, x, [](double a, double b, double) { return a * b; });
}
inline double __ddiv_rn(double x, double y) {
  return x / y;
}
inline double __ddiv_rz(double x, double y) {
  return anygin::simt::rounded(FE_TOWARDZERO, x, y, x, [](double a, double b, double) { return a / b; });
}
inline double __ddiv_ru(double x, double y) {
  return anygin::simt::rounded(FE_UPWARD, x, y, x, [](double a, double b, double) { return a / b; });
}
inline double __ddiv_rd(double x, double y) {
  return anygin::simt::rounded(FE_DOWNWARD, x, y, x, [](double a, double b, double) { return a / b; });
}
inline double __drcp_rn(double x) {
  return 1.0 / x;
}
inline double __drcp_rz(double x) {
  return anygin::simt::rounded(FE_TOWARDZERO, x, x, x, [](double a, double, double) { return 1.0 / a; });
}
inline double __drcp_ru(double x) {
  return anygin::simt::rounded(FE_UPWARD, x, x, x, [](double a, double, double) { return 1.0 / a; });
}
inline double __drcp_rd(double x) {
  return anygin::simt::rounded(FE_DOWNWARD, x, x, x, [](double a, double, double) { return 1.0 / a; });
}
inline double __dsqrt_rn(double x) {
  return sqrt(x);
}
inline double __dsqrt_rz(double x) {
  return anygin::simt::rounded(FE_TOWARDZERO, x, x, x, [](double a, double, double) { return sqrt(a); });
}
inline double __dsqrt_ru(double x) {
  return anygin::simt::rounded(FE_UPWARD, x, x, x, [](double a, double, double) { return sqrt(a); });
}
inline double __dsqrt_rd(double x) {
  return anygin::simt::rounded(FE_DOWNWARD, x, x, x, [](double a, double, double) { return sqrt(a); });
}
inline double __fma_rn(double x, double y, double z) {
  return fma(x, y, z);
}
inline double __fma_rz(double x, double y, double z) {
  return anygin::simt::rounded(FE_TOWARDZERO, x, y, z, [](double a, double b, double c) { return fma(a, b, c); });
}
inline double __fma_ru(double x, double y, double z) {
  return anygin::simt::rounded(FE_UPWARD, x, y, z, [](double a, double b, double c) { return fma(a, b, c); });
}
inline double __fma_rd(double x, double y, double z) {
  return anygin::simt::rounded(FE_DOWNWARD, x, y, z, [](double a, double b, double c) { return fma(a, b, c); });
}
inline float __frsqrt_rn(float x) {
  return static_cast<float>(1.0 / std::sqrt(static_cast<double>(x)));
}
