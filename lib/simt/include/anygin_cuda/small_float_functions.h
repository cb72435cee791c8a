// SPDX-License-Identifier: Apache-2.0
// __hadd and its family, once for __half and __nv_bfloat16; the forms with a 2 work on both elements of a pair.
#pragma once

#include <cmath>

#include "anygin_cuda/small_float.h"

namespace anygin::simt {

// Clamped to [0, 1]; NaN gives 0.
template <typename T>
constexpr T unit_clamped(T value) {
  return value > T(0) ? (value < T(1) ? value : T(1)) : T(0);
}
template <typename T>
constexpr T multiply_add(T a, T b, T c) {
  return T::rounded_from(multiply_add_odd(a.wide(), b.wide(), c.wide()));
}
template <typename T>
constexpr bool is_nan(T value) {
  return value.wide() != value.wide();
}
template <typename T>
constexpr T relu(T value) {
  return is_nan(value) ? value : (value > T(0) ? value : T(0));
}
template <typename T>
constexpr T absolute(T value) {
  return T::from_bits(value.__x & 0x7fff);
}
// A NaN loses against a number; -0 is less than +0.
template <typename T>
constexpr T smaller(T a, T b) {
  if (is_nan(a)) return is_nan(b) ? T::from_bits(T::Format::kNan) : b;
  if (is_nan(b)) return a;
  return a < b || (a == b && (a.__x & 0x8000)) ? a : b;
}
template <typename T>
constexpr T larger(T a, T b) {
  if (is_nan(a)) return is_nan(b) ? T::from_bits(T::Format::kNan) : b;
  if (is_nan(b)) return a;
  return a > b || (a == b && !(a.__x & 0x8000)) ? a : b;
}
template <typename T>
constexpr T smaller_or_nan(T a, T b) {
  return is_nan(a) || is_nan(b) ? T::from_bits(T::Format::kNan) : smaller(a, b);
}
template <typename T>
constexpr T larger_or_nan(T a, T b) {
  return is_nan(a) || is_nan(b) ? T::from_bits(T::Format::kNan) : larger(a, b);
}

}  // namespace anygin::simt

