// SPDX-License-Identifier: Apache-2.0
// Registered memory of a communicator (contract 2.7): who registered how much, where each LSA rank's part is mapped,
// and the view that kernels get.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "anygin/base/bootstrap.h"
#include "anygin/base/heap.h"
#include "anygin/base/ids.h"
#include "anygin/base/near_block.h"
#include "anygin/base/status.h"
#include "anygin/comm/address_table.h"
#include "anygin/comm/multicast.h"
#include "anygin/comm/window_offer.h"
#include "nccl_device/core.h"

namespace anygin {
class Backend;
}

namespace anygin::comm {

class Communicator;

struct Window {
  Communicator* communicator = nullptr;
  WindowId id;
  WindowRequest request;
  DeviceHeap::Hold memory;       // freed before it is deregistered, it goes to nobody else until then
  std::vector<uint64_t> sizes;   // by rank
  std::vector<char*> lsa_bases;  // by LSA rank
  std::vector<DeviceHeap::Extent> near_extents;
  NearBlock block;                    // the view, then the arrays it points to
  ncclWindow_vidmem* view = nullptr;  // where kernels find it: ncclWindow_t
  ncclWindow_vidmem& host_view() { return *reinterpret_cast<ncclWindow_vidmem*>(block.host()); }
  bool host_memory = false;       // on any rank
  bool several_segments = false;  // of physical memory, on any rank
  uint32_t mc_place = 0;          // Multicast's
  bool live = true;
  bool in_backend = false;
  bool in_host_queue = false;
};

// The windows of one communicator, on one rank. Views stay readable until clear(): a late use is seen and named.
class WindowSet {
 public:
  explicit WindowSet(Communicator& communicator);
  ~WindowSet();

  // Collective. Fails on all ranks if it fails on one.
  Result<Window*> add(const WindowRequest& request);
  // Local, at once. kInvalidArgument if the view is no live window of this communicator.
  Status remove(const ncclWindow_vidmem* view);
  // Of all windows, live and dead. Any thread.
  std::vector<const void*> views() const;
  // The live window with this view, or null.
  Window* find(const ncclWindow_vidmem* view) const;
  // A live window of the program's with all of `flags` that holds `address`, or null.
  Window* find(const void* address, int flags) const;

  // Collective, once: a backend was opened after windows were registered.
  Status tell_backend();
  // What kernels search by address, also for windows that are registered later.
  Result<ncclDevCommWindowTable*> table() { return table_.first(); }
  // What kernels reach all LSA ranks by at once.
  Multicast& multicast() { return multicast_; }
  // Everything ends; kernels that used the windows have ended.
  void clear();

 private:
  Result<std::unique_ptr<Window>> agree_on(const WindowRequest& request);
  Status reach_near(const Window& window);
  Status build_view(Window& window);
  Status tell_engines(Window& window);
  Status end(Window& window);

  Communicator& communicator_;
  mutable std::mutex mutex_;                             // windows_
  std::map<uint16_t, std::unique_ptr<Window>> windows_;  // by id; dead ones too
  uint16_t last_id_ = 0;
  Multicast multicast_;
  AddressTable table_;
};

}  // namespace anygin::comm
