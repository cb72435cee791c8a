// SPDX-License-Identifier: Apache-2.0
// What __half and __nv_bfloat16 share: a number of 16 bits whose arithmetic is done wider and rounded once, to nearest
// even. Host and device.
#pragma once

#include <type_traits>

#include "anygin_cuda/cuda_mode.h"
#include "anygin_cuda/number_bits.h"
#include "anygin_cuda/small_format.h"

namespace anygin::simt {

// `Self` is the class that inherits. As in CUDA a mixture with float is ambiguous: the program says which it means.
template <typename Self, typename FormatType>
struct SmallFloat {
  using Format = FormatType;
  unsigned short __x;

  SmallFloat() = default;
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
  constexpr SmallFloat(T value) : __x(Format::encode(sticky_double(value))) {}
  constexpr operator float() const { return Format::decode(__x); }

  static constexpr Self from_bits(unsigned short bits) {
    Self value{};
    value.__x = bits;
    return value;
  }
  static constexpr Self rounded_from(double value, Rounding rounding = Rounding::kNearestEven) {
    return from_bits(Format::encode(value, rounding));
  }
  constexpr double wide() const { return Format::decode(__x); }

  friend constexpr Self operator+(const Self& a, const Self& b) { return rounded_from(a.wide() + b.wide()); }
  friend constexpr Self operator-(const Self& a, const Self& b) { return rounded_from(a.wide() - b.wide()); }
  friend constexpr Self operator*(const Self& a, const Self& b) { return rounded_from(a.wide() * b.wide()); }
  friend constexpr Self operator/(const Self& a, const Self& b) { return rounded_from(a.wide() / b.wide()); }
  friend constexpr Self& operator+=(Self& a, const Self& b) { return a = a + b; }
  friend constexpr Self& operator-=(Self& a, const Self& b) { return a = a - b; }
  friend constexpr Self& operator*=(Self& a, const Self& b) { return a = a * b; }
  friend constexpr Self& operator/=(Self& a, const Self& b) { return a = a / b; }
  friend constexpr Self& operator++(Self& a) { return a += Self(1); }
  friend constexpr Self& operator--(Self& a) { return a -= Self(1); }
  friend constexpr Self operator++(Self& a, int) {
    const Self old = a;
    ++a;
    return old;
  }
  friend constexpr Self operator--(Self& a, int) {
    const Self old = a;
    --a;
    return old;
  }
  friend constexpr Self operator+(const Self& a) { return a; }
  friend constexpr Self operator-(const Self& a) { return from_bits(static_cast<unsigned short>(a.__x ^ 0x8000u)); }
  friend constexpr bool operator==(const Self& a, const Self& b) { return a.wide() == b.wide(); }
  friend constexpr bool operator!=(const Self& a, const Self& b) { return a.wide() != b.wide(); }
  friend constexpr bool operator<(const Self& a, const Self& b) { return a.wide() < b.wide(); }
  friend constexpr bool operator>(const Self& a, const Self& b) { return a.wide() > b.wide(); }
  friend constexpr bool operator<=(const Self& a, const Self& b) { return a.wide() <= b.wide(); }
  friend constexpr bool operator>=(const Self& a, const Self& b) { return a.wide() >= b.wide(); }
};

// Two of them in one word. `Scalar` is the element.
template <typename Self, typename ScalarType>
struct alignas(4) SmallPair {
  using Scalar = ScalarType;
  Scalar x, y;

  SmallPair() = default;
  constexpr SmallPair(const Scalar& first, const Scalar& second) : x(first), y(second) {}

  friend constexpr Self operator+(const Self& a, const Self& b) { return {a.x + b.x, a.y + b.y}; }
  friend constexpr Self operator-(const Self& a, const Self& b) { return {a.x - b.x, a.y - b.y}; }
  friend constexpr Self operator*(const Self& a, const Self& b) { return {a.x * b.x, a.y * b.y}; }
  friend constexpr Self operator/(const Self& a, const Self& b) { return {a.x / b.x, a.y / b.y}; }
  friend constexpr Self& operator+=(Self& a, const Self& b) { return a = a + b; }
  friend constexpr Self& operator-=(Self& a, const Self& b) { return a = a - b; }
  friend constexpr Self& operator*=(Self& a, const Self& b) { return a = a * b; }
  friend constexpr Self& operator/=(Self& a, const Self& b) { return a = a / b; }
  friend constexpr Self operator-(const Self& a) { return {-a.x, -a.y}; }
  friend constexpr bool operator==(const Self& a, const Self& b) { return a.x == b.x && a.y == b.y; }
  friend constexpr bool operator!=(const Self& a, const Self& b) { return a.x != b.x && a.y != b.y; }
  friend constexpr bool operator<(const Self& a, const Self& b) { return a.x < b.x && a.y < b.y; }
  friend constexpr bool operator>(const Self& a, const Self& b) { return a.x > b.x && a.y > b.y; }
  friend constexpr bool operator<=(const Self& a, const Self& b) { return a.x <= b.x && a.y <= b.y; }
  friend constexpr bool operator>=(const Self& a, const Self& b) { return a.x >= b.x && a.y >= b.y; }
};

template <typename T, typename = void>
inline constexpr bool kIsSmallFloat = false;
template <typename T>
inline constexpr bool kIsSmallFloat<T, std::enable_if_t<std::is_base_of_v<SmallFloat<T, typename T::Format>, T>>> =
    true;
template <typename T, typename = void>
inline constexpr bool kIsSmallPair = false;
template <typename T>
inline constexpr bool kIsSmallPair<T, std::enable_if_t<std::is_base_of_v<SmallPair<T, typename T::Scalar>, T>>> = true;

template <typename T>
using IfSmallFloat = std::enable_if_t<kIsSmallFloat<T>, int>;
template <typename T>
using IfSmallPair = std::enable_if_t<kIsSmallPair<T>, int>;

}  // namespace anygin::simt
