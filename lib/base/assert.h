// SPDX-License-Identifier: Apache-2.0
// Programmer errors in our own code. Assertions are on in every build, release included.
// Operating errors (a dead peer, a full disk) are Status; misuse by a program is reported, never asserted.
#pragma once

#include "anygin/base/platform.h"

#if defined(ANYGIN_TARGET_CUDA) && defined(__CUDA_ARCH__)
#define ANYGIN_ASSERT(condition) ((condition) ? (void)0 : __trap())
#else
#define ANYGIN_ASSERT(condition) ((condition) ? (void)0 : ::anygin::assertion_failed(#condition, __FILE__, __LINE__))
#endif

namespace anygin {

// Prints the condition and the place to stderr and aborts. Any thread.
[[noreturn]] void assertion_failed(const char* condition, const char* file, int line);

}  // namespace anygin
