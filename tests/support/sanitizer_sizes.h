// SPDX-License-Identifier: Apache-2.0
// Sizes of tests that ThreadSanitizer cannot run as they are: its runtime knows 8,128 threads and fibers in all, and
// instrumented code is ten to thirty times slower. Such a test runs smaller there, never not at all.
#pragma once

#include "anygin/base/platform.h"

namespace anygin::testing {

// `usual`, or `small` under ThreadSanitizer.
template <typename T>
constexpr T size_under_tsan([[maybe_unused]] T usual, [[maybe_unused]] T small) {
#if defined(ANYGIN_SANITIZE_THREAD)
  return small;
#else
  return usual;
#endif
}

}  // namespace anygin::testing
