// SPDX-License-Identifier: Apache-2.0
// __nv_bfloat16 and __nv_bfloat162: the upper half of a float.
// Conversions round to nearest even unless their name says otherwise; NaN becomes the canonical NaN. Host and device.
#pragma once

#ifdef __cplusplus

#include "anygin_cuda/number_bits.h"
#include "anygin_cuda/small_float_functions.h"
#include "vector_types.h"

#endif

#include "anygin_cuda/cuda_mode.h"

typedef struct __nv_bfloat16_raw {
  unsigned short x;
} __nv_bfloat16_raw;
typedef struct __nv_bfloat162_raw {
  unsigned short x, y;
} __nv_bfloat162_raw;

#ifdef __cplusplus

struct __nv_bfloat16 : anygin::simt::SmallFloat<__nv_bfloat16, anygin::simt::BrainFloat16> {
  using SmallFloat::SmallFloat;
  __nv_bfloat16() = default;
  constexpr __nv_bfloat16(const __nv_bfloat16_raw& bits) : SmallFloat() { __x = bits.x; }
  constexpr operator __nv_bfloat16_raw() const { return __nv_bfloat16_raw{__x}; }
};
struct __nv_bfloat162 : anygin::simt::SmallPair<__nv_bfloat162, __nv_bfloat16> {
  using SmallPair::SmallPair;
  __nv_bfloat162() = default;
  constexpr __nv_bfloat162(const __nv_bfloat162_raw& bits)
      : SmallPair(__nv_bfloat16::from_bits(bits.x), __nv_bfloat16::from_bits(bits.y)) {}
  constexpr operator __nv_bfloat162_raw() const { return __nv_bfloat162_raw{x.__x, y.__x}; }
};
using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;

