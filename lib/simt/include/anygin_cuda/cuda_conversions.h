// SPDX-License-Identifier: Apache-2.0
// Conversions of device code that name their rounding. Out of range saturates, NaN gives 0, as on the GPU (64-bit
// targets and double sources give the integer with only the top bit set for NaN).
#pragma once

#include <cmath>

#include "anygin_cuda/cuda_math.h"
#include "anygin_cuda/number_bits.h"

namespace anygin::simt {

// The nearest From values on both sides of an integer, by direction.
template <typename To, typename From>
To directed(From value, int mode) {
  return rounded(mode, static_cast<To>(0), static_cast<To>(0), static_cast<To>(0), [value](To, To, To) {
    volatile From source = value;
    return static_cast<To>(source);
  });
}

}  // namespace anygin::simt

inline int __float2int_rn(float x) {
  return anygin::simt::saturated<int>(std::nearbyint(x), 0);
}
inline int __float2int_rz(float x) {
  return anygin::simt::saturated<int>(std::trunc(x), 0);
}
inline int __float2int_ru(float x) {
  return anygin::simt::saturated<int>(std::ceil(x), 0);
}
inline int __float2int_rd(float x) {
  return anygin::simt::saturated<int>(std::floor(x), 0);
}
inline unsigned __float2uint_rn(float x) {
  return anygin::simt::saturated<unsigned>(std::nearbyint(x), 0);
}
inline unsigned __float2uint_rz(float x) {
  return anygin::simt::saturated<unsigned>(std::trunc(x), 0);
}
inline unsigned __float2uint_ru(float x) {
  return anygin::simt::saturated<unsigned>(std::ceil(x), 0);
}
inline unsigned __float2uint_rd(float x) {
  return anygin::simt::saturated<unsigned>(std::floor(x), 0);
}
inline long long __float2ll_rn(float x) {
  return anygin::simt::saturated<long long>(std::nearbyint(x), static_cast<long long>(0x8000000000000000ull));
}
inline long long __float2ll_rz(float x) {
  return anygin::simt::saturated<long long>(std::trunc(x), static_cast<long long>(0x8000000000000000ull));
}
inline long long __float2ll_ru(float x) {
  return anygin::simt::saturated<long long>(std::ceil(x), static_cast<long long>(0x8000000000000000ull));
}
inline long long __float2ll_rd(float x) {
  return anygin::simt::saturated<long long>(std::floor(x), static_cast<long long>(0x8000000000000000ull));
}
inline unsigned long long __float2ull_rn(float x) {
  return anygin::simt::saturated<unsigned long long>(std::nearbyint(x),
                                                     static_cast<unsigned long long>(0x8000000000000000ull));
}
inline unsigned long long __float2ull_rz(float x) {
  return anygin::simt::saturated<unsigned long long>(std::trunc(x),
                                                     static_cast<unsigned long long>(0x8000000000000000ull));
}
inline unsigned long long __float2ull_ru(float x) {
  return anygin::simt::saturated<unsigned long long>(std::ceil(x),
                                                     static_cast<unsigned long long>(0x8000000000000000ull));
}
inline unsigned long long __float2ull_rd(float x) {
  return anygin::simt::saturated<unsigned long long>(std::floor(x),
                                                     static_cast<unsigned long long>(0x8000000000000000ull));
}
inline int __double2int_rn(double x) {
  return anygin::simt::saturated<int>(std::nearbyint(x), static_cast<int>(0x80000000u));
}
inline int __double2int_rz(double x) {
  return anygin::simt::saturated<int>(std::trunc(x), static_cast<int>(0x80000000u));
}
inline int __double2int_ru(double x) {
  return anygin::simt::saturated<int>(std::ceil(x), static_cast<int>(0x80000000u));
}
inline int __double2int_rd(double x) {
  return anygin::simt::saturated<int>(std::floor(x), static_cast<int>(0x80000000u));
}
inline unsigned __double2uint_rn(double x) {
  return anygin::simt::saturated<unsigned>(std::nearbyint(x), static_cast<unsigned>(0x80000000u));
}
inline unsigned __double2uint_rz(double x) {
  return anygin::simt::saturated<unsigned>(std::trunc(x), static_cast<unsigned>(0x80000000u));
}
inline unsigned __double2uint_ru(double x) {
  return anygin::simt::saturated<unsigned>(std::ceil(x), static_cast<unsigned>(0x80000000u));
}
inline unsigned __double2uint_rd(double x) {
  return anygin::simt::saturated<unsigned>(std::floor(x), static_cast<unsigned>(0x80000000u));
}
inline long long __double2ll_rn(double x) {
  return anygin::simt::saturated<long long>(std::nearbyint(x), static_cast<long long>(0x8000000000000000ull));
}
inline long long __double2ll_rz(double x) {
  return anygin::simt::saturated<long long>(std::trunc(x), static_cast<long long>(0x8000000000000000ull));
}
inline long long __double2ll_ru(double x) {
  return anygin::simt::saturated<long long>(std::ceil(x), static_cast<long long>(0x8000000000000000ull));
}
inline long long __double2ll_rd(double x) {
  return anygin::simt::saturated<long long>(std::floor(x), static_cast<long long>(0x8000000000000000ull));
}
inline unsigned long long __double2ull_rn(double x) {
  return anygin::simt::saturated<unsigned long long>(std::nearbyint(x),
                                                     static_cast<unsigned long long>(0x8000000000000000ull));
}
inline unsigned long long __double2ull_rz(double x) {
  return anygin::simt::saturated<unsigned long long>(std::trunc(x),
                                                     static_cast<unsigned long long>(0x8000000000000000ull));
}
inline unsigned long long __double2ull_ru(double x) {
  return anygin::simt::saturated<unsigned long long>(std::ceil(x),
                                                     static_cast<unsigned long long>(0x8000000000000000ull));
}
inline unsigned long long __double2ull_rd(double x) {
  return anygin::simt::saturated<unsigned long long>(std::floor(x),
                                                     static_cast<unsigned long long>(0x8000000000000000ull));
}

