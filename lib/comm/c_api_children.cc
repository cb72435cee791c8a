// SPDX-License-Identifier: Apache-2.0
// Communicators made from others: split, shrink, grow; and the end of all waits that comes before (contract 2.4).
#include <fmt/format.h>

#include <algorithm>

#include "anygin/comm/c_api.h"
#include "anygin/comm/c_api_config.h"
#include "anygin/comm/child.h"
#include "anygin/simt/device.h"

namespace anygin::comm {
namespace {

Status split(ncclComm_t comm, int color, int key, ncclComm_t* newcomm, const ncclConfig_t* config) {
  constexpr const char* kWhere = "ncclCommSplit";
  ANYGIN_TRY(check_answers(kWhere, comm));
  if (newcomm == nullptr) return Status(Cause::kNullArgument, kWhere, "newcomm is NULL");
  if (color < 0 && color != NCCL_SPLIT_NOCOLOR) {
    return Status(Cause::kNumberOutOfRange, kWhere,
                  fmt::format("color is {}; 0 or more, or NCCL_SPLIT_NOCOLOR, would be right", color));
  }
  Communicator& parent = *find(comm);
  Result<CommunicatorSettings> settings = settings_from(config, parent.settings());
  if (!settings.ok()) return settings.status();
  const auto plan = [&parent, wish = SplitWish{color, key}] { return plan_split(parent, wish); };
  return submit_join({newcomm, *settings, &parent, parent.device(), color != NCCL_SPLIT_NOCOLOR, plan});
}

// Sorts the list, as the contract says.
Status check_excluded(const Communicator& parent, int* list, int count) {
  constexpr const char* kWhere = "ncclCommShrink";
  if (list == nullptr) return Status(Cause::kNullArgument, kWhere, "excludeRanksList is NULL");
  if (count < 1)
    return Status(Cause::kNumberOutOfRange, kWhere,
                  fmt::format("excludeRanksCount is {}; 1 or more would be right", count));
  std::sort(list, list + count);
  for (int i = 0; i < count; ++i) {
    if (list[i] < 0 || list[i] >= parent.size()) {
      return Status(Cause::kRankOutOfRange, kWhere,
                    fmt::format("rank {} is excluded; the communicator has 0 to {}", list[i], parent.size() - 1));
    }
    if (list[i] == parent.rank())
      return Status(Cause::kRankExcluded, kWhere,
                    fmt::format("rank {} excludes itself; only those that stay call it", list[i]));
    if (i > 0 && list[i] == list[i - 1])
      return Status(Cause::kRankExcluded, kWhere, fmt::format("rank {} is excluded twice", list[i]));
  }
  return Status();
}

Status shrink(ncclComm_t comm, int* list, int count, ncclComm_t* newcomm, const ncclConfig_t* config, int flags) {
  constexpr const char* kWhere = "ncclCommShrink";
  ANYGIN_TRY(check_idle(kWhere, comm));
  if (newcomm == nullptr) return Status(Cause::kNullArgument, kWhere, "newcomm is NULL");
  if (flags != NCCL_SHRINK_DEFAULT && flags != NCCL_SHRINK_ABORT) {
    return Status(Cause::kNumberOutOfRange, kWhere,
                  fmt::format("shrinkFlags is {}; NCCL_SHRINK_DEFAULT or NCCL_SHRINK_ABORT would be right", flags));
  }
  Communicator& parent = *find(comm);
  ANYGIN_TRY(check_excluded(parent, list, count));
  const Status ready = check_answers(kWhere, comm);
  if (!ready.ok() && flags != NCCL_SHRINK_ABORT) {
    return Status(ready.cause(), kWhere, ready.text() + "; with NCCL_SHRINK_ABORT it would shrink nevertheless");
  }
  Result<CommunicatorSettings> settings = settings_from(config, parent.settings());
  if (!settings.ok()) return settings.status();
  const auto plan = [&parent, flags, excluded = std::vector<Rank>(list, list + count)] {
    if (flags == NCCL_SHRINK_ABORT) end_waits(parent, "shrank it and gave up what was under way");
    return plan_shrink(parent, excluded);
  };
  return submit_join({newcomm, *settings, &parent, parent.device(), true, plan});
}

Status offer_id(ncclComm_t comm, ncclUniqueId* id) {
  constexpr const char* kWhere = "ncclCommGetUniqueId";
  ANYGIN_TRY(check_ready(kWhere, comm));
  if (id == nullptr) return Status(Cause::kNullArgument, kWhere, "uniqueId is NULL");
  Result<UniqueId> place = open_own_place();
  if (!place.ok()) return place.status();
  find(comm)->offer_place(*place);
  return encode_unique_id(*place, id->internal);
}

// Of a rank that is in no communicator yet.
Status grow_into(int nranks, const ncclUniqueId* id, int rank, ncclComm_t* newcomm, const ncclConfig_t* config) {
  constexpr const char* kWhere = "ncclCommGrow";
  if (id == nullptr)
    return Status(Cause::kNullArgument, kWhere,
                  "uniqueId is NULL, on a new rank; the one of ncclCommGetUniqueId would be right");
  if (rank < 0 || rank >= nranks) {
    return Status(Cause::kRankOutOfRange, kWhere,
                  fmt::format("rank is {}; up to {} would be right on a new rank", rank, nranks - 1));
  }
  Result<UniqueId> place = decode_unique_id(id->internal);
  if (!place.ok()) return place.status();
  Result<CommunicatorSettings> settings = settings_from(config, {});
  if (!settings.ok()) return settings.status();
  CommunicatorOpening opening;
  opening.id = *place;
  opening.size = nranks;
  opening.rank = rank;
  opening.device = simt::current_device();
  return submit_join({newcomm, *settings, nullptr, opening.device, true, [opening] { return std::optional(opening); }});
}

Status grow(ncclComm_t comm, int nranks, const ncclUniqueId* id, int rank, ncclComm_t* newcomm,
            const ncclConfig_t* config) {
  constexpr const char* kWhere = "ncclCommGrow";
  if (newcomm == nullptr) return Status(Cause::kNullArgument, kWhere, "newcomm is NULL");
  if (nranks < 1)
    return Status(Cause::kNumberOutOfRange, kWhere, fmt::format("nRanks is {}; 1 or more would be right", nranks));
  if (comm == nullptr) return grow_into(nranks, id, rank, newcomm, config);
  ANYGIN_TRY(check_ready(kWhere, comm));
  Communicator& parent = *find(comm);
  if (rank != -1)
    return Status(Cause::kRankOutOfRange, kWhere, fmt::format("rank is {}; -1 would be right: it keeps its own", rank));
  if (nranks <= parent.size()) {
    return Status(Cause::kNumberOutOfRange, kWhere,
                  fmt::format("nRanks is {}; more than {} would be right", nranks, parent.size()));
  }
  GrowWish wish{nranks, parent.offered_place()};
  if (id != nullptr) {
    Result<UniqueId> place = decode_unique_id(id->internal);
    if (!place.ok()) return place.status();
    wish.id = *place;
  }
  Result<CommunicatorSettings> settings = settings_from(config, parent.settings());
  if (!settings.ok()) return settings.status();
  return submit_join(
      {newcomm, *settings, &parent, parent.device(), true, [&parent, wish] { return plan_grow(parent, wish); }});
}

Status revoke(ncclComm_t comm, int flags) {
  constexpr const char* kWhere = "ncclCommRevoke";
  ANYGIN_TRY(check_idle(kWhere, comm));
  if (flags != NCCL_REVOKE_DEFAULT)
    return Status(Cause::kNumberOutOfRange, kWhere, fmt::format("revokeFlags is {}; 0 would be right", flags));
  return find(comm)->revoke();
}

}  // namespace
}  // namespace anygin::comm

