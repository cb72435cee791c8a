// SPDX-License-Identifier: Apache-2.0
// What the tests of the SIMT engine share: launching a callable and waiting for it, and the place of a lane.
#pragma once

#include <gtest/gtest.h>

#include "anygin/base/executor.h"
#include "anygin/base/order.h"
#include "anygin/base/world.h"
#include "anygin/simt/cuda_error.h"
#include "anygin/simt/device.h"
#include "anygin/simt/device_runtime.h"

namespace anygin::simt {

template <typename F>
int run(const LaunchShape& shape, F body) {
  const int error = launch_callable(shape, body);
  return error ? error : synchronize_stream(resolve_stream(shape.stream));
}

inline LaunchShape blocks_of(unsigned blocks, unsigned threads) {
  return {{blocks, 1, 1}, {threads, 1, 1}};
}

inline uint64_t global_thread() {
  const uint64_t block =
      anygin_block_idx.x + anygin_grid_dim.x * (anygin_block_idx.y + uint64_t{anygin_grid_dim.y} * anygin_block_idx.z);
  const uint64_t thread =
      anygin_thread_idx.x + anygin_block_dim.x * (anygin_thread_idx.y + anygin_block_dim.y * anygin_thread_idx.z);
  return block * anygin_block_dim.x * anygin_block_dim.y * anygin_block_dim.z + thread;
}

// A host thread waits, at most 10 s. False when the time is up: the test says what it waited for.
template <typename Predicate>
bool eventually(const Predicate& predicate) {
  Waiter waiter;
  waiter.test = [](const void* object) { return static_cast<bool>((*static_cast<const Predicate*>(object))()); };
  waiter.object = &predicate;
  waiter.deadline = world().clock.now() + 10 * kSecond;
  return world().executor.block(waiter) == WaitOutcome::kSatisfied;
}

// A raw read in a spin, as kernels have it. The race is what such a test is about: ThreadSanitizer looks away.
__attribute__((noinline, no_sanitize("thread"))) inline uint32_t read_raw(const uint32_t* word) {
  return *const_cast<const volatile uint32_t*>(word);
}

// Parks the lane until `*word` is at least `least`.
inline WaitOutcome wait_at_least(const uint32_t* word, uint32_t least, const uint32_t* abort_word = nullptr,
                                 Time deadline = kNever) {
  WaitReason reason;
  reason.kind = WaitKind::kElement;
  return wait_until([=] { return __atomic_load_n(word, __ATOMIC_ACQUIRE) >= least; }, abort_word, reason, deadline);
}

// Each test leaves all devices and the thread as it found them.
class SimtTest : public ::testing::Test {
 protected:
  void TearDown() override {
    for (int device = 0; device < device_count(); ++device) reset_device(device);
    set_current_device(0);
    last_error(true);
  }
};

}  // namespace anygin::simt
