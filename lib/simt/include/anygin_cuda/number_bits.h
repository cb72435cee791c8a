// SPDX-License-Identifier: Apache-2.0
// Small helpers of the face's headers: the bits of a value, and conversion to integers as a GPU does it.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace anygin::simt {

template <typename T>
struct Plain {
  using Type = T;
};
// A parameter whose type another parameter decides.
template <typename T>
using Same = typename Plain<T>::Type;

template <typename To, typename From>
constexpr To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, from);
}

// `whole` is an integral floating-point number, or not finite. What does not fit becomes the nearest that does.
template <typename To, typename From>
To saturated(From whole, To if_nan) {
  if (std::isnan(whole)) return if_nan;
  // 2^(bits): the first value that does not fit; exact in both source types.
  const From limit = std::ldexp(From{1}, std::numeric_limits<To>::digits);
  if (whole >= limit) return std::numeric_limits<To>::max();
  if (whole <= (std::is_signed_v<To> ? -limit : From{0})) return std::numeric_limits<To>::min();
  return static_cast<To>(whole);
}

}  // namespace anygin::simt
