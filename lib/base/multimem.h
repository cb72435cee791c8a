// SPDX-License-Identifier: Apache-2.0
// Multimem addresses: a range of addresses that stands for the same range in the memory of several ranks. Nothing is
// mapped there: multimem instructions and device code look the range up (docs/decisions/0028). One table a process.
#pragma once

#include <cstddef>

#include "anygin/base/array_view.h"

namespace anygin {

// What a multimem address stands for: replica i is at bases[i] + offset, i = 0 to count - 1, in the order of ranks.
// `bases` stays valid until the range is unmapped. count 0: it is no multimem address.
struct MultimemReplicas {
  char* const* bases = nullptr;
  size_t offset = 0;
  int count = 0;

  char* at(int i) const { return bases[i] + offset; }
};

// Of all of the `bytes` bytes at `address`, which lie in one range. Any thread, lanes too; no wait but for the table's
// lock.
extern "C" void anygin_find_multimem(const void* address, size_t bytes, MultimemReplicas* found);

// Addresses that nothing else has; null if there is no room. Host threads.
char* reserve_multimem(size_t bytes);
void release_multimem(char* base, size_t bytes);
// [base, base + bytes) stands for [replica, replica + bytes) of each replica, in the order of ranks. Host threads; no
// kernel uses a range while it is unmapped.
void map_multimem(char* base, size_t bytes, ArrayView<char* const> replicas);
void unmap_multimem(char* base);

}  // namespace anygin
