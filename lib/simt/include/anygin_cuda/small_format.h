// SPDX-License-Identifier: Apache-2.0
// Bit formats of the floating-point numbers of 8 and 16 bits: exact decoding, and encoding from double with one
// rounding. Host and device, constexpr.
#pragma once

#include <cstdint>
#include <type_traits>

namespace anygin::simt {

enum class Rounding { kNearestEven, kTowardZero, kUp, kDown };

// A double as integers: |value| = significand * 2^(exponent - 52). For finite values.
struct SplitDouble {
  bool negative;
  int exponent;
  uint64_t significand;
};
constexpr SplitDouble split(double value) {
  const uint64_t bits = __builtin_bit_cast(uint64_t, value);
  const int field = static_cast<int>((bits >> 52) & 0x7ff);
  const uint64_t fraction = bits & ((uint64_t{1} << 52) - 1);
  return {(bits >> 63) != 0, field == 0 ? -1022 : field - 1023, field == 0 ? fraction : fraction | (uint64_t{1} << 52)};
}

// An integer as a double that later rounds to a shorter format as the integer itself would: bits that do not fit are
// kept as one sticky bit.
template <typename T>
constexpr double sticky_double(T value) {
  if constexpr (std::is_integral_v<T> && sizeof(T) == 8) {
    const bool negative = value < 0;
    const uint64_t magnitude = negative ? uint64_t{0} - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
    if (magnitude >> 53 == 0) return static_cast<double>(value);
    const double scaled = static_cast<double>((magnitude >> 11) | ((magnitude & 2047) != 0)) * 2048.0;
    return negative ? -scaled : scaled;
  } else {
    return static_cast<double>(value);
  }
}

// x * y + z with the last bit odd if inexact: rounds to any format of at most 51 bits as the exact value would.
// x * y must be exact in double.
constexpr double multiply_add_odd(double x, double y, double z) {
  const double product = x * y;
  const double sum = product + z;
  const double z_part = sum - product;
  const double lost = (product - (sum - z_part)) + (z - z_part);
  if (!(lost < 0.0 || lost > 0.0)) return sum;  // exact, or not finite
  const uint64_t bits = __builtin_bit_cast(uint64_t, sum);
  if (bits & 1) return sum;
  const bool away = (lost > 0.0) == (sum > 0.0);
  return __builtin_bit_cast(double, away ? bits + 1 : bits - 1);
}

// Sign, kExponentBits, kFractionBits: the pattern of a finite |value| after rounding, without regard for overflow.
// `negative` matters for the directed roundings only.
template <int kExponentBits, int kFractionBits>
constexpr uint32_t rounded_magnitude(const SplitDouble& value, Rounding rounding) {
  constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  if (value.significand == 0) return 0;
  const int exponent = value.exponent < 1 - kBias ? 1 - kBias : value.exponent;
  int shift = 52 - kFractionBits + (exponent - value.exponent);
  if (shift > 54) shift = 54;  // all of it is below half a unit
  uint64_t units = value.significand >> shift;
  const uint64_t rest = value.significand & ((uint64_t{1} << shift) - 1);
  const uint64_t half = uint64_t{1} << (shift - 1);
  bool away = false;
  if (rounding == Rounding::kNearestEven) away = rest > half || (rest == half && (units & 1));
  if (rounding == Rounding::kUp) away = rest != 0 && !value.negative;
  if (rounding == Rounding::kDown) away = rest != 0 && value.negative;
  if (away) ++units;
  // `units` carries the implicit bit, which adds one to the exponent field.
  return (static_cast<uint32_t>(exponent + kBias - 1) << kFractionBits) + static_cast<uint32_t>(units);
}

// The IEEE-like formats of 16 bits: infinities, subnormals, one canonical NaN.
template <int kExponentBits, int kFractionBits>
struct Format16 {
  static_assert(1 + kExponentBits + kFractionBits == 16);
  static constexpr uint16_t kInfinity = ((1u << kExponentBits) - 1) << kFractionBits;
  static constexpr uint16_t kNan = 0x7fff;
  static constexpr int kBias = (1 << (kExponentBits - 1)) - 1;

