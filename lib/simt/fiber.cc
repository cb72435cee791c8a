// SPDX-License-Identifier: Apache-2.0
// Where each thread's stack lies, for AddressSanitizer.
#include "anygin/simt/fiber.h"

#if defined(ANYGIN_SANITIZE_ADDRESS)
#include <pthread.h>

namespace anygin::simt {

namespace {

StackBounds bounds_of_this_thread() {
  pthread_attr_t attributes;
  void* low = nullptr;
  size_t bytes = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    pthread_attr_getstack(&attributes, &low, &bytes);
    pthread_attr_destroy(&attributes);
  }
  return {static_cast<char*>(low), bytes};
}

}  // namespace

thread_local StackBounds current_stack_bounds = bounds_of_this_thread();

void arrive_on_fresh_stack(StackBounds bounds) {
  __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
  current_stack_bounds = bounds;
}

}  // namespace anygin::simt
#endif
