// SPDX-License-Identifier: Apache-2.0
// hsqrt and its family for __half and __nv_bfloat16: computed in double, rounded once.
#pragma once

#include <cmath>

#include "anygin_cuda/small_float.h"

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
