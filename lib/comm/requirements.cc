// SPDX-License-Identifier: Apache-2.0
#include "anygin/comm/requirements.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <mutex>

#include "anygin/base/log.h"
#include "anygin/base/mutant.h"
#include "anygin/base/options.h"
#include "anygin/comm/communicator.h"
#include "anygin/comm/newer_fields.h"

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

// A struct that a program filled with zeros, as those of before 2.29 were: what it did not set has its default.
ncclDevCommRequirements initialized(const ncclDevCommRequirements& given) {
  static std::once_flag told;
  std::call_once(told, [] {
    log(LogLevel::kWarn,
        "device communicator: the requirements are filled with zeros; fields that are 0 take their defaults. Start "
        "from NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER");
  });
  const ncclDevCommRequirements defaults = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER;
  ncclDevCommRequirements made = given;
  made.size = defaults.size;
  made.magic = defaults.magic;
  made.version = defaults.version;
  if (made.ginContextCount == 0) made.ginContextCount = defaults.ginContextCount;
  if (made.ginTrafficClass == 0) made.ginTrafficClass = defaults.ginTrafficClass;
  made.ginStrongSignalsRequired = defaults.ginStrongSignalsRequired;
  made.ginVaSignalsRequired = defaults.ginVaSignalsRequired;
  return made;
}

// A program of a newer release may say numbers that the enumeration of ours does not have.
int connection_number(const ncclDevCommRequirements& given) {
  int number = 0;
  static_assert(sizeof(number) == sizeof(given.ginConnectionType));
  std::memcpy(&number, &given.ginConnectionType, sizeof(number));
  return number;
}

// What 2.31 and 2.32 appended.
Status copy_newer(const ncclDevCommRequirements& given, DevCommWish& wish) {
  const int type = connection_number(given);
  const bool newer = !MUTANT(newer_fields_unread) && given.version >= kSince231 &&
                     ANYGIN_HAS_FIELD(NewerRequirements, cft_barriers, given.size);
  if (!newer) {
    if (type <= NCCL_GIN_CONNECTION_RAIL && type >= 0) return Status();
    return refuse(Cause::kNumberOutOfRange, fmt::format("ginConnectionType is {}; 0 to 2 would be right", type));
  }
  NewerRequirements fields{};
  std::memcpy(&fields, &given, std::min(given.size, sizeof(fields)));
  if (fields.cft_caps != 0 || fields.cft_barriers != 0) {
    return refuse(Cause::kNotSupported, "cftCaps and cftBarrierCount are not possible; 0 would be right");
  }
  wish.gin_type = fields.gin_type;
  if (type == kCustomStride) {
    if (fields.custom_stride < 1) {
      return refuse(Cause::kNumberOutOfRange,
                    fmt::format("ginCustomStride is {}; 1 or more would be right", fields.custom_stride));
    }
    wish.custom_stride = fields.custom_stride;
  } else if (type == kCustomArray && given.version >= kSince232 &&
             ANYGIN_HAS_FIELD(NewerRequirements, custom_array_count, given.size)) {
    if (fields.custom_array_count < 0) {
      return refuse(Cause::kNumberOutOfRange,
                    fmt::format("ginCustomArrayCount is {}; 0 or more would be right", fields.custom_array_count));
    }
    if (fields.custom_array == nullptr && fields.custom_array_count > 0)
      return refuse(Cause::kNullArgument, "ginCustomArray is NULL");
    wish.custom_peers.assign(fields.custom_array, fields.custom_array + fields.custom_array_count);
  } else if (type < 0 || type > NCCL_GIN_CONNECTION_RAIL) {
    return refuse(Cause::kNumberOutOfRange, fmt::format("ginConnectionType {} is none", type));
  }
  wish.custom = type > NCCL_GIN_CONNECTION_RAIL;
  if (wish.custom) wish.asked.ginConnectionType = NCCL_GIN_CONNECTION_FULL;
  return Status();
}