// --- From integers ---------------------------------------------------------------------------------------------------
inline float __int2float_rn(int x) {
  return static_cast<float>(x);
}
inline float __int2float_rz(int x) {
  return anygin::simt::directed<float>(x, FE_TOWARDZERO);
}
inline float __int2float_ru(int x) {
  return anygin::simt::directed<float>(x, FE_UPWARD);
}
inline float __int2float_rd(int x) {
  return anygin::simt::directed<float>(x, FE_DOWNWARD);
}
inline double __int2double_rn(int x) {
  return static_cast<double>(x);
}
inline float __uint2float_rn(unsigned x) {
  return static_cast<float>(x);
}
inline float __uint2float_rz(unsigned x) {
  return anygin::simt::directed<float>(x, FE_TOWARDZERO);
}
inline float __uint2float_ru(unsigned x) {
  return anygin::simt::directed<float>(x, FE_UPWARD);
}
inline float __uint2float_rd(unsigned x) {
  return anygin::simt::directed<float>(x, FE_DOWNWARD);
}
inline double __uint2double_rn(unsigned x) {
  return static_cast<double>(x);
}
inline float __ll2float_rn(long long x) {
  return static_cast<float>(x);
}
inline float __ll2float_rz(long long x) {
  return anygin::simt::directed<float>(x, FE_TOWARDZERO);
}
inline float __ll2float_ru(long long x) {
  return anygin::simt::directed<float>(x, FE_UPWARD);
}
inline float __ll2float_rd(long long x) {
  return anygin::simt::directed<float>(x, FE_DOWNWARD);
}
inline double __ll2double_rn(long long x) {
  return static_cast<double>(x);
}
inline double __ll2double_rz(long long x) {
  return anygin::simt::directed<double>(x, FE_TOWARDZERO);
}
inline double __ll2double_ru(long long x) {
  return anygin::simt::directed<double>(x, FE_UPWARD);
}
inline double __ll2double_rd(long long x) {
  return anygin::simt::directed<double>(x, FE_DOWNWARD);
}
inline float __ull2float_rn(unsigned long long x) {
  return static_cast<float>(x);
}
inline float __ull2float_rz(unsigned long long x) {
  return anygin::simt::directed<float>(x, FE_TOWARDZERO);
}
inline float __ull2float_ru(unsigned long long x) {
  return anygin::simt::directed<float>(x, FE_UPWARD);
}
inline float __ull2float_rd(unsigned long long x) {
  return anygin::simt::directed<float>(x, FE_DOWNWARD);
}
inline double __ull2double_rn(unsigned long long x) {
  return static_cast<double>(x);
}
inline double __ull2double_rz(unsigned long long x) {
  return anygin::simt::directed<double>(x, FE_TOWARDZERO);
}
inline double __ull2double_ru(unsigned long long x) {
  return anygin::simt::directed<double>(x, FE_UPWARD);
}
inline double __ull2double_rd(unsigned long long x) {
  return anygin::simt::directed<double>(x, FE_DOWNWARD);
}
inline float __double2float_rn(double x) {
  return static_cast<float>(x);
}
inline float __double2float_rz(double x) {
  return anygin::simt::directed<float>(x, FE_TOWARDZERO);
}
inline float __double2float_ru(double x) {
  return anygin::simt::directed<float>(x, FE_UPWARD);
}
inline float __double2float_rd(double x) {
  return anygin::simt::directed<float>(x, FE_DOWNWARD);
}
