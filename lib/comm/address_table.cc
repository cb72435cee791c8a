// SPDX-License-Identifier: Apache-2.0
#include "anygin/comm/address_table.h"

#include <cstring>

#include "anygin/base/assert.h"
#include "anygin/base/heap.h"
#include "anygin/base/order.h"
#include "anygin/base/world.h"
#include "anygin/comm/communicator.h"

namespace anygin::comm {
namespace {

Result<ncclDevCommWindowTable*> empty_table(int device) {
  Result<char*> memory = world().heap.allocate(sizeof(ncclDevCommWindowTable), device);
  if (!memory.ok()) return memory.status();
  std::memset(*memory, 0, sizeof(ncclDevCommWindowTable));
  return reinterpret_cast<ncclDevCommWindowTable*>(*memory);
}

}  // namespace

AddressTable::~AddressTable() {
  clear();
}

Result<ncclDevCommWindowTable*> AddressTable::first() {
  const std::lock_guard lock(mutex_);
  if (first_ == nullptr) {
    Result<ncclDevCommWindowTable*> made = empty_table(communicator_.device());
    if (!made.ok()) return made;
    first_ = *made;
  }
  return first_;
}

Status AddressTable::list(char* base, uint64_t bytes, ncclWindow_vidmem* view) {
  ANYGIN_TRY(first().status());
  const std::lock_guard lock(mutex_);
  ncclDevCommWindowTable** link = &first_;
  for (; *link != nullptr; link = &(*link)->next) {
    for (auto& entry : (*link)->entries) {
      if (entry.window != nullptr) continue;
      entry.base = reinterpret_cast<uintptr_t>(base);
      entry.size = bytes;
      publish(&entry.window, view);
      return Status();
    }
  }
  Result<ncclDevCommWindowTable*> more = empty_table(communicator_.device());
  if (!more.ok()) return more.status();
  (*more)->entries[0] = {reinterpret_cast<uintptr_t>(base), bytes, view};
  publish(link, *more);
  return Status();
}

void AddressTable::unlist(const ncclWindow_vidmem* view) {
  const std::lock_guard lock(mutex_);
  for (ncclDevCommWindowTable* table = first_; table != nullptr; table = table->next) {
    for (auto& entry : table->entries) {
      if (entry.window == view) publish(&entry.window, static_cast<ncclWindow_vidmem*>(nullptr));
    }
  }
}

void AddressTable::clear() {
  const std::lock_guard lock(mutex_);
  while (first_ != nullptr) {
    ncclDevCommWindowTable* next = first_->next;
    const Status freed = world().heap.free(first_);
    ANYGIN_ASSERT(freed.ok());
    first_ = next;
  }
}

}  // namespace anygin::comm
