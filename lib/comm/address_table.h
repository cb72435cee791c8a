// SPDX-License-Identifier: Apache-2.0
// Windows as kernels search them by address: a chain of tables in memory that kernels reach, which grows while they
// read.
#pragma once

#include <mutex>

#include "anygin/base/status.h"
#include "nccl_device/core.h"

namespace anygin::comm {

class Communicator;

// Thread-safe. Kernels that read it have ended before its end.
class AddressTable {
 public:
  explicit AddressTable(const Communicator& communicator) : communicator_(communicator) {}
  ~AddressTable();
  AddressTable(const AddressTable&) = delete;
  AddressTable& operator=(const AddressTable&) = delete;

  // What kernels begin with, for windows that are listed later, too. Made when it is first asked for.
  Result<ncclDevCommWindowTable*> first();
  Status list(char* base, uint64_t bytes, ncclWindow_vidmem* view);
  void unlist(const ncclWindow_vidmem* view);
  // Kernels do not find anything any more.
  void clear();

 private:
  const Communicator& communicator_;
  std::mutex mutex_;
  ncclDevCommWindowTable* first_ = nullptr;
};

}  // namespace anygin::comm
