// SPDX-License-Identifier: Apache-2.0
// Choices drawn from a seed. The n-th draw of a kind is a function of (seed, kind, n) alone, so kinds do not disturb
// each other and the numbers are the same on every machine.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "anygin/base/choices.h"

namespace anygin {

// Thread-safe; with several threads the order of draws is theirs.
class SeededChoices final : public ChoiceSource {
 public:
  explicit SeededChoices(uint64_t seed);

  size_t pick(ChoiceKind kind, ArrayView<const ChoiceOption> options) override;
  uint64_t pick_below(ChoiceKind kind, uint64_t count) override;

  uint64_t seed() const { return seed_; }

 private:
  static constexpr size_t kKinds = static_cast<size_t>(ChoiceKind::kKinds);

  uint64_t draw(ChoiceKind kind);

  const uint64_t seed_;
  std::array<std::atomic<uint64_t>, kKinds> drawn_{};
};

// 64 random-looking bits, a bijection of `x` (the finaliser of SplitMix64; Steele, Lea, Flood 2014).
uint64_t mix_bits(uint64_t x);

}  // namespace anygin
