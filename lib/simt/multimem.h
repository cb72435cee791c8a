// SPDX-License-Identifier: Apache-2.0
// Multimem addresses: a range of addresses that stands for the same range in the memory of several devices. Nothing is
// mapped there; the multimem instructions look the range up.
#pragma once

#include <cstddef>
#include <vector>

namespace anygin::simt {

// Addresses that nothing else has; null if there is no room. Host threads.
char* reserve_multimem(size_t bytes);
void release_multimem(char* base, size_t bytes);
// [base, base + bytes) stands for [replica, replica + bytes) of each replica, in the order of ranks. Host threads.
void map_multimem(char* base, size_t bytes, std::vector<char*> replicas);
void unmap_multimem(char* base);

// What `bytes` bytes at `address` stand for; empty if it is no multimem address, or they leave the range. Any thread.
std::vector<char*> multimem_replicas(const void* address, size_t bytes);

}  // namespace anygin::simt
