// SPDX-License-Identifier: Apache-2.0
// The multicast addresses of a communicator, on one rank (contract 2.7, 6.2; docs/decisions/0028): each team that wants
// them has a space of addresses, and each window has the same place in all spaces, so that an address is the team's
// base, the window's place and an offset.
#pragma once

#include <map>
#include <mutex>
#include <vector>

#include "anygin/base/status.h"
#include "nccl_device/core.h"

namespace anygin::comm {

class Communicator;
struct Window;

// Host threads; kernels use no window while it is added or removed.
class Multicast {
 public:
  explicit Multicast(const Communicator& communicator) : communicator_(communicator) {}
  ~Multicast();

  // Gives the window its place, in the spaces that are there and in those to come. It gets none (its `mc_place` stays
  // 0) where there is no multicast, with host memory on any rank, or if no room is left.
  void add(Window& window);
  // Also of a window without a place.
  void remove(Window& window);
  // Where the space of the team begins: made when it is first asked for. The team lies within the LSA team.
  Result<char*> space(const ncclTeam& team);
  Result<char*> lsa_space();
  // Where a window that has a place begins in a space.
  static char* address(char* space, const Window& window);
  void clear();

 private:
  struct Space {
    ncclTeam team;
    char* base;
  };

  void map(const Space& space, const Window& window) const;

  const Communicator& communicator_;
  mutable std::mutex mutex_;                   // all below
  std::map<uint32_t, const Window*> windows_;  // by place
  std::vector<Space> spaces_;
};

}  // namespace anygin::comm
