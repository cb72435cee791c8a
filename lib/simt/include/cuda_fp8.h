// SPDX-License-Identifier: Apache-2.0
// The 8-bit floating-point types __nv_fp8_e4m3 and __nv_fp8_e5m2, alone and in twos and fours. Storage types:
// conversion only. To fp8: to nearest even; constructors saturate. Host and device.
#pragma once

#include "anygin_cuda/cuda_mode.h"

#ifdef __cplusplus

#include "cuda_bf16.h"
#include "cuda_fp16.h"

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;

// What does not fit becomes infinity (e4m3: NaN), or the largest number.
enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };

// --- Conversions of bits ---------------------------------------------------------------------------------------------
inline __nv_fp8_storage_t __nv_cvt_double_to_fp8(double value, __nv_saturation_t saturate,
                                                 __nv_fp8_interpretation_t kind) {
  const bool clamp = saturate == __NV_SATFINITE;
  return kind == __NV_E4M3 ? anygin::simt::E4m3::encode(value, clamp) : anygin::simt::E5m2::encode(value, clamp);
}
inline __nv_fp8_storage_t __nv_cvt_float_to_fp8(float value, __nv_saturation_t saturate,
                                                __nv_fp8_interpretation_t kind) {
  return __nv_cvt_double_to_fp8(value, saturate, kind);
}
inline __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw value, __nv_saturation_t saturate,
                                                  __nv_fp8_interpretation_t kind) {
  return __nv_cvt_double_to_fp8(static_cast<float>(__half(value)), saturate, kind);
}
inline __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw value, __nv_saturation_t saturate,
                                                      __nv_fp8_interpretation_t kind) {
  return __nv_cvt_double_to_fp8(static_cast<float>(__nv_bfloat16(value)), saturate, kind);
}
inline __nv_fp8x2_storage_t __nv_cvt_double2_to_fp8x2(double2 value, __nv_saturation_t saturate,
                                                      __nv_fp8_interpretation_t kind) {
  const unsigned low = __nv_cvt_double_to_fp8(value.x, saturate, kind);
  const unsigned high = __nv_cvt_double_to_fp8(value.y, saturate, kind);
  return static_cast<__nv_fp8x2_storage_t>(high << 8 | low);
}
inline __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(float2 value, __nv_saturation_t saturate,
                                                     __nv_fp8_interpretation_t kind) {
  return __nv_cvt_double2_to_fp8x2(double2{value.x, value.y}, saturate, kind);
}
inline __nv_fp8x2_storage_t __nv_cvt_halfraw2_to_fp8x2(__half2_raw value, __nv_saturation_t saturate,
                                                       __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float2_to_fp8x2(__half22float2(__half2(value)), saturate, kind);
}
inline __nv_fp8x2_storage_t __nv_cvt_bfloat16raw2_to_fp8x2(__nv_bfloat162_raw value, __nv_saturation_t saturate,
                                                           __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float2_to_fp8x2(__bfloat1622float2(__nv_bfloat162(value)), saturate, kind);
}
inline float anygin_fp8_to_float(__nv_fp8_storage_t bits, __nv_fp8_interpretation_t kind) {
  return kind == __NV_E4M3 ? anygin::simt::E4m3::decode(bits) : anygin::simt::E5m2::decode(bits);
}
// Exact: every fp8 number is a half.
inline __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t bits, __nv_fp8_interpretation_t kind) {
  return __float2half(anygin_fp8_to_float(bits, kind));
}
inline __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t bits, __nv_fp8_interpretation_t kind) {
  const __half_raw low = __nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(bits & 0xff), kind);
  const __half_raw high = __nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(bits >> 8), kind);
  return __half2_raw{low.x, high.x};
}

// --- Types -----------------------------------------------------------------------------------------------------------
namespace anygin::simt {

template <__nv_fp8_interpretation_t kKind>
struct Fp8 {
  __nv_fp8_storage_t __x;

  Fp8() = default;
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
  explicit Fp8(T value) : __x(__nv_cvt_double_to_fp8(sticky_double(value), __NV_SATFINITE, kKind)) {}
  explicit Fp8(__half value) : Fp8(static_cast<float>(value)) {}
  explicit Fp8(__nv_bfloat16 value) : Fp8(static_cast<float>(value)) {}