// --- Arithmetic: one rounding, fused multiply-add too
// -------------------------------------------------------------------
template <typename T, anygin::simt::IfSmallFloat<T> = 0>
T __hadd(T a, anygin::simt::Same<T> b) {
  return a + b;
}
template <typename T, anygin::simt::IfSmallFloat<T> = 0>
T __hsub(T a, anygin::simt::Same<T> b) {
  return a - b;
}
template <typename T, anygin::simt::IfSmallFloat<T> = 0>
T __hmul(T a, anygin::simt::Same<T> b) {
  return a * b;
}
template <typename T, anygin::simt::IfSmallFloat<T> = 0>
T __hadd_rn(T a, anygin::simt::Same<T> b) {
  return a + b;
}
template <typename T, anygin::simt::IfSmallFloat<T> = 0>
T __hsub_rn(T a, anygin::simt::Same<T> b) {
  return a - b;
}
template <typename T, anygin::simt::IfSmallFloat<T> = 0>
T __hmul_rn(T a, anygin::simt::Same<T> b) {
  return a * b;
}
template <typename T, anygin::simt::IfSmallFloat<T> = 0>
T __hdiv(T a, anygin::simt::Same<T> b) {
  return a / b;
}
template <typename T, anygin::simt::IfSmallFloat<T> = 0>
T __hfma(T a, anygin::simt::Same<T> b, anygin::simt::Same<T> c) {
  return anygin::simt::multiply_add<T>(a, b, c);
}
template <typename T, anygin::simt::IfSmallFloat<T> = 0>
T __hadd_sat(T a, anygin::simt::Same<T> b) {
  return anygin::simt::unit_clamped<T>(a + b);
}
template <typename T, anygin::simt::IfSmallFloat<T> = 0>
T __hsub_sat(T a, anygin::simt::Same<T> b) {
  return anygin::simt::unit_clamped<T>(a - b);
}
template <typename T, anygin::simt::IfSmallFloat<T> = 0>
T __hmul_sat(T a, anygin::simt::Same<T> b) {
  return anygin::simt::unit_clamped<T>(a * b);
}
template <typename T, anygin::simt::IfSmallFloat<T> = 0>
T __hfma_sat(T a, anygin::simt::Same<T> b, anygin::simt::Same<T> c) {
  return anygin::simt::unit_clamped<T>(anygin::simt::multiply_add<T>(a, b, c));
}
template <typename T, anygin::simt::IfSmallFloat<T> = 0>
T __hfma_relu(T a, anygin::simt::Same<T> b, anygin::simt::Same<T> c) {
  return anygin::simt::relu<T>(anygin::simt::multiply_add<T>(a, b, c));
}
template <typename T, anygin::simt::IfSmallFloat<T> = 0>
T __hneg(T a) {
  return -a;
}
template <typename T, anygin::simt::IfSmallFloat<T> = 0>
T __habs(T a) {
  return anygin::simt::absolute(a);
}
template <typename T, anygin::simt::IfSmallFloat<T> = 0>
T __hmin(T a, anygin::simt::Same<T> b) {
  return anygin::simt::smaller<T>(a, b);
}
template <typename T, anygin::simt::IfSmallFloat<T> = 0>
T __hmax(T a, anygin::simt::Same<T> b) {
  return anygin::simt::larger<T>(a, b);
}
template <typename T, anygin::simt::IfSmallFloat<T> = 0>
T __hmin_nan(T a, anygin::simt::Same<T> b) {
  return anygin::simt::smaller_or_nan<T>(a, b);
}
template <typename T, anygin::simt::IfSmallFloat<T> = 0>
T __hmax_nan(T a, anygin::simt::Same<T> b) {
  return anygin::simt::larger_or_nan<T>(a, b);
}
template <typename V, anygin::simt::IfSmallPair<V> = 0>
V __hadd2(V a, anygin::simt::Same<V> b) {
  return {__hadd(a.x, b.x), __hadd(a.y, b.y)};
}
template <typename V, anygin::simt::IfSmallPair<V> = 0>
V __hsub2(V a, anygin::simt::Same<V> b) {
  return {__hsub(a.x, b.x), __hsub(a.y, b.y)};
}
template <typename V, anygin::simt::IfSmallPair<V> = 0>
V __hmul2(V a, anygin::simt::Same<V> b) {
  return {__hmul(a.x, b.x), __hmul(a.y, b.y)};
}
template <typename V, anygin::simt::IfSmallPair<V> = 0>
V __hadd2_rn(V a, anygin::simt::Same<V> b) {
  return {__hadd_rn(a.x, b.x), __hadd_rn(a.y, b.y)};
}
template <typename V, anygin::simt::IfSmallPair<V> = 0>
V __hsub2_rn(V a, anygin::simt::Same<V> b) {
  return {__hsub_rn(a.x, b.x), __hsub_rn(a.y, b.y)};
}
template <typename V, anygin::simt::IfSmallPair<V> = 0>
V __hmul2_rn(V a, anygin::simt::Same<V> b) {
  return {__hmul_rn(a.x, b.x), __hmul_rn(a.y, b.y)};
}
template <typename V, anygin::simt::IfSmallPair<V> = 0>
V __h2div(V a, anygin::simt::Same<V> b) {
  return {__hdiv(a.x, b.x), __hdiv(a.y, b.y)};
}
template <typename V, anygin::simt::IfSmallPair<V> = 0>
V __hfma2(V a, anygin::simt::Same<V> b, anygin::simt::Same<V> c) {
  return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
}
template <typename V, anygin::simt::IfSmallPair<V> = 0>
V __hadd2_sat(V a, anygin::simt::Same<V> b) {
  return {__hadd_sat(a.x, b.x), __hadd_sat(a.y, b.y)};
}
template <typename V, anygin::simt::IfSmallPair<V> = 0>
V __hsub2_sat(V a, anygin::simt::Same<V> b) {
  return {__hsub_sat(a.x, b.x), __hsub_sat(a.y, b.y)};
}
template <typename V, anygin::simt::IfSmallPair<V> = 0>
V __hmul2_sat(V a, anygin::simt::Same<V> b) {
  return {__hmul_sat(a.x, b.x), __hmul_sat(a.y, b.y)};
}
template <typename V, anygin::simt::IfSmallPair<V> = 0>
V __hfma2_sat(V a, anygin::simt::Same<V> b, anygin::simt::Same<V> c) {
  return {__hfma_sat(a.x, b.x, c.x), __hfma_sat(a.y, b.y, c.y)};
}
template <typename V, anygin::simt::IfSmallPair<V> = 0>
V __hfma2_relu(V a, anygin::simt::Same<V> b, anygin::simt::Same<V> c) {
  return {__hfma_relu(a.x, b.x, c.x), __hfma_relu(a.y, b.y, c.y)};
}
template <typename V, anygin::simt::IfSmallPair<V> = 0>
V __hneg2(V a) {
  return {__hneg(a.x), __hneg(a.y)};
}
template <typename V, anygin::simt::IfSmallPair<V> = 0>
V __habs2(V a) {
  return {__habs(a.x), __habs(a.y)};
}
template <typename V, anygin::simt::IfSmallPair<V> = 0>
V __hmin2(V a, anygin::simt::Same<V> b) {
  return {__hmin(a.x, b.x), __hmin(a.y, b.y)};
}
template <typename V, anygin::simt::IfSmallPair<V> = 0>
V __hmax2(V a, anygin::simt::Same<V> b) {
  return {__hmax(a.x, b.x), __hmax(a.y, b.y)};
}
template <typename V, anygin::simt::IfSmallPair<V> = 0>
V __hmin2_nan(V a, anygin::simt::Same<V> b) {
  return {__hmin_nan(a.x, b.x), __hmin_nan(a.y, b.y)};
}
template <typename V, anygin::simt::IfSmallPair<V> = 0>
V __hmax2_nan(V a, anygin::simt::Same<V> b) {
  return {__hmax_nan(a.x, b.x), __hmax_nan(a.y, b.y)};
}

