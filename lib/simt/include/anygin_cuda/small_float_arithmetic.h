// SPDX-License-Identifier: Apache-2.0
// __hadd and its family, once for __half and __nv_bfloat16: one rounding, fused multiply-add too. The forms with a 2
// work on both elements of a pair.
#pragma once

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
