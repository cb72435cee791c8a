// SPDX-License-Identifier: Apache-2.0
// Sleeping and waking by a word in shared memory.
//
// Why no wake-up is lost. A sleeper S: reads seen = value (1), looks at its condition (2), adds itself to sleepers (3),
// reads value (4), sleeps in the kernel only while value == seen (5). A ringer R: makes the condition true (a), adds
// one to value (b), reads sleepers (c), wakes if it is not zero (d). (1), (3), (4), (b), (c) are sequentially
// consistent: one order of all of them exists.
//  - (b) before (1): S reads a value that R wrote with release order, so S sees (a) at (2) and does not sleep.
//  - (1) before (b) before (4): S reads another value at (4) and does not sleep.
//  - (4) before (b): then (3) before (c), so R sees the sleeper and calls the kernel (d). The kernel compares value
//  with
//    seen and queues S in one step with respect to (d): either S is queued before (d), and is woken, or S compares
//    after (b) and does not sleep.
// A sleeper that dies asleep leaves sleepers too high: that costs the ringers of its own word a system call, no more.
#include "anygin/base/env_real.h"
#include "anygin/base/executor.h"
#include "anygin/base/mutant.h"

namespace anygin {

void ring(WakeWord& word) {
  if (!MUTANT(ring_keeps_value)) word.value.fetch_add(1, std::memory_order_seq_cst);
  if (word.sleepers.load(std::memory_order_seq_cst) != 0) futex_wake_all(&word.value);
}

void sleep_on(WakeWord& word, uint32_t seen, uint64_t timeout_ns) {
  word.sleepers.fetch_add(1, std::memory_order_seq_cst);
  if (word.value.load(std::memory_order_seq_cst) == seen) futex_wait(&word.value, seen, timeout_ns);
  word.sleepers.fetch_sub(1, std::memory_order_seq_cst);
}

void ring_everybody(Executor& executor) {
  ring(executor.wake_word());
  ring(executor.host_word());
}

extern "C" void anygin_ring_wake(void* wake_word) {
  if (wake_word) ring(*static_cast<WakeWord*>(wake_word));
}

}  // namespace anygin
