// SPDX-License-Identifier: Apache-2.0
// How a failed assertion ends the process.
#include "anygin/base/assert.h"

#include <cstdio>
#include <cstdlib>

namespace anygin {

void assertion_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "anygin: assertion failed: %s (%s:%d)\n", condition, file, line);
  std::abort();
}

}  // namespace anygin
