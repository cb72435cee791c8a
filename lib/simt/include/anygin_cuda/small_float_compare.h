// SPDX-License-Identifier: Apache-2.0
// Comparisons of __half and __nv_bfloat16: false for NaN; the forms with a u true.
#pragma once

#include "anygin_cuda/small_float_arithmetic.h"

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
