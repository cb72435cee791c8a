// SPDX-License-Identifier: Apache-2.0
// __half and __half2: IEEE binary16.
// Conversions round to nearest even unless their name says otherwise; NaN becomes the canonical NaN. Host and device.
#pragma once

#ifdef __cplusplus

#include "anygin_cuda/number_bits.h"
#include "anygin_cuda/small_float_functions.h"
#include "vector_types.h"

#endif

#include "anygin_cuda/cuda_mode.h"

typedef struct __half_raw {
  unsigned short x;
} __half_raw;
typedef struct __half2_raw {
  unsigned short x, y;
} __half2_raw;

#ifdef __cplusplus

struct __half : anygin::simt::SmallFloat<__half, anygin::simt::Binary16> {
  using SmallFloat::SmallFloat;
  __half() = default;
  constexpr __half(const __half_raw& bits) : SmallFloat() { __x = bits.x; }
  constexpr operator __half_raw() const { return __half_raw{__x}; }
};
struct __half2 : anygin::simt::SmallPair<__half2, __half> {
  using SmallPair::SmallPair;
  __half2() = default;
  constexpr __half2(const __half2_raw& bits) : SmallPair(__half::from_bits(bits.x), __half::from_bits(bits.y)) {}
  constexpr operator __half2_raw() const { return __half2_raw{x.__x, y.__x}; }
};
using half = __half;
using __nv_half = __half;
using nv_half = __half;
using half2 = __half2;
using __nv_half2 = __half2;
using nv_half2 = __half2;