  static constexpr uint16_t encode(double value, Rounding rounding = Rounding::kNearestEven) {
    if (value != value) return kNan;
    const SplitDouble parts = split(value);
    const uint16_t sign = parts.negative ? 0x8000 : 0;
    if (parts.exponent == 1024) return sign | kInfinity;
    const uint32_t magnitude =
        parts.exponent > kBias + 1 ? kInfinity : rounded_magnitude<kExponentBits, kFractionBits>(parts, rounding);
    if (magnitude < kInfinity) return static_cast<uint16_t>(sign | magnitude);
    const bool to_infinity = rounding == Rounding::kNearestEven || (rounding == Rounding::kUp && !parts.negative) ||
                             (rounding == Rounding::kDown && parts.negative);
    return static_cast<uint16_t>(sign | (to_infinity ? kInfinity : kInfinity - 1));
  }

  static constexpr float decode(uint16_t bits) {
    const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
    const uint32_t magnitude = bits & 0x7fff;
    constexpr int kShift = 23 - kFractionBits;
    if (magnitude >= kInfinity) return __builtin_bit_cast(float, sign | 0x7f800000u | (magnitude << kShift));
    if constexpr (kExponentBits == 8) {
      return __builtin_bit_cast(float, sign | (magnitude << kShift));
    } else {
      constexpr uint32_t kRebias = static_cast<uint32_t>(127 - kBias) << 23;
      if (magnitude >= (1u << kFractionBits)) {
        return __builtin_bit_cast(float, sign | ((magnitude << kShift) + kRebias));
      }
      // Subnormal: units of 2^(1 - bias - fraction bits), a normal float.
      constexpr uint32_t kUnit = static_cast<uint32_t>(128 - kBias - kFractionBits) << 23;
      const float unit = __builtin_bit_cast(float, kUnit);
      const float value = static_cast<float>(magnitude) * unit;
      return sign ? -value : value;
    }
  }
};
using Binary16 = Format16<5, 10>;
using BrainFloat16 = Format16<8, 7>;

// The formats of 8 bits. kHasInfinity: e5m2, IEEE-like. Otherwise e4m3: no infinity, one NaN a sign.
template <int kExponentBits, int kFractionBits, bool kHasInfinity>
struct Format8 {
  static_assert(1 + kExponentBits + kFractionBits == 8);
  static constexpr uint8_t kNan = 0x7f;
  static constexpr uint8_t kLargest = kHasInfinity ? (((1u << kExponentBits) - 1) << kFractionBits) - 1 : 0x7e;
  static constexpr int kBias = (1 << (kExponentBits - 1)) - 1;

  // `saturate`: what does not fit, infinity too, becomes the largest number; else infinity, or NaN if there is none.
  static constexpr uint8_t encode(double value, bool saturate) {
    if (value != value) return kNan;
    const SplitDouble parts = split(value);
    const uint8_t sign = parts.negative ? 0x80 : 0;
    const uint32_t magnitude = parts.exponent > kBias + 2
                                   ? 0xff
                                   : rounded_magnitude<kExponentBits, kFractionBits>(parts, Rounding::kNearestEven);
    if (magnitude <= kLargest) return static_cast<uint8_t>(sign | magnitude);
    if (saturate) return sign | kLargest;
    return static_cast<uint8_t>(sign | (kLargest + 1));
  }

  static constexpr float decode(uint8_t bits) {
    const uint32_t magnitude = bits & 0x7f;
    const float sign = (bits & 0x80) ? -1.0f : 1.0f;
    if (magnitude > kLargest) {
      const bool infinite = kHasInfinity && magnitude == kLargest + 1u;
      return sign * (infinite ? __builtin_huge_valf() : __builtin_nanf(""));
    }
    const int field = static_cast<int>(magnitude >> kFractionBits);
    const uint32_t fraction = magnitude & ((1u << kFractionBits) - 1);
    const int exponent = (field == 0 ? 1 : field) - kBias - kFractionBits;
    const float unit = __builtin_bit_cast(float, static_cast<uint32_t>(exponent + 127) << 23);
    return sign * static_cast<float>(field == 0 ? fraction : fraction | (1u << kFractionBits)) * unit;
  }
};
using E4m3 = Format8<4, 3, false>;
using E5m2 = Format8<5, 2, true>;

}  // namespace anygin::simt
