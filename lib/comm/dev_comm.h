// SPDX-License-Identifier: Apache-2.0
// Device communicators: the plain value that kernels get, and what stands behind it (contract 2.8.3).
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "anygin/backends/backend.h"
#include "anygin/base/near_block.h"
#include "anygin/comm/requirements.h"
#include "nccl_device/core.h"

namespace anygin::comm {

class Communicator;
struct Window;

// The device communicators of one communicator, on one rank.
class DevCommSet {
 public:
  explicit DevCommSet(Communicator& communicator);
  ~DevCommSet();

  // Collective. Fills *out and the out pointers of the wish. Fails on all ranks if it fails on one.
  Status create(const DevCommWish& wish, ncclDevComm* out);
  // Local; no kernel uses it any more. kInternalError if it is none of this communicator's.
  Status destroy(const ncclDevComm& dev_comm);
  void clear();

 private:
  struct Entry {
    NearBlock view;            // anyginDevCommView, and the words that follow it
    NearBlock shadows;         // u64 [context][signal], where the resource window is far from kernels
    Window* window = nullptr;  // of the resources; null if there are none
    char* resources = nullptr;
    std::unique_ptr<ContextSet> contexts;
    bool live = true;
  };

  static uint64_t* shadows_of(const Entry& entry, const ResourceLayout& layout);
  Status agree_on(const DevCommWish& wish);
  bool in_kernels(const Entry& entry) const;
  Status open(const DevCommWish& wish, Entry& entry, ResourceLayout& layout, uint32_t& contexts);
  Status open_contexts(const DevCommWish& wish, Entry& entry, ResourceLayout& layout, uint32_t& contexts);
  Status open_multicast(const DevCommWish& wish, ncclDevComm* out);
  Status open_resources(const ResourceLayout& layout, Entry& entry);
  Status fill(const DevCommWish& wish, const Entry& entry, const ResourceLayout& layout, uint32_t contexts,
              ncclDevComm* out);
  void release(Entry& entry);

  Communicator& communicator_;
  std::mutex mutex_;  // entries_
  // By ordinal, equal on all ranks. A destroyed one is released at the next creation that finds it destroyed on all
  // ranks: until then a peer's last operations may still arrive in its memory.
  std::map<uint32_t, Entry> entries_;
  uint32_t last_ordinal_ = 0;
};

}  // namespace anygin::comm
