// SPDX-License-Identifier: Apache-2.0
// Buffer registration, and what has no meaning without NCCL's memory manager and cost model (contract 2.4).
#include <fmt/format.h>

#include "anygin/comm/c_api.h"

namespace anygin::comm {
namespace {

Status register_buffer(const ncclComm_t comm, const void* buff, size_t size, void** handle) {
  constexpr const char* kWhere = "ncclCommRegister";
  ANYGIN_TRY(check_comm(kWhere, comm));
  if (buff == nullptr) return Status(Cause::kNullArgument, kWhere, "buff is NULL");
  if (handle == nullptr) return Status(Cause::kNullArgument, kWhere, "handle is NULL");
  if (size == 0) return Status(Cause::kNumberOutOfRange, kWhere, "size is 0");
  *handle = find(comm)->registrations().add();
  return Status();
}

Status deregister_buffer(const ncclComm_t comm, void* handle) {
  constexpr const char* kWhere = "ncclCommDeregister";
  ANYGIN_TRY(check_comm(kWhere, comm));
  if (handle == nullptr || find(comm)->registrations().remove(handle)) return Status();
  return Status(Cause::kRegistrationUnknown, kWhere,
                "it is no registration of this communicator, or was deregistered before");
}

Status no_manager(const char* where) {
  return Status(Cause::kNotSupported, where,
                "there is no memory manager, as with NCCL_DISABLE_MEM_MANAGER=1: memory of communicators stays");
}

Status suspend(ncclComm_t comm, int flags) {
  constexpr const char* kWhere = "ncclCommSuspend";
  ANYGIN_TRY(check_comm(kWhere, comm));
  if (flags != NCCL_SUSPEND_MEM) {
    return Status(Cause::kNumberOutOfRange, kWhere,
                  fmt::format("flags is {:#x}; NCCL_SUSPEND_MEM would be right", static_cast<unsigned>(flags)));
  }
  return no_manager(kWhere);
}

Status memory_stats(ncclComm_t comm, ncclCommMemStat_t stat, const uint64_t* value) {
  constexpr const char* kWhere = "ncclCommMemStats";
  ANYGIN_TRY(check_comm(kWhere, comm));
  if (value == nullptr) return Status(Cause::kNullArgument, kWhere, "value is NULL");
  if (static_cast<int>(stat) < ncclStatGpuMemSuspend || stat > ncclStatGpuMemTotal) {
    return Status(Cause::kNumberOutOfRange, kWhere,
                  fmt::format("stat is {}; 0 to {} would be right", static_cast<int>(stat),
                              static_cast<int>(ncclStatGpuMemTotal)));
  }
  return no_manager(kWhere);
}

Status simulate(const ncclSimInfo_t* info) {
  constexpr const char* kWhere = "ncclGroupSimulateEnd";
  const bool sound = info == nullptr || (info->magic == NCCL_SIM_INFO_MAGIC && info->size >= sizeof(size_t));
  // The group ends in any case: nobody could end it afterwards.
  const Status ended = group_simulate();
  if (!sound) {
    return Status(Cause::kConfigInvalid, kWhere, "simInfo was not initialized; start from NCCL_SIM_INFO_INITIALIZER");
  }
  return ended;
}

}  // namespace
}  // namespace anygin::comm

using namespace anygin;
using namespace anygin::comm;

ANYGIN_NCCL_FUNCTION(ncclResult_t, ncclCommRegister, (const ncclComm_t comm, void* buff, size_t size, void** handle)) {
  ANYGIN_NCCL_CALL("ncclCommRegister");
  return report(register_buffer(comm, buff, size, handle));
}

ANYGIN_NCCL_FUNCTION(ncclResult_t, ncclCommDeregister, (const ncclComm_t comm, void* handle)) {
  ANYGIN_NCCL_CALL("ncclCommDeregister");
  return report(deregister_buffer(comm, handle));
}

ANYGIN_NCCL_FUNCTION(ncclResult_t, ncclCommSuspend, (ncclComm_t comm, int flags)) {
  ANYGIN_NCCL_CALL("ncclCommSuspend");
  return report(suspend(comm, flags));
}

ANYGIN_NCCL_FUNCTION(ncclResult_t, ncclCommResume, (ncclComm_t comm)) {
  ANYGIN_NCCL_CALL("ncclCommResume");
  ANYGIN_NCCL_TRY(check_comm("ncclCommResume", comm));
  return report(no_manager("ncclCommResume"));
}

ANYGIN_NCCL_FUNCTION(ncclResult_t, ncclCommMemStats, (ncclComm_t comm, ncclCommMemStat_t stat, uint64_t* value)) {
  ANYGIN_NCCL_CALL("ncclCommMemStats");
  return report(memory_stats(comm, stat, value));
}

// Drops the group's calls. There is no cost model: estimatedTime stays as it is, -1 after the initializer.
ANYGIN_NCCL_FUNCTION(ncclResult_t, ncclGroupSimulateEnd, (ncclSimInfo_t * simInfo)) {
  ANYGIN_NCCL_CALL("ncclGroupSimulateEnd");
  return report(simulate(simInfo));
}

// Deprecated, and does nothing in NCCL either. A macro unless the system is named.
#undef ncclResetDebugInit
ANYGIN_NCCL_FUNCTION(void, ncclResetDebugInit, (void)) {}