  float value() const { return anygin_fp8_to_float(__x, kKind); }
  explicit operator float() const { return value(); }
  explicit operator double() const { return value(); }
  explicit operator __half() const { return __float2half(value()); }
  explicit operator __nv_bfloat16() const { return __float2bfloat16(value()); }
  explicit operator bool() const { return (__x & 0x7f) != 0; }
  explicit operator int() const { return saturated<int>(std::trunc(value()), 0); }
  explicit operator unsigned() const { return saturated<unsigned>(std::trunc(value()), 0); }
};

template <__nv_fp8_interpretation_t kKind>
struct alignas(2) Fp8x2 {
  __nv_fp8x2_storage_t __x;

  Fp8x2() = default;
  explicit Fp8x2(float2 value) : __x(__nv_cvt_float2_to_fp8x2(value, __NV_SATFINITE, kKind)) {}
  explicit Fp8x2(double2 value) : __x(__nv_cvt_double2_to_fp8x2(value, __NV_SATFINITE, kKind)) {}
  explicit Fp8x2(__half2 value) : Fp8x2(__half22float2(value)) {}
  explicit Fp8x2(__nv_bfloat162 value) : Fp8x2(__bfloat1622float2(value)) {}

  explicit operator float2() const { return __half22float2(__half2(__nv_cvt_fp8x2_to_halfraw2(__x, kKind))); }
  explicit operator __half2() const { return __half2(__nv_cvt_fp8x2_to_halfraw2(__x, kKind)); }
};

template <__nv_fp8_interpretation_t kKind>
struct alignas(4) Fp8x4 {
  __nv_fp8x4_storage_t __x;

  Fp8x4() = default;
  explicit Fp8x4(float4 value) : Fp8x4(float2{value.x, value.y}, float2{value.z, value.w}) {}
  explicit Fp8x4(double4 value) {
    const unsigned low = __nv_cvt_double2_to_fp8x2(double2{value.x, value.y}, __NV_SATFINITE, kKind);
    const unsigned high = __nv_cvt_double2_to_fp8x2(double2{value.z, value.w}, __NV_SATFINITE, kKind);
    __x = high << 16 | low;
  }
  Fp8x4(__half2 low, __half2 high) : Fp8x4(__half22float2(low), __half22float2(high)) {}
  Fp8x4(__nv_bfloat162 low, __nv_bfloat162 high) : Fp8x4(__bfloat1622float2(low), __bfloat1622float2(high)) {}

  explicit operator float4() const {
    const float2 low = half(0), high = half(16);
    return float4{low.x, low.y, high.x, high.y};
  }

 private:
  Fp8x4(float2 low, float2 high)
      : __x(static_cast<unsigned>(__nv_cvt_float2_to_fp8x2(high, __NV_SATFINITE, kKind)) << 16 |
            __nv_cvt_float2_to_fp8x2(low, __NV_SATFINITE, kKind)) {}
  float2 half(int shift) const {
    return __half22float2(__half2(__nv_cvt_fp8x2_to_halfraw2(static_cast<__nv_fp8x2_storage_t>(__x >> shift), kKind)));
  }
};

}  // namespace anygin::simt

struct __nv_fp8_e4m3 : anygin::simt::Fp8<__NV_E4M3> {
  using Fp8::Fp8;
};
struct __nv_fp8_e5m2 : anygin::simt::Fp8<__NV_E5M2> {
  using Fp8::Fp8;
};
struct __nv_fp8x2_e4m3 : anygin::simt::Fp8x2<__NV_E4M3> {
  using Fp8x2::Fp8x2;
};
struct __nv_fp8x2_e5m2 : anygin::simt::Fp8x2<__NV_E5M2> {
  using Fp8x2::Fp8x2;
};
struct __nv_fp8x4_e4m3 : anygin::simt::Fp8x4<__NV_E4M3> {
  using Fp8x4::Fp8x4;
};
struct __nv_fp8x4_e5m2 : anygin::simt::Fp8x4<__NV_E5M2> {
  using Fp8x4::Fp8x4;
};

#endif
