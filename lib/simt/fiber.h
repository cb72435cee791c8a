// SPDX-License-Identifier: Apache-2.0
// Switching stacks: the hand-written switch, told to AddressSanitizer where it is on. A fiber stays on one OS thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "anygin/base/platform.h"

#if defined(ANYGIN_SANITIZE_ADDRESS)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#elif defined(ANYGIN_SANITIZE_THREAD)
#include <sanitizer/tsan_interface.h>
#endif

// ThreadSanitizer keeps a call stack a fiber: functions that end by leaving for another fiber must not be on it.
#if defined(ANYGIN_SANITIZE_THREAD)
#define ANYGIN_NEVER_RETURNS __attribute__((no_sanitize("thread")))
#else
#define ANYGIN_NEVER_RETURNS
#endif

namespace anygin::simt {

struct StackBounds {
  const char* low = nullptr;
  size_t bytes = 0;
};

// What a suspended fiber needs to go on. One cache line, kept in a dense array and never on the fiber's own stack.
struct alignas(64) FiberContext {
  void* pc = nullptr;
  char* sp = nullptr;
  uint64_t rbx = 0, rbp = 0, r12 = 0, r13 = 0, r14 = 0, r15 = 0;
#if defined(ANYGIN_SANITIZE_ADDRESS)
  void* fake_stack = nullptr;
  StackBounds bounds;
#elif defined(ANYGIN_SANITIZE_THREAD)
  void* tsan_fiber = nullptr;
#endif
};

using FiberEntry = void (*)(void* argument);

// Two sets of these: fiber_switch_x86_64.S by hand, fiber_switch_boost.cc for other CPUs. CMake's ANYGIN_FIBER_SWITCH
// says which is linked.
extern "C" {
extern const char anygin_fiber_switch_name[];  // "x86_64" or "boost"
void anygin_fiber_switch(FiberContext* save, const FiberContext* to);
[[noreturn]] void anygin_fiber_resume(const FiberContext* to);
void anygin_fiber_start(FiberContext* save, void* top, FiberEntry entry, void* argument);
[[noreturn]] void anygin_fiber_restart(void* top, FiberEntry entry, void* argument);
void anygin_call_on_stack(void* top, FiberEntry call, void* argument);
}

#if defined(ANYGIN_SANITIZE_ADDRESS)
// Bounds of the stack that the calling thread is on.
extern thread_local StackBounds current_stack_bounds;
// Called first thing on a fresh stack.
void arrive_on_fresh_stack(StackBounds bounds);

inline void switch_fiber(FiberContext* save, const FiberContext* to) {
  save->bounds = current_stack_bounds;
  __sanitizer_start_switch_fiber(&save->fake_stack, to->bounds.low, to->bounds.bytes);
  anygin_fiber_switch(save, to);
  __sanitizer_finish_switch_fiber(save->fake_stack, nullptr, nullptr);
  current_stack_bounds = save->bounds;
}
[[noreturn]] inline void resume_fiber(const FiberContext* to) {
  __sanitizer_start_switch_fiber(nullptr, to->bounds.low, to->bounds.bytes);
  anygin_fiber_resume(to);
}
inline void start_fiber(FiberContext* save, StackBounds stack, char* top, FiberEntry entry, void* argument) {
  save->bounds = current_stack_bounds;
  __sanitizer_start_switch_fiber(&save->fake_stack, stack.low, stack.bytes);
  anygin_fiber_start(save, top, entry, argument);
  __sanitizer_finish_switch_fiber(save->fake_stack, nullptr, nullptr);
  current_stack_bounds = save->bounds;
}
// Throws away what is on the current stack and starts it anew.
[[noreturn]] inline void restart_fiber(StackBounds stack, char* top, FiberEntry entry, void* argument) {
  __asan_unpoison_memory_region(stack.low, stack.bytes);
  __sanitizer_start_switch_fiber(nullptr, stack.low, stack.bytes);
  anygin_fiber_restart(top, entry, argument);
}
// ASan follows no foreign stack pointer inside a fiber: the call stays where it is.
inline void call_on_stack(char*, FiberEntry call, void* argument) {
  call(argument);
}
#elif defined(ANYGIN_SANITIZE_THREAD)
// The fiber that ThreadSanitizer knows for the stack at `low`, made on first use. It can make 8,000 of them.
void* tsan_fiber_of(const char* low);

inline void arrive_on_fresh_stack(StackBounds) {}
// A switch orders the lanes of a worker: races between them are not looked for here, but those of the host's threads.
inline void switch_fiber(FiberContext* save, const FiberContext* to) {
  save->tsan_fiber = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(to->tsan_fiber, 0);
  anygin_fiber_switch(save, to);
}
[[noreturn]] ANYGIN_NEVER_RETURNS inline void resume_fiber(const FiberContext* to) {
  __tsan_switch_to_fiber(to->tsan_fiber, 0);
  anygin_fiber_resume(to);
}
inline void start_fiber(FiberContext* save, StackBounds stack, char* top, FiberEntry entry, void* argument) {
  save->tsan_fiber = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(tsan_fiber_of(stack.low), 0);
  anygin_fiber_start(save, top, entry, argument);
}
[[noreturn]] ANYGIN_NEVER_RETURNS inline void restart_fiber(StackBounds, char* top, FiberEntry entry, void* argument) {
  anygin_fiber_restart(top, entry, argument);
}
inline void call_on_stack(char*, FiberEntry call, void* argument) {
  call(argument);
}
#else
inline void arrive_on_fresh_stack(StackBounds) {}
// These are tail calls of their callers: keep nothing after them (see fiber_switch_x86_64.S).
inline void switch_fiber(FiberContext* save, const FiberContext* to) {
  anygin_fiber_switch(save, to);
}
[[noreturn]] inline void resume_fiber(const FiberContext* to) {
  anygin_fiber_resume(to);
}
inline void start_fiber(FiberContext* save, StackBounds, char* top, FiberEntry entry, void* argument) {
  anygin_fiber_start(save, top, entry, argument);
}
// Throws away what is on the current stack and starts it anew.
[[noreturn]] inline void restart_fiber(StackBounds, char* top, FiberEntry entry, void* argument) {
  anygin_fiber_restart(top, entry, argument);
}
// Runs `call` with its frames at `top`, the free part of a suspended, roomier stack of this thread.
inline void call_on_stack(char* top, FiberEntry call, void* argument) {
  anygin_call_on_stack(top, call, argument);
}
#endif

}  // namespace anygin::simt
