// SPDX-License-Identifier: Apache-2.0
// What a run did, in 64 bits: equal runs have equal digests. Addresses, thread ids and real time never enter one.
#pragma once

#include <cstdint>

#include "anygin/base/choices_seeded.h"

namespace anygin::sim {

inline constexpr uint64_t kDigestVersion = 1;  // of what is added, and in which order

class Digest {
 public:
  void add(uint64_t word) {
    value_ = mix_bits(value_ ^ (word + 0x9e3779b97f4a7c15));
    ++words_;
  }
  uint64_t value() const { return value_; }
  uint64_t words() const { return words_; }

 private:
  uint64_t value_ = mix_bits(kDigestVersion);
  uint64_t words_ = 0;
};

}  // namespace anygin::sim
