// SPDX-License-Identifier: Apache-2.0
// The 64-bit barrier objects of PTX (mbarrier): arrivals and bytes that are still to come, and the phase. One block's,
// whose lanes run on one thread, so plain words do. Pure functions on the word.
#pragma once

#include <cstdint>

namespace anygin::simt {

struct BarrierWord {
  static constexpr uint32_t kCountMost = (1u << 20) - 1;

  uint64_t pending : 20;   // arrivals that complete the phase
  uint64_t expected : 20;  // arrivals of a phase
  int64_t bytes : 22;      // announced and not yet copied
  uint64_t unused : 1;
  uint64_t phase : 1;  // parity of the phase that is under way

  void init(uint32_t count) {
    pending = expected = count;
    bytes = 0;
    unused = phase = 0;
  }
  void expect(uint32_t more) { bytes += more; }
  // False if more arrive than the barrier was made for.
  bool arrive(uint32_t count) {
    if (count > pending) return false;
    pending -= count;
    advance();
    return true;
  }
  void complete(uint32_t done) {
    bytes -= done;
    advance();
  }
  // The phase of that parity is over.
  bool passed(uint64_t parity) const { return phase != (parity & 1); }

 private:
  void advance() {
    if (pending != 0 || bytes != 0) return;
    pending = expected;
    phase ^= 1;
  }
};
static_assert(sizeof(BarrierWord) == 8, "an mbarrier is a word of 64 bits");

}  // namespace anygin::simt