// --- Scalars ---------------------------------------------------------------------------------------------------------
inline __half __float2half(float value) {
  return __half::rounded_from(value);
}
inline __half __double2half(double value) {
  return __half::rounded_from(value);
}
inline __half __float2half_rn(float value) {
  return __half::rounded_from(value, anygin::simt::Rounding::kNearestEven);
}
inline __half __float2half_rz(float value) {
  return __half::rounded_from(value, anygin::simt::Rounding::kTowardZero);
}
inline __half __float2half_ru(float value) {
  return __half::rounded_from(value, anygin::simt::Rounding::kUp);
}
inline __half __float2half_rd(float value) {
  return __half::rounded_from(value, anygin::simt::Rounding::kDown);
}
inline float __half2float(__half value) {
  return value;
}
inline __half __short2half_rn(short value) {
  return __half::rounded_from(anygin::simt::sticky_double(value), anygin::simt::Rounding::kNearestEven);
}
inline short __half2short_rn(__half value) {
  return anygin::simt::saturated<short>(std::nearbyint(value.wide()), short{0});
}
inline __half __short2half_rz(short value) {
  return __half::rounded_from(anygin::simt::sticky_double(value), anygin::simt::Rounding::kTowardZero);
}
inline short __half2short_rz(__half value) {
  return anygin::simt::saturated<short>(std::trunc(value.wide()), short{0});
}
inline __half __short2half_ru(short value) {
  return __half::rounded_from(anygin::simt::sticky_double(value), anygin::simt::Rounding::kUp);
}
inline short __half2short_ru(__half value) {
  return anygin::simt::saturated<short>(std::ceil(value.wide()), short{0});
}
inline __half __short2half_rd(short value) {
  return __half::rounded_from(anygin::simt::sticky_double(value), anygin::simt::Rounding::kDown);
}
inline short __half2short_rd(__half value) {
  return anygin::simt::saturated<short>(std::floor(value.wide()), short{0});
}
inline __half __ushort2half_rn(unsigned short value) {
  return __half::rounded_from(anygin::simt::sticky_double(value), anygin::simt::Rounding::kNearestEven);
}
inline unsigned short __half2ushort_rn(__half value) {
  return anygin::simt::saturated<unsigned short>(std::nearbyint(value.wide()), static_cast<unsigned short>(0));
}
inline __half __ushort2half_rz(unsigned short value) {
  return __half::rounded_from(anygin::simt::sticky_double(value), anygin::simt::Rounding::kTowardZero);
}
inline unsigned short __half2ushort_rz(__half value) {
  return anygin::simt::saturated<unsigned short>(std::trunc(value.wide()), static_cast<unsigned short>(0));
}
inline __half __ushort2half_ru(unsigned short value) {
  return __half::rounded_from(anygin::simt::sticky_double(value), anygin::simt::Rounding::kUp);
}
inline unsigned short __half2ushort_ru(__half value) {
  return anygin::simt::saturated<unsigned short>(std::ceil(value.wide()), static_cast<unsigned short>(0));
}
inline __half __ushort2half_rd(unsigned short value) {
  return __half::rounded_from(anygin::simt::sticky_double(value), anygin::simt::Rounding::kDown);
}
inline unsigned short __half2ushort_rd(__half value) {
  return anygin::simt::saturated<unsigned short>(std::floor(value.wide()), static_cast<unsigned short>(0));
}
inline __half __int2half_rn(int value) {
  return __half::rounded_from(anygin::simt::sticky_double(value), anygin::simt::Rounding::kNearestEven);
}
inline int __half2int_rn(__half value) {
  return anygin::simt::saturated<int>(std::nearbyint(value.wide()), int{0});
}
inline __half __int2half_rz(int value) {
  return __half::rounded_from(anygin::simt::sticky_double(value), anygin::simt::Rounding::kTowardZero);
}
inline int __half2int_rz(__half value) {
  return anygin::simt::saturated<int>(std::trunc(value.wide()), int{0});
}
inline __half __int2half_ru(int value) {
  return __half::rounded_from(anygin::simt::sticky_double(value), anygin::simt::Rounding::kUp);
}
inline int __half2int_ru(__half value) {
  return anygin::simt::saturated<int>(std::ceil(value.wide()), int{0});
}
inline __half __int2half_rd(int value) {
  return __half::rounded_from(anygin::simt::sticky_double(value), anygin::simt::Rounding::kDown);
}
inline int __half2int_rd(__half value) {
  return anygin::simt::saturated<int>(std::floor(value.wide()), int{0});
}
inline __half __uint2half_rn(unsigned value) {
  return __half::rounded_from(anygin::simt::sticky_double(value), anygin::simt::Rounding::kNearestEven);
}
inline unsigned __half2uint_rn(__half value) {
  return anygin::simt::saturated<unsigned>(std::nearbyint(value.wide()), unsigned{0});
}
inline __half __uint2half_rz(unsigned value) {
  return __half::rounded_from(anygin::simt::sticky_double(value), anygin::simt::Rounding::kTowardZero);
}
inline unsigned __half2uint_rz(__half value) {
  return anygin::simt::saturated<unsigned>(std::trunc(value.wide()), unsigned{0});
}
inline __half __uint2half_ru(unsigned value) {
  return __half::rounded_from(anygin::simt::sticky_double(value), anygin::simt::Rounding::kUp);
}
inline unsigned __half2uint_ru(__half value) {
  return anygin::simt::saturated<unsigned>(std::ceil(value.wide()), unsigned{0});
}
inline __half __uint2half_rd(unsigned value) {
  return __half::rounded_from(anygin::simt::sticky_double(value), anygin::simt::Rounding::kDown);
}
inline unsigned __half2uint_rd(__half value) {
  return anygin::simt::saturated<unsigned>(std::floor(value.wide()), unsigned{0});
}
inline __half __ll2half_rn(long long value) {
  return __half::rounded_from(anygin::simt::sticky_double(value), anygin::simt::Rounding::kNearestEven);
}
inline long long __half2ll_rn(__half value) {
  return anygin::simt::saturated<long long>(std::nearbyint(value.wide()),
                                            static_cast<long long>(0x8000000000000000ull));
}
inline __half __ll2half_rz(long long value) {
  return __half::rounded_from(anygin::simt::sticky_double(value), anygin::simt::Rounding::kTowardZero);
}
inline long long __half2ll_rz(__half value) {
  return anygin::simt::saturated<long long>(std::trunc(value.wide()), static_cast<long long>(0x8000000000000000ull));
}
inline __half __ll2half_ru(long long value) {
  return __half::rounded_from(anygin::simt::sticky_double(value), anygin::simt::Rounding::kUp);
}
inline long long __half2ll_ru(__half value) {
  return anygin::simt::saturated<long long>(std::ceil(value.wide()), static_cast<long long>(0x8000000000000000ull));
}
inline __half __ll2half_rd(long long value) {
  return __half::rounded_from(anygin::simt::sticky_double(value), anygin::simt::Rounding::kDown);
}
inline long long __half2ll_rd(__half value) {
  return anygin::simt::saturated<long long>(std::floor(value.wide()), static_cast<long long>(0x8000000000000000ull));
}
inline __half __ull2half_rn(unsigned long long value) {
  return __half::rounded_from(anygin::simt::sticky_double(value), anygin::simt::Rounding::kNearestEven);
}
inline unsigned long long __half2ull_rn(__half value) {
  return anygin::simt::saturated<unsigned long long>(std::nearbyint(value.wide()),
                                                     static_cast<unsigned long long>(0x8000000000000000ull));
}
inline __half __ull2half_rz(unsigned long long value) {
  return __half::rounded_from(anygin::simt::sticky_double(value), anygin::simt::Rounding::kTowardZero);
}
inline unsigned long long __half2ull_rz(__half value) {
  return anygin::simt::saturated<unsigned long long>(std::trunc(value.wide()),
                                                     static_cast<unsigned long long>(0x8000000000000000ull));
}
inline __half __ull2half_ru(unsigned long long value) {
  return __half::rounded_from(anygin::simt::sticky_double(value), anygin::simt::Rounding::kUp);
}
inline unsigned long long __half2ull_ru(__half value) {
  return anygin::simt::saturated<unsigned long long>(std::ceil(value.wide()),
                                                     static_cast<unsigned long long>(0x8000000000000000ull));
}
inline __half __ull2half_rd(unsigned long long value) {
  return __half::rounded_from(anygin::simt::sticky_double(value), anygin::simt::Rounding::kDown);
}
inline unsigned long long __half2ull_rd(__half value) {
  return anygin::simt::saturated<unsigned long long>(std::floor(value.wide()),
                                                     static_cast<unsigned long long>(0x8000000000000000ull));
}
inline unsigned short __half_as_ushort(__half value) {
  return value.__x;
}
inline short __half_as_short(__half value) {
  return static_cast<short>(value.__x);
}
inline __half __ushort_as_half(unsigned short bits) {
  return __half::from_bits(bits);
}
inline __half __short_as_half(short bits) {
  return __half::from_bits(static_cast<unsigned short>(bits));
}