Status check_peers(const DevCommWish& wish, const Communicator& communicator) {
  for (const int peer : wish.custom_peers) {
    if (peer >= 0 && peer < communicator.size()) continue;
    return refuse(Cause::kRankOutOfRange,
                  fmt::format("ginCustomArray names rank {}; 0 to {} would be right", peer, communicator.size() - 1));
  }
  return Status();
}

}  // namespace

bool is_served(unsigned version) {
  return version >= kOldestVersion && (version <= kNewestVersion || options().nccl_enable_version_check == 0);
}

std::string describe_version(unsigned version) {
  const auto named = [](unsigned code) { return fmt::format("{}.{}.{}", code / 10000, code / 100 % 100, code % 100); };
  return fmt::format("the program was compiled with the headers of {} ({}); this library serves {} to {}",
                     named(version), version, named(kOldestVersion), named(kNewestVersion));
}

bool DevCommWish::connects(int caller, int peer) const {
  if (custom_stride != 0) return (peer - caller) % custom_stride == 0;
  return peer == caller || std::find(custom_peers.begin(), custom_peers.end(), peer) != custom_peers.end();
}

void settle_connections(DevCommWish& wish, const Communicator& communicator) {
  if (!wish.custom) return;
  const int lsa_size = communicator.layout().lsa_size;
  bool on_rail = wish.custom_stride % lsa_size == 0;
  for (const int peer : wish.custom_peers) on_rail &= (peer - communicator.rank()) % lsa_size == 0;
  wish.asked.ginConnectionType =
      communicator.reaches_all() || !on_rail ? NCCL_GIN_CONNECTION_FULL : NCCL_GIN_CONNECTION_RAIL;
}

Result<DevCommWish> copy_requirements(const ncclDevCommRequirements& given) {
  if (given.size == 0 && given.magic == 0 && given.version == 0) return copy_requirements(initialized(given));
  if (given.magic != NCCL_API_MAGIC) {
    return refuse(Cause::kNotInitialized,
                  fmt::format("the requirements carry the number {:#x} instead of {:#x}: they were not initialized, or "
                              "come from another release's headers; start from "
                              "NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER",
                              given.magic, NCCL_API_MAGIC));
  }
  if (!is_served(given.version)) return refuse(Cause::kVersion, describe_version(given.version));
  DevCommWish wish;
  wish.asked = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER;
  std::memcpy(&wish.asked, &given, std::min(given.size, sizeof(wish.asked)));
  ANYGIN_TRY(copy_newer(given, wish));
  if (wish.asked.ginForceEnable) wish.asked.ginConnectionType = NCCL_GIN_CONNECTION_FULL;
  for (const auto* node = wish.asked.resourceRequirementsList; node != nullptr; node = node->next) {
    if (node->ginSignalCount < 0 || node->ginCounterCount < 0) {
      return refuse(Cause::kNumberOutOfRange, "a resource asks for a negative number of signals or counters");
    }
    const int signals = MUTANT(comm_resource_signals_dropped) ? 0 : node->ginSignalCount;
    wish.user_nodes.push_back({{node->bufferSize, node->bufferAlign, static_cast<uint32_t>(signals),
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
  ANYGIN_TRY(check_peers(wish, communicator));
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
    if (wish.gin_type != NCCL_GIN_TYPE_NONE && wish.gin_type != NCCL_GIN_TYPE_PROXY) {
      return refuse(Cause::kNoBackend, fmt::format("ginType is {}, and the communicator has {} (proxy)", wish.gin_type,
                                                   static_cast<int>(NCCL_GIN_TYPE_PROXY)));
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
  if (wish.gin_type != NCCL_GIN_TYPE_NONE) line += fmt::format(", ginType {}", wish.gin_type);
  if (wish.custom_stride != 0) line += fmt::format(", ginCustomStride {}", wish.custom_stride);
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
