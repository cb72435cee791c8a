// SPDX-License-Identifier: Apache-2.0
#include "anygin/base/multimem.h"

#include <sys/mman.h>

#include <map>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "anygin/base/mutant.h"

namespace anygin {
namespace {

struct Range {
  size_t bytes;
  std::vector<char*> replicas;
};

struct Table {
  std::shared_mutex mutex;
  std::map<char*, Range> ranges;  // by start
};

// Never destroyed: lanes may still run while the process exits.
Table& table() {
  static Table& one = *new Table;
  return one;
}

}  // namespace

char* reserve_multimem(size_t bytes) {
  void* base = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return base == MAP_FAILED ? nullptr : static_cast<char*>(base);
}

void release_multimem(char* base, size_t bytes) {
  munmap(base, bytes);
}

void map_multimem(char* base, size_t bytes, ArrayView<char* const> replicas) {
  const std::lock_guard lock(table().mutex);
  table().ranges[base] = {bytes, {replicas.begin(), replicas.end()}};
}

void unmap_multimem(char* base) {
  const std::lock_guard lock(table().mutex);
  table().ranges.erase(base);
}

extern "C" void anygin_find_multimem(const void* pointer, size_t bytes, MultimemReplicas* found) {
  *found = MultimemReplicas{};
  auto* address = static_cast<char*>(const_cast<void*>(pointer));
  const std::shared_lock lock(table().mutex);
  auto after = table().ranges.upper_bound(address);
  if (after == table().ranges.begin()) return;
  const auto& [base, range] = *std::prev(after);
  const auto offset = static_cast<size_t>(address - base);
  if (offset > range.bytes || bytes > range.bytes - offset) return;
  const auto count = static_cast<int>(range.replicas.size()) - (MUTANT(multimem_last_left_out) ? 1 : 0);
  *found = {range.replicas.data(), offset, count};
}

}  // namespace anygin
