// SPDX-License-Identifier: Apache-2.0
// The host functions of the device API: properties, device communicators, teams, requirements (contract 2.8).
#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <iterator>

#include "anygin/comm/c_api.h"
#include "anygin/comm/dev_comm.h"
#include "anygin/comm/newer_fields.h"
#include "anygin/comm/requirements.h"

namespace anygin::comm {
namespace {

// Equal on the ranks of a communicator.
uint64_t hash_of(const std::string& name) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

// What 2.31 appended, as far as the program's struct has it.
void fill_newer(const Communicator& communicator, ncclCommProperties_t& props) {
  if (props.version < kSince231 || !ANYGIN_HAS_FIELD(NewerProperties, dev_comm_bytes, props.size)) return;
  auto& out = reinterpret_cast<NewerProperties&>(props);
  const bool all = communicator.reaches_all(), rail = communicator.reaches_rail();
  out.hash = hash_of(communicator.name());
  out.min_stride = rail ? communicator.layout().lsa_size : INT_MAX;
  if (all) out.min_stride = 1;
  out.connection_type = rail ? NCCL_GIN_CONNECTION_RAIL : NCCL_GIN_CONNECTION_NONE;
  if (all) out.connection_type = NCCL_GIN_CONNECTION_FULL;
  std::fill_n(out.support, std::size(out.support), false);
  out.support[NCCL_GIN_TYPE_PROXY] = rail;
  out.dev_comm_bytes = sizeof(ncclDevComm);
}

Status query_properties(ncclComm_t comm, ncclCommProperties_t* props) {
  constexpr const char* kWhere = "ncclCommQueryProperties";
  ANYGIN_TRY(check_comm(kWhere, comm));
  if (props == nullptr) return Status(Cause::kNullArgument, kWhere, "props is NULL");
  ANYGIN_TRY(check_answers(kWhere, comm));
  if (props->magic != NCCL_API_MAGIC) {
    return Status(Cause::kNotInitialized, kWhere,
                  fmt::format("props carries the number {:#x} instead of {:#x}: it was not initialized, or comes from "
                              "another release's headers; start from NCCL_COMM_PROPERTIES_INITIALIZER",
                              props->magic, NCCL_API_MAGIC));
  }
  if (!is_served(props->version)) return Status(Cause::kVersion, kWhere, describe_version(props->version));
  const Communicator& communicator = *find(comm);
  props->rank = communicator.rank();
  props->nRanks = communicator.size();
  props->cudaDev = props->nvmlDev = communicator.device();
  props->deviceApiSupport = communicator.symmetric();
  props->multimemSupport = communicator.multicast();
  props->ginType = communicator.reaches_all() ? NCCL_GIN_TYPE_PROXY : NCCL_GIN_TYPE_NONE;
  props->railedGinType = communicator.reaches_rail() ? NCCL_GIN_TYPE_PROXY : NCCL_GIN_TYPE_NONE;
  props->nLsaTeams = communicator.layout().lsa_teams();
  props->hostRmaSupport = communicator.why_no_host_rma().empty();
  fill_newer(communicator, *props);
  return Status();
}

Status create_dev_comm(ncclComm_t comm, const ncclDevCommRequirements_t* reqs, ncclDevComm_t* out) {
  constexpr const char* kWhere = "ncclDevCommCreate";
  ANYGIN_TRY(check_comm(kWhere, comm));
  if (reqs == nullptr) return Status(Cause::kNullArgument, kWhere, "reqs is NULL");
  Result<DevCommWish> wish = copy_requirements(*reqs);
  if (!wish.ok()) return wish.status();
  ANYGIN_TRY(check_idle(kWhere, comm));
  Communicator* communicator = find(comm);
  if (!communicator->symmetric()) {
    return Status(
        Cause::kNoSymmetricMemory, kWhere,
        "the communicator has no symmetric memory: NCCL_WIN_ENABLE is 0, or it spans several LSA teams without "
        "GIN" +
            (communicator->gin().why_none.empty() ? "" : " (" + communicator->gin().why_none + ")"));
  }
  ANYGIN_TRY(check_ready(kWhere, comm));
  if (out == nullptr) return Status(Cause::kNullArgument, kWhere, "outDevComm is NULL");
  settle_connections(*wish, *communicator);
  return group_submit({JobKind::kDevComm, communicator, communicator->device(),
                       [communicator, wish = *wish, out] { return communicator->dev_comms().create(wish, out); }});
}

ncclTeam_t team_of(ncclComm_t comm, ncclTeam_t (*make)(const Communicator&)) {
  const Communicator* communicator = find_idle(comm);
  return communicator != nullptr ? make(*communicator) : ncclTeam_t{0, 0, 0};
}

ncclTeam_t lsa_team(const Communicator& c) {
  return c.symmetric() ? ncclTeam_t{c.layout().lsa_size, c.layout().lsa_rank(c.rank()), 1} : ncclTeam_t{0, 0, 0};
}

ncclTeam_t rail_team(const Communicator& c) {
  return c.symmetric() ? ncclTeam_t{c.layout().lsa_teams(), c.layout().lsa_team(c.rank()), c.layout().lsa_size}
                       : ncclTeam_t{0, 0, 0};
}

// The checks that the builders share.
Status check_builder(const char* where, const char* what, int count, const void* handle, const void* requirement) {
  if (handle == nullptr || requirement == nullptr) {
    return Status(Cause::kNullArgument, where, handle == nullptr ? "outHandle is NULL" : "outReq is NULL");
  }
  if (count >= 0) return Status();
  return Status(Cause::kNumberOutOfRange, where, fmt::format("{} is {}; 0 or more would be right", what, count));
}

}  // namespace
}  // namespace anygin::comm

