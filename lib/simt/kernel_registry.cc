// SPDX-License-Identifier: Apache-2.0
// Kernels by address. Records come in from static constructors, so the table exists from the first use on, and is
// never destroyed: launches may happen in static destructors.
#include <map>
#include <mutex>

#include "anygin/simt/device_runtime.h"

namespace anygin::simt {

namespace {

struct KernelTable {
  std::mutex mutex;
  std::map<const void*, const KernelRecord*, std::less<>> records;  // looked up by address, never walked
};

KernelTable& kernel_table() {
  static KernelTable& table = *new KernelTable;
  return table;
}

}  // namespace

// Instantiations of one template in several files register the same function again.
extern "C" void anygin_register_kernel(const KernelRecord* record) {
  KernelTable& table = kernel_table();
  const std::lock_guard lock(table.mutex);
  table.records.insert_or_assign(record->function, record);  // an image may lie where an unloaded one lay
}

extern "C" const KernelRecord* anygin_find_kernel(const void* function) {
  KernelTable& table = kernel_table();
  const std::lock_guard lock(table.mutex);
  const auto found = table.records.find(function);
  return found == table.records.end() ? nullptr : found->second;
}

}  // namespace anygin::simt
