// SPDX-License-Identifier: Apache-2.0
#include "anygin/base/choices_seeded.h"

#include "anygin/base/assert.h"

namespace anygin {

uint64_t mix_bits(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

SeededChoices::SeededChoices(uint64_t seed) : seed_(seed) {}

uint64_t SeededChoices::draw(ChoiceKind kind) {
  constexpr uint64_t kGoldenRatio = 0x9e3779b97f4a7c15;  // odd: every multiple differs
  const auto index = static_cast<size_t>(kind);
  ANYGIN_ASSERT(index < kKinds);
  const uint64_t n = drawn_[index].fetch_add(1, std::memory_order_relaxed);
  const uint64_t stream = mix_bits(mix_bits(seed_ + kGoldenRatio) + index);
  return mix_bits(stream + (n + 1) * kGoldenRatio);
}

size_t SeededChoices::pick(ChoiceKind kind, ArrayView<const ChoiceOption> options) {
  return static_cast<size_t>(pick_below(kind, options.size()));
}

uint64_t SeededChoices::pick_below(ChoiceKind kind, uint64_t count) {
  ANYGIN_ASSERT(count > 0);
  if (count == 1) return 0;
  // Of the 2^64 draws the first 2^64 mod count are thrown away, so that the rest falls evenly on all remainders.
  const uint64_t excess = (0 - count) % count;
  while (true) {
    const uint64_t bits = draw(kind);
    if (bits >= excess) return bits % count;
  }
}

}  // namespace anygin