// --- Scalars ---------------------------------------------------------------------------------------------------------
inline __nv_bfloat16 __float2bfloat16(float value) {
  return __nv_bfloat16::rounded_from(value);
}
inline __nv_bfloat16 __double2bfloat16(double value) {
  return __nv_bfloat16::rounded_from(value);
}
inline __nv_bfloat16 __float2bfloat16_rn(float value) {
  return __nv_bfloat16::rounded_from(value, anygin::simt::Rounding::kNearestEven);
}
inline __nv_bfloat16 __float2bfloat16_rz(float value) {
  return __nv_bfloat16::rounded_from(value, anygin::simt::Rounding::kTowardZero);
}
inline __nv_bfloat16 __float2bfloat16_ru(float value) {
  return __nv_bfloat16::rounded_from(value, anygin::simt::Rounding::kUp);
}
inline __nv_bfloat16 __float2bfloat16_rd(float value) {
  return __nv_bfloat16::rounded_from(value, anygin::simt::Rounding::kDown);
}
inline float __bfloat162float(__nv_bfloat16 value) {
  return value;
}
inline __nv_bfloat16 __short2bfloat16_rn(short value) {
  return __nv_bfloat16::rounded_from(anygin::simt::sticky_double(value), anygin::simt::Rounding::kNearestEven);
}
inline short __bfloat162short_rn(__nv_bfloat16 value) {
  return anygin::simt::saturated<short>(std::nearbyint(value.wide()), short{0});
}
inline __nv_bfloat16 __short2bfloat16_rz(short value) {
  return __nv_bfloat16::rounded_from(anygin::simt::sticky_double(value), anygin::simt::Rounding::kTowardZero);
}
inline short __bfloat162short_rz(__nv_bfloat16 value) {
  return anygin::simt::saturated<short>(std::trunc(value.wide()), short{0});
}
inline __nv_bfloat16 __short2bfloat16_ru(short value) {
  return __nv_bfloat16::rounded_from(anygin::simt::sticky_double(value), anygin::simt::Rounding::kUp);
}
inline short __bfloat162short_ru(__nv_bfloat16 value) {
  return anygin::simt::saturated<short>(std::ceil(value.wide()), short{0});
}
inline __nv_bfloat16 __short2bfloat16_rd(short value) {
  return __nv_bfloat16::rounded_from(anygin::simt::sticky_double(value), anygin::simt::Rounding::kDown);
}
inline short __bfloat162short_rd(__nv_bfloat16 value) {
  return anygin::simt::saturated<short>(std::floor(value.wide()), short{0});
}
inline __nv_bfloat16 __ushort2bfloat16_rn(unsigned short value) {
  return __nv_bfloat16::rounded_from(anygin::simt::sticky_double(value), anygin::simt::Rounding::kNearestEven);
}
inline unsigned short __bfloat162ushort_rn(__nv_bfloat16 value) {
  return anygin::simt::saturated<unsigned short>(std::nearbyint(value.wide()), static_cast<unsigned short>(0));
}
inline __nv_bfloat16 __ushort2bfloat16_rz(unsigned short value) {
  return __nv_bfloat16::rounded_from(anygin::simt::sticky_double(value), anygin::simt::Rounding::kTowardZero);
}
inline unsigned short __bfloat162ushort_rz(__nv_bfloat16 value) {
  return anygin::simt::saturated<unsigned short>(std::trunc(value.wide()), static_cast<unsigned short>(0));
}
inline __nv_bfloat16 __ushort2bfloat16_ru(unsigned short value) {
  return __nv_bfloat16::rounded_from(anygin::simt::sticky_double(value), anygin::simt::Rounding::kUp);
}
inline unsigned short __bfloat162ushort_ru(__nv_bfloat16 value) {
  return anygin::simt::saturated<unsigned short>(std::ceil(value.wide()), static_cast<unsigned short>(0));
}
inline __nv_bfloat16 __ushort2bfloat16_rd(unsigned short value) {
  return __nv_bfloat16::rounded_from(anygin::simt::sticky_double(value), anygin::simt::Rounding::kDown);
}
inline unsigned short __bfloat162ushort_rd(__nv_bfloat16 value) {
  return anygin::simt::saturated<unsigned short>(std::floor(value.wide()), static_cast<unsigned short>(0));
}
inline __nv_bfloat16 __int2bfloat16_rn(int value) {
  return __nv_bfloat16::rounded_from(anygin::simt::sticky_double(value), anygin::simt::Rounding::kNearestEven);
}
inline int __bfloat162int_rn(__nv_bfloat16 value) {
  return anygin::simt::saturated<int>(std::nearbyint(value.wide()), int{0});
}
inline __nv_bfloat16 __int2bfloat16_rz(int value) {
  return __nv_bfloat16::rounded_from(anygin::simt::sticky_double(value), anygin::simt::Rounding::kTowardZero);
}
inline int __bfloat162int_rz(__nv_bfloat16 value) {
  return anygin::simt::saturated<int>(std::trunc(value.wide()), int{0});
}
inline __nv_bfloat16 __int2bfloat16_ru(int value) {
  return __nv_bfloat16::rounded_from(anygin::simt::sticky_double(value), anygin::simt::Rounding::kUp);
}
inline int __bfloat162int_ru(__nv_bfloat16 value) {
  return anygin::simt::saturated<int>(std::ceil(value.wide()), int{0});
}
inline __nv_bfloat16 __int2bfloat16_rd(int value) {
  return __nv_bfloat16::rounded_from(anygin::simt::sticky_double(value), anygin::simt::Rounding::kDown);
}
inline int __bfloat162int_rd(__nv_bfloat16 value) {
  return anygin::simt::saturated<int>(std::floor(value.wide()), int{0});
}
inline __nv_bfloat16 __uint2bfloat16_rn(unsigned value) {
  return __nv_bfloat16::rounded_from(anygin::simt::sticky_double(value), anygin::simt::Rounding::kNearestEven);
}
inline unsigned __bfloat162uint_rn(__nv_bfloat16 value) {
  return anygin::simt::saturated<unsigned>(std::nearbyint(value.wide()), unsigned{0});
}
inline __nv_bfloat16 __uint2bfloat16_rz(unsigned value) {
  return __nv_bfloat16::rounded_from(anygin::simt::sticky_double(value), anygin::simt::Rounding::kTowardZero);
}
inline unsigned __bfloat162uint_rz(__nv_bfloat16 value) {
  return anygin::simt::saturated<unsigned>(std::trunc(value.wide()), unsigned{0});
}
inline __nv_bfloat16 __uint2bfloat16_ru(unsigned value) {
  return __nv_bfloat16::rounded_from(anygin::simt::sticky_double(value), anygin::simt::Rounding::kUp);
}
inline unsigned __bfloat162uint_ru(__nv_bfloat16 value) {
  return anygin::simt::saturated<unsigned>(std::ceil(value.wide()), unsigned{0});
}
inline __nv_bfloat16 __uint2bfloat16_rd(unsigned value) {
  return __nv_bfloat16::rounded_from(anygin::simt::sticky_double(value), anygin::simt::Rounding::kDown);
}
inline unsigned __bfloat162uint_rd(__nv_bfloat16 value) {
  return anygin::simt::saturated<unsigned>(std::floor(value.wide()), unsigned{0});
}
inline __nv_bfloat16 __ll2bfloat16_rn(long long value) {
  return __nv_bfloat16::rounded_from(anygin::simt::sticky_double(value), anygin::simt::Rounding::kNearestEven);
}
inline long long __bfloat162ll_rn(__nv_bfloat16 value) {
  return anygin::simt::saturated<long long>(std::nearbyint(value.wide()),
                                            static_cast<long long>(0x8000000000000000ull));
}
inline __nv_bfloat16 __ll2bfloat16_rz(long long value) {
  return __nv_bfloat16::rounded_from(anygin::simt::sticky_double(value), anygin::simt::Rounding::kTowardZero);
}
inline long long __bfloat162ll_rz(__nv_bfloat16 value) {
  return anygin::simt::saturated<long long>(std::trunc(value.wide()), static_cast<long long>(0x8000000000000000ull));
}
inline __nv_bfloat16 __ll2bfloat16_ru(long long value) {
  return __nv_bfloat16::rounded_from(anygin::simt::sticky_double(value), anygin::simt::Rounding::kUp);
}
inline long long __bfloat162ll_ru(__nv_bfloat16 value) {
  return anygin::simt::saturated<long long>(std::ceil(value.wide()), static_cast<long long>(0x8000000000000000ull));
}
inline __nv_bfloat16 __ll2bfloat16_rd(long long value) {
  return __nv_bfloat16::rounded_from(anygin::simt::sticky_double(value), anygin::simt::Rounding::kDown);
}
inline long long __bfloat162ll_rd(__nv_bfloat16 value) {
  return anygin::simt::saturated<long long>(std::floor(value.wide()), static_cast<long long>(0x8000000000000000ull));
}
inline __nv_bfloat16 __ull2bfloat16_rn(unsigned long long value) {
  return __nv_bfloat16::rounded_from(anygin::simt::sticky_double(value), anygin::simt::Rounding::kNearestEven);
}
inline unsigned long long __bfloat162ull_rn(__nv_bfloat16 value) {
  return anygin::simt::saturated<unsigned long long>(std::nearbyint(value.wide()),
                                                     static_cast<unsigned long long>(0x8000000000000000ull));
}
inline __nv_bfloat16 __ull2bfloat16_rz(unsigned long long value) {
  return __nv_bfloat16::rounded_from(anygin::simt::sticky_double(value), anygin::simt::Rounding::kTowardZero);
}
inline unsigned long long __bfloat162ull_rz(__nv_bfloat16 value) {
  return anygin::simt::saturated<unsigned long long>(std::trunc(value.wide()),
                                                     static_cast<unsigned long long>(0x8000000000000000ull));
}
inline __nv_bfloat16 __ull2bfloat16_ru(unsigned long long value) {
  return __nv_bfloat16::rounded_from(anygin::simt::sticky_double(value), anygin::simt::Rounding::kUp);
}
inline unsigned long long __bfloat162ull_ru(__nv_bfloat16 value) {
  return anygin::simt::saturated<unsigned long long>(std::ceil(value.wide()),
                                                     static_cast<unsigned long long>(0x8000000000000000ull));
}
inline __nv_bfloat16 __ull2bfloat16_rd(unsigned long long value) {
  return __nv_bfloat16::rounded_from(anygin::simt::sticky_double(value), anygin::simt::Rounding::kDown);
}
inline unsigned long long __bfloat162ull_rd(__nv_bfloat16 value) {
  return anygin::simt::saturated<unsigned long long>(std::floor(value.wide()),
                                                     static_cast<unsigned long long>(0x8000000000000000ull));
}
inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 value) {
  return value.__x;
}
inline short __bfloat16_as_short(__nv_bfloat16 value) {
  return static_cast<short>(value.__x);
}
inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits) {
  return __nv_bfloat16::from_bits(bits);
}
inline __nv_bfloat16 __short_as_bfloat16(short bits) {
  return __nv_bfloat16::from_bits(static_cast<unsigned short>(bits));
}

