// SPDX-License-Identifier: Apache-2.0
// Numbers that wrap have a type: no operator<, only before(). The one comparison for queue indices, signals and
// counters, on host and device (contract 7.9.3, promise P13).
#pragma once

#include "anygin/base/platform.h"

namespace anygin {

// True iff `least` is reached by `value` in rolling arithmetic of `bits` bits (1..64):
// (value - least) mod 2^bits < 2^(bits-1).
ANYGIN_HOST_DEVICE constexpr bool rolling_reached(uint64_t least, uint64_t value, int bits) {
  const uint64_t mask = ~uint64_t{0} >> (64 - bits);
  return ((value - least) & mask) <= (mask >> 1);
}

// A free-running index of `Bits` bits, kept in an unsigned Rep of at least that width.
template <int Bits, typename Rep = uint64_t>
class Seq {
 public:
  static constexpr Rep kMask = static_cast<Rep>(~uint64_t{0} >> (64 - Bits));

  constexpr Seq() = default;
  ANYGIN_HOST_DEVICE constexpr explicit Seq(Rep raw) : raw_(static_cast<Rep>(raw & kMask)) {}

  ANYGIN_HOST_DEVICE constexpr Rep raw() const { return raw_; }
  ANYGIN_HOST_DEVICE constexpr Seq operator+(Rep n) const { return Seq(static_cast<Rep>(raw_ + n)); }
  // How far `this` is ahead of `earlier`, modulo 2^Bits.
  ANYGIN_HOST_DEVICE constexpr Rep distance_from(Seq earlier) const {
    return static_cast<Rep>((raw_ - earlier.raw_) & kMask);
  }
  // True iff `a` comes strictly before `b`; meaningful while they are less than half the range apart.
  friend ANYGIN_HOST_DEVICE constexpr bool before(Seq a, Seq b) {
    return a.raw_ != b.raw_ && rolling_reached(a.raw_, b.raw_, Bits);
  }
  friend ANYGIN_HOST_DEVICE constexpr bool operator==(Seq a, Seq b) { return a.raw_ == b.raw_; }
  friend ANYGIN_HOST_DEVICE constexpr bool operator!=(Seq a, Seq b) { return a.raw_ != b.raw_; }

 private:
  Rep raw_{};
};

}  // namespace anygin