// --- Comparisons: false for NaN; the forms with a u true
// -----------------------------------------------------------------
template <typename T, anygin::simt::IfSmallFloat<T> = 0>
bool __heq(T a, anygin::simt::Same<T> b) {
  return a.wide() == b.wide();
}
template <typename T, anygin::simt::IfSmallFloat<T> = 0>
bool __hequ(T a, anygin::simt::Same<T> b) {
  return anygin::simt::is_nan(a) || anygin::simt::is_nan<T>(b) || a.wide() == b.wide();
}
template <typename T, anygin::simt::IfSmallFloat<T> = 0>
bool __hne(T a, anygin::simt::Same<T> b) {
  return a.wide() < b.wide() || a.wide() > b.wide();
}
template <typename T, anygin::simt::IfSmallFloat<T> = 0>
bool __hneu(T a, anygin::simt::Same<T> b) {
  return anygin::simt::is_nan(a) || anygin::simt::is_nan<T>(b) || a.wide() != b.wide();
}
template <typename T, anygin::simt::IfSmallFloat<T> = 0>
bool __hlt(T a, anygin::simt::Same<T> b) {
  return a.wide() < b.wide();
}
template <typename T, anygin::simt::IfSmallFloat<T> = 0>
bool __hltu(T a, anygin::simt::Same<T> b) {
  return anygin::simt::is_nan(a) || anygin::simt::is_nan<T>(b) || a.wide() < b.wide();
}
template <typename T, anygin::simt::IfSmallFloat<T> = 0>
bool __hle(T a, anygin::simt::Same<T> b) {
  return a.wide() <= b.wide();
}
template <typename T, anygin::simt::IfSmallFloat<T> = 0>
bool __hleu(T a, anygin::simt::Same<T> b) {
  return anygin::simt::is_nan(a) || anygin::simt::is_nan<T>(b) || a.wide() <= b.wide();
}
template <typename T, anygin::simt::IfSmallFloat<T> = 0>
bool __hgt(T a, anygin::simt::Same<T> b) {
  return a.wide() > b.wide();
}
template <typename T, anygin::simt::IfSmallFloat<T> = 0>
bool __hgtu(T a, anygin::simt::Same<T> b) {
  return anygin::simt::is_nan(a) || anygin::simt::is_nan<T>(b) || a.wide() > b.wide();
}
template <typename T, anygin::simt::IfSmallFloat<T> = 0>
bool __hge(T a, anygin::simt::Same<T> b) {
  return a.wide() >= b.wide();
}
template <typename T, anygin::simt::IfSmallFloat<T> = 0>
bool __hgeu(T a, anygin::simt::Same<T> b) {
  return anygin::simt::is_nan(a) || anygin::simt::is_nan<T>(b) || a.wide() >= b.wide();
}
template <typename T, anygin::simt::IfSmallFloat<T> = 0>
bool __hisnan(T a) {
  return anygin::simt::is_nan(a);
}
template <typename T, anygin::simt::IfSmallFloat<T> = 0>
int __hisinf(T a) {
  return (a.__x & 0x7fff) != T::Format::kInfinity ? 0 : (a.__x & 0x8000) ? -1 : 1;
}
// Elementwise, 1 or 0; __hb...: both elements.
template <typename V, anygin::simt::IfSmallPair<V> = 0>
V __heq2(V a, anygin::simt::Same<V> b) {
  return {__heq(a.x, b.x), __heq(a.y, b.y)};
}
template <typename V, anygin::simt::IfSmallPair<V> = 0>
bool __hbeq2(V a, anygin::simt::Same<V> b) {
  return __heq(a.x, b.x) && __heq(a.y, b.y);
}
template <typename V, anygin::simt::IfSmallPair<V> = 0>
V __hequ2(V a, anygin::simt::Same<V> b) {
  return {__hequ(a.x, b.x), __hequ(a.y, b.y)};
}
template <typename V, anygin::simt::IfSmallPair<V> = 0>
bool __hbequ2(V a, anygin::simt::Same<V> b) {
  return __hequ(a.x, b.x) && __hequ(a.y, b.y);
}
template <typename V, anygin::simt::IfSmallPair<V> = 0>
V __hne2(V a, anygin::simt::Same<V> b) {
  return {__hne(a.x, b.x), __hne(a.y, b.y)};
}
template <typename V, anygin::simt::IfSmallPair<V> = 0>
bool __hbne2(V a, anygin::simt::Same<V> b) {
  return __hne(a.x, b.x) && __hne(a.y, b.y);
}
template <typename V, anygin::simt::IfSmallPair<V> = 0>
V __hneu2(V a, anygin::simt::Same<V> b) {
  return {__hneu(a.x, b.x), __hneu(a.y, b.y)};
}
template <typename V, anygin::simt::IfSmallPair<V> = 0>
bool __hbneu2(V a, anygin::simt::Same<V> b) {
  return __hneu(a.x, b.x) && __hneu(a.y, b.y);
}
template <typename V, anygin::simt::IfSmallPair<V> = 0>
V __hlt2(V a, anygin::simt::Same<V> b) {
  return {__hlt(a.x, b.x), __hlt(a.y, b.y)};
}
template <typename V, anygin::simt::IfSmallPair<V> = 0>
bool __hblt2(V a, anygin::simt::Same<V> b) {
  return __hlt(a.x, b.x) && __hlt(a.y, b.y);
}
template <typename V, anygin::simt::IfSmallPair<V> = 0>
V __hltu2(V a, anygin::simt::Same<V> b) {
  return {__hltu(a.x, b.x), __hltu(a.y, b.y)};
}
template <typename V, anygin::simt::IfSmallPair<V> = 0>
bool __hbltu2(V a, anygin::simt::Same<V> b) {
  return __hltu(a.x, b.x) && __hltu(a.y, b.y);
}
template <typename V, anygin::simt::IfSmallPair<V> = 0>
V __hle2(V a, anygin::simt::Same<V> b) {
  return {__hle(a.x, b.x), __hle(a.y, b.y)};
}
template <typename V, anygin::simt::IfSmallPair<V> = 0>
bool __hble2(V a, anygin::simt::Same<V> b) {
  return __hle(a.x, b.x) && __hle(a.y, b.y);
}
template <typename V, anygin::simt::IfSmallPair<V> = 0>
V __hleu2(V a, anygin::simt::Same<V> b) {
  return {__hleu(a.x, b.x), __hleu(a.y, b.y)};
}
template <typename V, anygin::simt::IfSmallPair<V> = 0>
bool __hbleu2(V a, anygin::simt::Same<V> b) {
  return __hleu(a.x, b.x) && __hleu(a.y, b.y);
}
template <typename V, anygin::simt::IfSmallPair<V> = 0>
V __hgt2(V a, anygin::simt::Same<V> b) {
  return {__hgt(a.x, b.x), __hgt(a.y, b.y)};
}
template <typename V, anygin::simt::IfSmallPair<V> = 0>
bool __hbgt2(V a, anygin::simt::Same<V> b) {
  return __hgt(a.x, b.x) && __hgt(a.y, b.y);
}
template <typename V, anygin::simt::IfSmallPair<V> = 0>
V __hgtu2(V a, anygin::simt::Same<V> b) {
  return {__hgtu(a.x, b.x), __hgtu(a.y, b.y)};
}
template <typename V, anygin::simt::IfSmallPair<V> = 0>
bool __hbgtu2(V a, anygin::simt::Same<V> b) {
  return __hgtu(a.x, b.x) && __hgtu(a.y, b.y);
}
template <typename V, anygin::simt::IfSmallPair<V> = 0>
V __hge2(V a, anygin::simt::Same<V> b) {
  return {__hge(a.x, b.x), __hge(a.y, b.y)};
}
template <typename V, anygin::simt::IfSmallPair<V> = 0>
bool __hbge2(V a, anygin::simt::Same<V> b) {
  return __hge(a.x, b.x) && __hge(a.y, b.y);
}
template <typename V, anygin::simt::IfSmallPair<V> = 0>
V __hgeu2(V a, anygin::simt::Same<V> b) {
  return {__hgeu(a.x, b.x), __hgeu(a.y, b.y)};
}
template <typename V, anygin::simt::IfSmallPair<V> = 0>
bool __hbgeu2(V a, anygin::simt::Same<V> b) {
  return __hgeu(a.x, b.x) && __hgeu(a.y, b.y);
}
template <typename V, anygin::simt::IfSmallPair<V> = 0>
V __hisnan2(V a) {
  return {__hisnan(a.x), __hisnan(a.y)};
}