// --- Pairs -----------------------------------------------------------------------------------------------------------
inline __half2 __float2half2_rn(float value) {
  return {__float2half(value), __float2half(value)};
}
inline __half2 __floats2half2_rn(float x, float y) {
  return {__float2half(x), __float2half(y)};
}
inline __half2 __float22half2_rn(float2 value) {
  return {__float2half(value.x), __float2half(value.y)};
}
inline float2 __half22float2(__half2 value) {
  return float2{static_cast<float>(value.x), static_cast<float>(value.y)};
}
inline float __low2float(__half2 value) {
  return value.x;
}
inline float __high2float(__half2 value) {
  return value.y;
}
inline __half __low2half(__half2 value) {
  return value.x;
}
inline __half __high2half(__half2 value) {
  return value.y;
}
inline __half2 __half2half2(__half value) {
  return {value, value};
}
inline __half2 __halves2half2(__half x, __half y) {
  return {x, y};
}
inline __half2 make_half2(__half x, __half y) {
  return {x, y};
}
inline __half2 __low2half2(__half2 value) {
  return {value.x, value.x};
}
inline __half2 __high2half2(__half2 value) {
  return {value.y, value.y};
}
inline __half2 __lows2half2(__half2 a, __half2 b) {
  return {a.x, b.x};
}
inline __half2 __highs2half2(__half2 a, __half2 b) {
  return {a.y, b.y};
}
inline __half2 __lowhigh2highlow(__half2 value) {
  return {value.y, value.x};
}

#endif