using namespace anygin;
using namespace anygin::comm;

ANYGIN_NCCL_FUNCTION(ncclResult_t, ncclCommQueryProperties, (ncclComm_t comm, ncclCommProperties_t* props)) {
  ANYGIN_NCCL_CALL("ncclCommQueryProperties");
  return report(query_properties(comm, props));
}

ANYGIN_NCCL_FUNCTION(ncclResult_t, ncclDevCommCreate,
                     (ncclComm_t comm, ncclDevCommRequirements_t const* reqs, ncclDevComm_t* outDevComm)) {
  ANYGIN_NCCL_CALL("ncclDevCommCreate");
  return report(create_dev_comm(comm, reqs, outDevComm));
}

ANYGIN_NCCL_FUNCTION(ncclResult_t, ncclDevCommDestroy, (ncclComm_t comm, ncclDevComm_t const* devComm)) {
  ANYGIN_NCCL_CALL("ncclDevCommDestroy");
  ANYGIN_NCCL_TRY(check_idle("ncclDevCommDestroy", comm));
  if (devComm == nullptr) return refuse(Cause::kNullArgument, "ncclDevCommDestroy", "devComm is NULL");
  return report(find(comm)->dev_comms().destroy(*devComm));
}

ANYGIN_NCCL_FUNCTION(ncclTeam_t, ncclTeamWorld, (ncclComm_t comm)) {
  return team_of(comm, [](const Communicator& c) { return ncclTeam_t{c.size(), c.rank(), 1}; });
}

ANYGIN_NCCL_FUNCTION(ncclTeam_t, ncclTeamLsa, (ncclComm_t comm)) {
  return team_of(comm, lsa_team);
}

ANYGIN_NCCL_FUNCTION(ncclTeam_t, ncclTeamRail, (ncclComm_t comm)) {
  return team_of(comm, rail_team);
}

ANYGIN_NCCL_FUNCTION(int, ncclTeamRankToWorld, (ncclComm_t comm, ncclTeam_t team, int rank)) {
  const Communicator* communicator = find_idle(comm);
  return communicator != nullptr ? communicator->rank() + (rank - team.rank) * team.stride : -1;
}

ANYGIN_NCCL_FUNCTION(int, ncclTeamRankToLsa, (ncclComm_t comm, ncclTeam_t team, int rank)) {
  const Communicator* communicator = find_idle(comm);
  if (communicator == nullptr || !communicator->symmetric()) return -1;
  return communicator->layout().lsa_rank(communicator->rank()) + (rank - team.rank) * team.stride;
}

ANYGIN_NCCL_FUNCTION(ncclResult_t, ncclLsaBarrierCreateRequirement,
                     (ncclTeam_t team, int nBarriers, ncclLsaBarrierHandle_t* outHandle,
                      ncclDevResourceRequirements_t* outReq)) {
  ANYGIN_NCCL_CALL("ncclLsaBarrierCreateRequirement");
  ANYGIN_NCCL_TRY(check_builder("ncclLsaBarrierCreateRequirement", "nBarriers", nBarriers, outHandle, outReq));
  *outReq = ncclDevResourceRequirements_t{};
  outReq->bufferSize = lsa_barrier_bytes(static_cast<uint64_t>(nBarriers), static_cast<uint64_t>(team.nRanks));
  outReq->bufferAlign = 4;
  outReq->outBufferHandle = &outHandle->bufHandle;
  outHandle->nBarriers = nBarriers;
  return ncclSuccess;
}

ANYGIN_NCCL_FUNCTION(ncclResult_t, ncclGinBarrierCreateRequirement,
                     (ncclComm_t, ncclTeam_t team, int nBarriers, ncclGinBarrierHandle_t* outHandle,
                      ncclDevResourceRequirements_t* outReq)) {
  ANYGIN_NCCL_CALL("ncclGinBarrierCreateRequirement");
  ANYGIN_NCCL_TRY(check_builder("ncclGinBarrierCreateRequirement", "nBarriers", nBarriers, outHandle, outReq));
  *outReq = ncclDevResourceRequirements_t{};
  outReq->ginSignalCount = nBarriers * team.nRanks;
  outReq->outGinSignalStart = &outHandle->signal0;
  outHandle->unused = gin_barrier_handle(0, nBarriers).unused;
  return ncclSuccess;
}

ANYGIN_NCCL_FUNCTION(int, ncclLLA2ACalcSlots, (int maxElts, int maxEltSize)) {
  return maxElts * ((maxEltSize + 7) / 8);
}

ANYGIN_NCCL_FUNCTION(ncclResult_t, ncclLLA2ACreateRequirement,
                     (int nBlocks, int nSlots, ncclLLA2AHandle_t* outHandle, ncclDevResourceRequirements_t* outReq)) {
  ANYGIN_NCCL_CALL("ncclLLA2ACreateRequirement");
  ANYGIN_NCCL_TRY(check_builder("ncclLLA2ACreateRequirement", "nBlocks", nBlocks, outHandle, outReq));
  ANYGIN_NCCL_TRY(check_builder("ncclLLA2ACreateRequirement", "nSlots", nSlots, outHandle, outReq));
  *outReq = ncclDevResourceRequirements_t{};
  outReq->bufferSize = static_cast<size_t>(nBlocks) * (1 + 2 * static_cast<size_t>(nSlots)) * 16;
  outReq->bufferAlign = 16;
  outReq->outBufferHandle = &outHandle->bufHandle;
  outHandle->nSlots = static_cast<uint32_t>(nSlots);
  return ncclSuccess;
}
