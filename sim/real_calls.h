// SPDX-License-Identifier: Apache-2.0
// The C library's own calls behind those that the simulated world interposes.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

namespace anygin::sim {

int real_pthread_create(pthread_t* handle, const pthread_attr_t* attributes, void* (*start)(void*), void* argument);
// FUTEX_WAIT_PRIVATE without time limit, FUTEX_WAKE_PRIVATE.
void real_futex(std::atomic<uint32_t>* word, int operation, uint32_t value);
// A system call by its number; returns -errno.
long real_system_call(long number, long a, long b, long c, long d, long e, long f);
// The next definition of `name` after ours; `version` as in GLIBC_2.3.2, null: the default one.
void* next_definition(const char* name, const char* version = nullptr);

}  // namespace anygin::sim