// --- Pairs -----------------------------------------------------------------------------------------------------------
inline __nv_bfloat162 __float2bfloat162_rn(float value) {
  return {__float2bfloat16(value), __float2bfloat16(value)};
}
inline __nv_bfloat162 __floats2bfloat162_rn(float x, float y) {
  return {__float2bfloat16(x), __float2bfloat16(y)};
}
inline __nv_bfloat162 __float22bfloat162_rn(float2 value) {
  return {__float2bfloat16(value.x), __float2bfloat16(value.y)};
}
inline float2 __bfloat1622float2(__nv_bfloat162 value) {
  return float2{static_cast<float>(value.x), static_cast<float>(value.y)};
}
inline float __low2float(__nv_bfloat162 value) {
  return value.x;
}
inline float __high2float(__nv_bfloat162 value) {
  return value.y;
}
inline __nv_bfloat16 __low2bfloat16(__nv_bfloat162 value) {
  return value.x;
}
inline __nv_bfloat16 __high2bfloat16(__nv_bfloat162 value) {
  return value.y;
}
inline __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 value) {
  return {value, value};
}
inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) {
  return {x, y};
}
inline __nv_bfloat162 make_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) {
  return {x, y};
}
inline __nv_bfloat162 __low2bfloat162(__nv_bfloat162 value) {
  return {value.x, value.x};
}
inline __nv_bfloat162 __high2bfloat162(__nv_bfloat162 value) {
  return {value.y, value.y};
}
inline __nv_bfloat162 __lows2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) {
  return {a.x, b.x};
}
inline __nv_bfloat162 __highs2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) {
  return {a.y, b.y};
}
inline __nv_bfloat162 __lowhigh2highlow(__nv_bfloat162 value) {
  return {value.y, value.x};
}

#endif
