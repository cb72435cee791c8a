// SPDX-License-Identifier: Apache-2.0
// What a program asks for when it creates a device communicator: checked, copied deeply, and turned into a list of
// resources (contract 2.8.2, 2.8.3).
#pragma once

#include <string>
#include <vector>

#include "anygin/base/status.h"
#include "anygin/comm/resource_layout.h"
#include "nccl_device/core.h"

namespace anygin::comm {

class Communicator;

// The newest release whose programs this library serves.
inline constexpr unsigned kNewestVersion = NCCL_VERSION(2, 32, 3);
inline constexpr unsigned kOldestVersion = NCCL_VERSION(2, 30, 0);
// Is a struct of this version served? Newer ones are with NCCL_ENABLE_VERSION_CHECK=0.
bool is_served(unsigned version);
// What to say of one that is not.
std::string describe_version(unsigned version);

// The handle of `barriers` GIN barriers with these signals. The count lets kernels name an index beyond it.
inline ncclGinBarrierHandle gin_barrier_handle(ncclGinSignal_t signal0, int barriers) {
  return {signal0, static_cast<ncclDevResourceHandle_t>(barriers) + 1};
}

struct UserNode {
  ResourceNode resources;
  ncclDevResourceHandle_t* out_handle = nullptr;
  ncclGinSignal_t* out_signals = nullptr;
  ncclGinCounter_t* out_counters = nullptr;
};

struct TeamWish {
  ncclTeam team;
  bool multicast = false;
  ncclMultimemHandle_t* out_handle = nullptr;
};

struct DevCommWish {
  ncclDevCommRequirements asked;  // its lists are not used any more
  std::vector<UserNode> user_nodes;
  std::vector<TeamWish> teams;
  // Of programs of 2.31 and later.
  int gin_type = NCCL_GIN_TYPE_NONE;
  bool custom = false;            // connections to some ranks only: settle_connections() says what that comes to
  int custom_stride = 0;          // not 0: connections at this stride
  std::vector<int> custom_peers;  // connections to these
  // The library's own resources, in the order of the contract.
  static constexpr size_t kWorldGin = 0, kRailGin = 1, kLsa = 2, kHybridWorldGin = 3, kHybridRailGin = 4,
                          kHybridLsa = 5, kOwnNodes = 6;

  bool wants_gin() const { return asked.ginConnectionType != NCCL_GIN_CONNECTION_NONE; }
  bool railed() const { return asked.ginConnectionType == NCCL_GIN_CONNECTION_RAIL; }
  // Barriers of all ranks behind the hybrid ones: a rail cannot have them.
  int hybrid_world_barriers() const { return railed() ? 0 : asked.barrierCount; }
  // Of connections at a stride or to a list, by world rank; the caller is always among them.
  bool connects(int caller, int peer) const;
  // All nodes: own ones first, then the user's.
  std::vector<ResourceNode> nodes(int ranks, int lsa_size) const;
};

// Checks of the call itself: kInvalidUsage for a struct that was not initialized or is of another version.
Result<DevCommWish> copy_requirements(const ncclDevCommRequirements& given);
// What connections of a stride or a list come to here: all ranks, or the rail. Kept as it is where they cannot be.
void settle_connections(DevCommWish& wish, const Communicator& communicator);
// Against what the communicator has; in the order of the contract.
Status check_wish(const DevCommWish& wish, const Communicator& communicator);
// What all ranks must ask for alike, one line; compared at creation.
std::string describe(const DevCommWish& wish);

}  // namespace anygin::comm
