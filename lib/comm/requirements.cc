// SPDX-License-Identifier: Apache-2.0
#include "anygin/comm/requirements.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "anygin/comm/communicator.h"

namespace anygin::comm {
namespace {

constexpr const char* kWhere = "device communicator";

Status refuse(Cause cause, std::string text) {
  return Status(cause, kWhere, std::move(text));
}

Status check_counts(const DevCommWish& wish) {
  const ncclDevCommRequirements& r = wish.asked;
  const std::pair<const char*, int> counts[] = {{"barrierCount", r.barrierCount},
                                                {"lsaBarrierCount", r.lsaBarrierCount},
                                                {"railGinBarrierCount", r.railGinBarrierCount},
                                                {"worldGinBarrierCount", r.worldGinBarrierCount},
                                                {"ginContextCount", r.ginContextCount},
                                                {"ginSignalCount", r.ginSignalCount},
                                                {"ginCounterCount", r.ginCounterCount},
                                                {"ginQueueDepth", r.ginQueueDepth}};
  for (const auto& [name, count] : counts) {
    if (count < 0)
      return refuse(Cause::kNumberOutOfRange, fmt::format("{} is {}; 0 or more would be right", name, count));
  }
  return Status();
}

// A team of multicast lies in the LSA team, as a sequence with the caller in its place.
Status check_team(const ncclTeam& team, const Layout& layout, Rank rank) {
  const bool sound = team.nRanks >= 1 && 0 <= team.rank && team.rank < team.nRanks;
  const int64_t own = layout.lsa_rank(rank);
  const int64_t first = own - int64_t{team.rank} * team.stride;
  const int64_t last = first + (int64_t{team.nRanks} - 1) * team.stride;
  const auto within = [&](int64_t lsa_rank) { return 0 <= lsa_rank && lsa_rank < layout.lsa_size; };
  if (sound && (team.nRanks == 1 || team.stride != 0) && within(first) && within(last)) return Status();
  return refuse(
      Cause::kMulticastTeam,
      fmt::format("multicast memory is asked for a team of {} ranks, own rank {}, stride {}: not a part of the LSA "
                  "team of {} ranks, where the caller is rank {}",
                  team.nRanks, team.rank, team.stride, layout.lsa_size, own));
}

Status check_multicast(const DevCommWish& wish, const Communicator& communicator) {
  bool wanted = wish.asked.lsaMultimem;
  for (const TeamWish& team : wish.teams) wanted |= team.multicast;
  if (wanted && !communicator.multicast()) {
    return refuse(Cause::kNoMulticast,
                  "multicast memory is asked for (lsaMultimem, or a team's multimem), which is not there: see "
                  "ncclCommProperties_t::multimemSupport");
  }
  for (const TeamWish& team : wish.teams) {
    if (team.multicast) ANYGIN_TRY(check_team(team.team, communicator.layout(), communicator.rank()));
  }
  return Status();
}

}  // namespace

Result<DevCommWish> copy_requirements(const ncclDevCommRequirements& given) {
  if (given.magic != NCCL_API_MAGIC) {
    return refuse(Cause::kNotInitialized,
                  "the requirements were not initialized; start from NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER");
  }
  if (given.version > kNewestVersion || given.version < kOldestVersion) {
    return refuse(Cause::kVersion, fmt::format("the program was compiled for version {}; this library serves {} to {}",
                                               given.version, kOldestVersion, kNewestVersion));
  }
  DevCommWish wish;
  wish.asked = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER;
  std::memcpy(&wish.asked, &given, std::min(given.size, sizeof(wish.asked)));
  if (wish.asked.ginForceEnable) wish.asked.ginConnectionType = NCCL_GIN_CONNECTION_FULL;
  for (const auto* node = wish.asked.resourceRequirementsList; node != nullptr; node = node->next) {
    if (node->ginSignalCount < 0 || node->ginCounterCount < 0) {
      return refuse(Cause::kNumberOutOfRange, "a resource asks for a negative number of signals or counters");
    }
    wish.user_nodes.push_back({{node->bufferSize, node->bufferAlign, static_cast<uint32_t>(node->ginSignalCount),
                                static_cast<uint32_t>(node->ginCounterCount)},
                               node->outBufferHandle,
                               node->outGinSignalStart,
                               node->outGinCounterStart});
  }
  for (const auto* team = wish.asked.teamRequirementsList; team != nullptr; team = team->next) {
    wish.teams.push_back({team->team, team->multimem, team->outMultimemHandle});
  }
  wish.asked.resourceRequirementsList = nullptr;
  wish.asked.teamRequirementsList = nullptr;
  return wish;
}

std::vector<ResourceNode> DevCommWish::nodes(int ranks, int lsa_size) const {
  const auto signals = [](int barriers, int members) {
    return ResourceNode{0, 1, static_cast<uint32_t>(barriers * members), 0};
  };
  const auto lsa = [lsa_size](int barriers) {
    return ResourceNode{lsa_barrier_bytes(static_cast<uint64_t>(barriers), static_cast<uint64_t>(lsa_size)), 4, 0, 0};
  };
  const int rails = ranks / lsa_size;
  std::vector<ResourceNode> all = {
      signals(asked.worldGinBarrierCount, ranks), signals(asked.railGinBarrierCount, rails), lsa(asked.lsaBarrierCount),
      signals(hybrid_world_barriers(), ranks),    signals(asked.barrierCount, rails),        lsa(asked.barrierCount)};
  for (const UserNode& node : user_nodes) all.push_back(node.resources);
  return all;
}

Status check_wish(const DevCommWish& wish, const Communicator& communicator) {
  ANYGIN_TRY(check_counts(wish));
  const ncclDevCommRequirements& r = wish.asked;
  bool uses_gin = r.ginSignalCount > 0 || r.ginCounterCount > 0 || r.barrierCount > 0 || r.railGinBarrierCount > 0 ||
                  r.worldGinBarrierCount > 0;
  for (const UserNode& node : wish.user_nodes) uses_gin |= node.resources.signals > 0 || node.resources.counters > 0;
  if (uses_gin && !wish.wants_gin()) {
    return refuse(Cause::kConnectionNone,
                  "signals, counters or barriers over the network are asked for, but ginConnectionType is "
                  "NCCL_GIN_CONNECTION_NONE; FULL or RAIL would be right (lsaBarrierCount needs neither)");
  }
  if (wish.wants_gin()) {
    if (!communicator.reaches_rail())
      return refuse(Cause::kNoBackend, "the communicator has no GIN: " + communicator.gin().why_none);
    if (!wish.railed() && !communicator.reaches_all()) {
      return refuse(Cause::kRailOnly,
                    "ginConnectionType is FULL, but only ranks of one rail reach each other here (suffix \"rail\" "
                    "of ANYGIN_TOPOLOGY, or NCCL_CROSS_NIC=0); RAIL would be right");
    }
    if (r.worldGinBarrierCount > 0 && wish.railed()) {
      return refuse(Cause::kRailOnly, "worldGinBarrierCount needs ginConnectionType FULL");
    }
  }
  return check_multicast(wish, communicator);
}

std::string describe(const DevCommWish& wish) {
  const ncclDevCommRequirements& r = wish.asked;
  std::string line = fmt::format(
      "ginConnectionType {}, ginContextCount {}, ginSignalCount {}, ginCounterCount {}, barrierCount {}, "
      "lsaBarrierCount {}, railGinBarrierCount {}, worldGinBarrierCount {}, ginStrongSignalsRequired {}, "
      "ginVaSignalsRequired {}, ginQueueDepth {}, lsaMultimem {}",
      static_cast<int>(r.ginConnectionType), r.ginContextCount, r.ginSignalCount, r.ginCounterCount, r.barrierCount,
      r.lsaBarrierCount, r.railGinBarrierCount, r.worldGinBarrierCount, r.ginStrongSignalsRequired,
      r.ginVaSignalsRequired, r.ginQueueDepth, r.lsaMultimem);
  for (const UserNode& node : wish.user_nodes) {
    line += fmt::format(", resource of {} bytes aligned to {} with {} signals and {} counters", node.resources.bytes,
                        node.resources.align, node.resources.signals, node.resources.counters);
  }
  for (const TeamWish& team : wish.teams) {
    line +=
        fmt::format(", a team of {} ranks, stride {}, multimem {}", team.team.nRanks, team.team.stride, team.multicast);
  }
  return line;
}

}  // namespace anygin::comm