// --- Functions: computed in double, rounded once
// -------------------------------------------------------------------------
template <typename T, anygin::simt::IfSmallFloat<T> = 0>
T hsqrt(T a) {
  return T::rounded_from(std::sqrt(a.wide()));
}
template <typename V, anygin::simt::IfSmallPair<V> = 0>
V h2sqrt(V a) {
  return {hsqrt(a.x), hsqrt(a.y)};
}
template <typename T, anygin::simt::IfSmallFloat<T> = 0>
T hrsqrt(T a) {
  return T::rounded_from(1.0 / std::sqrt(a.wide()));
}
template <typename V, anygin::simt::IfSmallPair<V> = 0>
V h2rsqrt(V a) {
  return {hrsqrt(a.x), hrsqrt(a.y)};
}
template <typename T, anygin::simt::IfSmallFloat<T> = 0>
T hrcp(T a) {
  return T::rounded_from(1.0 / a.wide());
}
template <typename V, anygin::simt::IfSmallPair<V> = 0>
V h2rcp(V a) {
  return {hrcp(a.x), hrcp(a.y)};
}
template <typename T, anygin::simt::IfSmallFloat<T> = 0>
T hexp(T a) {
  return T::rounded_from(std::exp(a.wide()));
}
template <typename V, anygin::simt::IfSmallPair<V> = 0>
V h2exp(V a) {
  return {hexp(a.x), hexp(a.y)};
}
template <typename T, anygin::simt::IfSmallFloat<T> = 0>
T hexp2(T a) {
  return T::rounded_from(std::exp2(a.wide()));
}
template <typename V, anygin::simt::IfSmallPair<V> = 0>
V h2exp2(V a) {
  return {hexp2(a.x), hexp2(a.y)};
}
template <typename T, anygin::simt::IfSmallFloat<T> = 0>
T hexp10(T a) {
  return T::rounded_from(std::pow(10.0, a.wide()));
}
template <typename V, anygin::simt::IfSmallPair<V> = 0>
V h2exp10(V a) {
  return {hexp10(a.x), hexp10(a.y)};
}
template <typename T, anygin::simt::IfSmallFloat<T> = 0>
T hlog(T a) {
  return T::rounded_from(std::log(a.wide()));
}
template <typename V, anygin::simt::IfSmallPair<V> = 0>
V h2log(V a) {
  return {hlog(a.x), hlog(a.y)};
}
template <typename T, anygin::simt::IfSmallFloat<T> = 0>
T hlog2(T a) {
  return T::rounded_from(std::log2(a.wide()));
}
template <typename V, anygin::simt::IfSmallPair<V> = 0>
V h2log2(V a) {
  return {hlog2(a.x), hlog2(a.y)};
}
template <typename T, anygin::simt::IfSmallFloat<T> = 0>
T hlog10(T a) {
  return T::rounded_from(std::log10(a.wide()));
}
template <typename V, anygin::simt::IfSmallPair<V> = 0>
V h2log10(V a) {
  return {hlog10(a.x), hlog10(a.y)};
}
template <typename T, anygin::simt::IfSmallFloat<T> = 0>
T hsin(T a) {
  return T::rounded_from(std::sin(a.wide()));
}
template <typename V, anygin::simt::IfSmallPair<V> = 0>
V h2sin(V a) {
  return {hsin(a.x), hsin(a.y)};
}
template <typename T, anygin::simt::IfSmallFloat<T> = 0>
T hcos(T a) {
  return T::rounded_from(std::cos(a.wide()));
}
template <typename V, anygin::simt::IfSmallPair<V> = 0>
V h2cos(V a) {
  return {hcos(a.x), hcos(a.y)};
}
template <typename T, anygin::simt::IfSmallFloat<T> = 0>
T htanh(T a) {
  return T::rounded_from(std::tanh(a.wide()));
}
template <typename V, anygin::simt::IfSmallPair<V> = 0>
V h2tanh(V a) {
  return {htanh(a.x), htanh(a.y)};
}
template <typename T, anygin::simt::IfSmallFloat<T> = 0>
T hceil(T a) {
  return T::rounded_from(std::ceil(a.wide()));
}
template <typename V, anygin::simt::IfSmallPair<V> = 0>
V h2ceil(V a) {
  return {hceil(a.x), hceil(a.y)};
}
template <typename T, anygin::simt::IfSmallFloat<T> = 0>
T hfloor(T a) {
  return T::rounded_from(std::floor(a.wide()));
}
template <typename V, anygin::simt::IfSmallPair<V> = 0>
V h2floor(V a) {
  return {hfloor(a.x), hfloor(a.y)};
}
template <typename T, anygin::simt::IfSmallFloat<T> = 0>
T htrunc(T a) {
  return T::rounded_from(std::trunc(a.wide()));
}
template <typename V, anygin::simt::IfSmallPair<V> = 0>
V h2trunc(V a) {
  return {htrunc(a.x), htrunc(a.y)};
}
template <typename T, anygin::simt::IfSmallFloat<T> = 0>
T hrint(T a) {
  return T::rounded_from(std::nearbyint(a.wide()));
}
template <typename V, anygin::simt::IfSmallPair<V> = 0>
V h2rint(V a) {
  return {hrint(a.x), hrint(a.y)};
}
