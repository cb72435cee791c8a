// SPDX-License-Identifier: Apache-2.0
#include "anygin/sim/real_calls.h"

#include <dlfcn.h>
#include <sys/syscall.h>

#include "anygin/base/assert.h"

namespace anygin::sim {

long real_system_call(long number, long a, long b, long c, long d, long e, long f) {
  long result;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}

void real_futex(std::atomic<uint32_t>* word, int operation, uint32_t value) {
  (void)real_system_call(SYS_futex, reinterpret_cast<long>(word), operation, static_cast<long>(value), 0, 0, 0);
}

void* next_definition(const char* name, const char* version) {
  void* found = version != nullptr ? dlvsym(RTLD_NEXT, name, version) : dlsym(RTLD_NEXT, name);
  ANYGIN_ASSERT(found != nullptr);
  return found;
}

int real_pthread_create(pthread_t* handle, const pthread_attr_t* attributes, void* (*start)(void*), void* argument) {
  using Create = int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static auto* const create = reinterpret_cast<Create*>(next_definition("pthread_create"));
  return create(handle, attributes, start, argument);
}

}  // namespace anygin::sim
