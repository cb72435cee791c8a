// SPDX-License-Identifier: Apache-2.0
// What sanitizers have to know of stacks.
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
#elif defined(ANYGIN_SANITIZE_THREAD)
#include <map>

namespace anygin::simt {

void* tsan_fiber_of(const char* low) {
  thread_local std::map<const char*, void*> fibers;
  void*& fiber = fibers[low];
  if (!fiber) fiber = __tsan_create_fiber(0);
  return fiber;
}

}  // namespace anygin::simt
#endif