using namespace anygin;
using namespace anygin::comm;

ANYGIN_NCCL_FUNCTION(ncclResult_t, ncclCommSplit,
                     (ncclComm_t comm, int color, int key, ncclComm_t* newcomm, ncclConfig_t* config)) {
  ANYGIN_NCCL_CALL("ncclCommSplit");
  return report(split(comm, color, key, newcomm, config));
}

ANYGIN_NCCL_FUNCTION(ncclResult_t, ncclCommShrink,
                     (ncclComm_t comm, int* excludeRanksList, int excludeRanksCount, ncclComm_t* newcomm,
                      ncclConfig_t* config, int shrinkFlags)) {
  ANYGIN_NCCL_CALL("ncclCommShrink");
  return report(shrink(comm, excludeRanksList, excludeRanksCount, newcomm, config, shrinkFlags));
}

ANYGIN_NCCL_FUNCTION(ncclResult_t, ncclCommGetUniqueId, (ncclComm_t comm, ncclUniqueId* uniqueId)) {
  ANYGIN_NCCL_CALL("ncclCommGetUniqueId");
  return report(offer_id(comm, uniqueId));
}

ANYGIN_NCCL_FUNCTION(ncclResult_t, ncclCommGrow,
                     (ncclComm_t comm, int nRanks, const ncclUniqueId* uniqueId, int rank, ncclComm_t* newcomm,
                      ncclConfig_t* config)) {
  ANYGIN_NCCL_CALL("ncclCommGrow");
  return report(grow(comm, nRanks, uniqueId, rank, newcomm, config));
}

ANYGIN_NCCL_FUNCTION(ncclResult_t, ncclCommRevoke, (ncclComm_t comm, int revokeFlags)) {
  ANYGIN_NCCL_CALL("ncclCommRevoke");
  if (comm == nullptr) return ncclSuccess;
  return report(revoke(comm, revokeFlags));
}
