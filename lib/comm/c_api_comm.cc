// SPDX-License-Identifier: Apache-2.0
// Communicators: ids, joining, ending, questions.
#include <fmt/format.h>

#include <set>
#include <vector>

#include "anygin/base/env_real.h"
#include "anygin/base/options.h"
#include "anygin/base/order.h"
#include "anygin/base/world.h"
#include "anygin/comm/c_api.h"
#include "anygin/comm/c_api_config.h"
#include "anygin/comm/process_state.h"
#include "anygin/simt/device.h"

namespace anygin::comm {
namespace {

Status init_rank(const char* where, ncclComm_t* comm, int nranks, const ncclUniqueId& id, int rank,
                 const ncclConfig_t* config, int device) {
  if (comm == nullptr) return Status(Cause::kNullArgument, where, "comm is NULL");
  *comm = nullptr;
  if (nranks < 1)
    return Status(Cause::kNumberOutOfRange, where, fmt::format("nranks is {}; 1 or more would be right", nranks));
  if (rank < 0 || rank >= nranks)
    return Status(Cause::kRankOutOfRange, where, fmt::format("rank is {}; 0 to {} would be right", rank, nranks - 1));
  Result<CommunicatorSettings> settings = settings_from(config, {});
  if (!settings.ok()) return settings.status();
  Result<UniqueId> place = decode_unique_id(id.internal);
  if (!place.ok()) return place.status();
  // Before anybody waits for the others.
  ANYGIN_TRY(plan_layout(std::vector<Seat>(static_cast<size_t>(nranks), kAnySeat), options().topology, 0).status());
  CommunicatorOpening opening;
  opening.id = *place;
  opening.size = nranks;
  opening.rank = rank;
  opening.device = device;
  return submit_join({comm, *settings, nullptr, device, true, [opening] { return std::optional(opening); }});
}

Status init_rank_scalable(ncclComm_t* comm, int nranks, int rank, int ids, const ncclUniqueId* all,
                          const ncclConfig_t* config) {
  constexpr const char* kWhere = "ncclCommInitRankScalable";
  if (all == nullptr) return Status(Cause::kNullArgument, kWhere, "commIds is NULL");
  if (ids < 1 || ids > nranks) {
    return Status(Cause::kNumberOutOfRange, kWhere,
                  fmt::format("nId is {}; 1 to nranks, {}, would be right", ids, nranks));
  }
  // One place is enough for as many ranks as a host has: all meet at the first.
  for (int i = 1; i < ids; ++i) {
    Result<UniqueId> spare = decode_unique_id(all[i].internal);
    if (!spare.ok()) return spare.status();
    if (!spare->root_is_rank0) ProcessState::get().close_place(spare->port);
  }
  return init_rank(kWhere, comm, nranks, all[0], rank, config, simt::current_device());
}

Status make_id(ncclUniqueId* out) {
  Result<UniqueId> id = ProcessState::get().carrier().open_place(options());
  if (!id.ok()) return id.status();
  return encode_unique_id(*id, out->internal);
}

Status check_devices(int ndev, const int* devlist) {
  const auto bad = [](Cause cause, std::string text) { return Status(cause, "ncclCommInitAll", std::move(text)); };
  if (ndev < 1) return bad(Cause::kNumberOutOfRange, fmt::format("ndev is {}; 1 or more would be right", ndev));
  const std::string several = environment_variable("NCCL_MULTI_RANK_GPU_ENABLE");
  const bool may_repeat = !several.empty() && several != "0";
  std::set<int> seen;
  for (int i = 0; i < ndev; ++i) {
    const int device = devlist != nullptr ? devlist[i] : i;
    if (device < 0 || device >= simt::device_count()) {
      return bad(Cause::kDeviceUnknown,
                 fmt::format("device {} does not exist; there are {} (ANYGIN_DEVICES)", device, simt::device_count()));
    }
    if (!seen.insert(device).second && !may_repeat) {
      return bad(Cause::kDeviceTwice,
                 fmt::format("device {} is named twice; NCCL_MULTI_RANK_GPU_ENABLE=1 would allow it", device));
    }
  }
  return Status();
}

Status init_all(ncclComm_t* comm, int ndev, const int* devlist) {
  if (comm == nullptr) return Status(Cause::kNullArgument, "ncclCommInitAll", "comm is NULL");
  ANYGIN_TRY(check_devices(ndev, devlist));
  ncclUniqueId id;
  ANYGIN_TRY(make_id(&id));
  group_start();
  for (int rank = 0; rank < ndev; ++rank) {
    group_note(
        init_rank("ncclCommInitAll", comm + rank, ndev, id, rank, nullptr, devlist != nullptr ? devlist[rank] : rank));
  }
  return group_end();
}

// No call on the communicator waits for the end of this thread's group: it would find the communicator gone.
Status check_no_call_waits(const char* where, ncclComm_t comm) {
  if (find(comm) == nullptr || !group_holds(find(comm))) return Status();
  return Status(Cause::kGroupOpen, where,
                "calls on the communicator since ncclGroupStart are not made yet; ncclGroupEnd first would be right");
}

Status finalize(ncclComm_t comm) {
  ANYGIN_TRY(check_idle("ncclCommFinalize", comm));
  ANYGIN_TRY(check_no_call_waits("ncclCommFinalize", comm));
  Communicator& communicator = *find(comm);
  ANYGIN_TRY(communicator.begin_finalize());
  if (communicator.blocking()) return communicator.drain();
  communicator.begin_work();
  ProcessState::get().in_background([&communicator] { communicator.end_work(communicator.drain()); });
  return Status(Cause::kInProgress, "ncclCommFinalize", "it goes on in the background");
}

// What goes on in the background ends first; nobody waits for that.
void abort_now(std::unique_ptr<Communicator> communicator) {
  if (!communicator->busy()) return abort(std::move(communicator));
  if (communicator->joined()) end_waits(*communicator, "aborted it");
  ProcessState::get().in_background([left = std::make_shared<std::unique_ptr<Communicator>>(std::move(communicator))] {
    (*left)->wait_idle();
    abort(std::move(*left));
  });
}

// While something goes on in the background a look takes a moment: a program that only looks leaves the rest room.
Status look_at(Communicator& communicator) {
  communicator.notice_misuse();
  if (communicator.busy()) {
    constexpr Time kMoment = 20 * kMicrosecond;
    const auto idle = [&communicator] { return !communicator.busy(); };
    (void)wait_until(idle, nullptr, WaitReason{}, world().clock.now() + kMoment);
  }
  return communicator.async_error();
}

// Takes the communicator away from everybody else.
Result<std::unique_ptr<Communicator>> take(const char* where, ncclComm_t comm) {
  auto* communicator = reinterpret_cast<Communicator*>(comm);
  if (ProcessState::get().retire(communicator)) return std::unique_ptr<Communicator>(communicator);
  return Status(Cause::kCommInvalid, where, "this is no communicator, or it was destroyed before");
}

// Writes a number of the communicator.
ncclResult_t tell(const char* where, ncclComm_t comm, int* out, int (Communicator::*question)() const) {
  ANYGIN_NCCL_TRY(check_comm(where, comm));
  if (out == nullptr) return refuse(Cause::kNullArgument, where, "the result pointer is NULL");
  ANYGIN_NCCL_TRY(check_answers(where, comm));
  *out = (find(comm)->*question)();
  return ncclSuccess;
}

}  // namespace
}  // namespace anygin::comm

using namespace anygin;
using namespace anygin::comm;

ANYGIN_NCCL_FUNCTION(ncclResult_t, ncclGetVersion, (int* version)) {
  ANYGIN_NCCL_CALL("ncclGetVersion");
  if (version == nullptr) return refuse(Cause::kNullArgument, "ncclGetVersion", "version is NULL");
  *version = NCCL_VERSION_CODE;
  return ncclSuccess;
}

ANYGIN_NCCL_FUNCTION(ncclResult_t, ncclGetUniqueId, (ncclUniqueId * uniqueId)) {
  ANYGIN_NCCL_CALL("ncclGetUniqueId");
  if (uniqueId == nullptr) return refuse(Cause::kNullArgument, "ncclGetUniqueId", "uniqueId is NULL");
  return report(make_id(uniqueId));
}

ANYGIN_NCCL_FUNCTION(ncclResult_t, ncclCommInitRank, (ncclComm_t * comm, int nranks, ncclUniqueId commId, int rank)) {
  ANYGIN_NCCL_CALL("ncclCommInitRank");
  return report(init_rank("ncclCommInitRank", comm, nranks, commId, rank, nullptr, simt::current_device()));
}

ANYGIN_NCCL_FUNCTION(ncclResult_t, ncclCommInitRankConfig,
                     (ncclComm_t * comm, int nranks, ncclUniqueId commId, int rank, ncclConfig_t* config)) {
  ANYGIN_NCCL_CALL("ncclCommInitRankConfig");
  return report(init_rank("ncclCommInitRankConfig", comm, nranks, commId, rank, config, simt::current_device()));
}

ANYGIN_NCCL_FUNCTION(ncclResult_t, ncclCommInitRankScalable,
                     (ncclComm_t * newcomm, int nranks, int myrank, int nId, ncclUniqueId* commIds,
                      ncclConfig_t* config)) {
  ANYGIN_NCCL_CALL("ncclCommInitRankScalable");
  return report(init_rank_scalable(newcomm, nranks, myrank, nId, commIds, config));
}

ANYGIN_NCCL_FUNCTION(ncclResult_t, ncclCommInitAll, (ncclComm_t * comm, int ndev, const int* devlist)) {
  ANYGIN_NCCL_CALL("ncclCommInitAll");
  return report(init_all(comm, ndev, devlist));
}

ANYGIN_NCCL_FUNCTION(ncclResult_t, ncclCommFinalize, (ncclComm_t comm)) {
  ANYGIN_NCCL_CALL("ncclCommFinalize");
  if (comm == nullptr) return ncclSuccess;
  return report(finalize(comm));
}

ANYGIN_NCCL_FUNCTION(ncclResult_t, ncclCommDestroy, (ncclComm_t comm)) {
  ANYGIN_NCCL_CALL("ncclCommDestroy");
  if (comm == nullptr) return ncclSuccess;
  ANYGIN_NCCL_TRY(check_no_call_waits("ncclCommDestroy", comm));
  Result<std::unique_ptr<Communicator>> taken = take("ncclCommDestroy", comm);
  ANYGIN_NCCL_TRY(taken.status());
  return report(destroy(std::move(*taken)));
}

ANYGIN_NCCL_FUNCTION(ncclResult_t, ncclCommAbort, (ncclComm_t comm)) {
  ANYGIN_NCCL_CALL("ncclCommAbort");
  if (comm == nullptr) return ncclSuccess;
  Result<std::unique_ptr<Communicator>> taken = take("ncclCommAbort", comm);
  ANYGIN_NCCL_TRY(taken.status());
  group_drop(taken->get());
  abort_now(std::move(*taken));
  return ncclSuccess;
}

ANYGIN_NCCL_FUNCTION(ncclResult_t, ncclCommGetAsyncError, (ncclComm_t comm, ncclResult_t* asyncError)) {
  ANYGIN_NCCL_CALL("ncclCommGetAsyncError");
  ANYGIN_NCCL_TRY(check_comm("ncclCommGetAsyncError", comm));
  if (asyncError == nullptr) return refuse(Cause::kNullArgument, "ncclCommGetAsyncError", "asyncError is NULL");
  const Status async = look_at(*find(comm));
  keep_last_error(async);
  *asyncError = static_cast<ncclResult_t>(async.code());
  yield_thread();  // it is asked over and over
  return ncclSuccess;
}

ANYGIN_NCCL_FUNCTION(ncclResult_t, ncclCommCount, (const ncclComm_t comm, int* count)) {
  ANYGIN_NCCL_CALL("ncclCommCount");
  return tell("ncclCommCount", comm, count, &Communicator::size);
}

ANYGIN_NCCL_FUNCTION(ncclResult_t, ncclCommCuDevice, (const ncclComm_t comm, int* device)) {
  ANYGIN_NCCL_CALL("ncclCommCuDevice");
  return tell("ncclCommCuDevice", comm, device, &Communicator::device);
}

ANYGIN_NCCL_FUNCTION(ncclResult_t, ncclCommUserRank, (const ncclComm_t comm, int* rank)) {
  ANYGIN_NCCL_CALL("ncclCommUserRank");
  return tell("ncclCommUserRank", comm, rank, &Communicator::rank);
}

ANYGIN_NCCL_FUNCTION(const char*, ncclGetErrorString, (ncclResult_t result)) {
  switch (result) {
    case ncclSuccess:
      return "no error";
    case ncclUnhandledCudaError:
      return "a CUDA call failed";
    case ncclSystemError:
      return "a system call or a NIC failed";
    case ncclInternalError:
      return "internal error";
    case ncclInvalidArgument:
      return "invalid argument";
    case ncclInvalidUsage:
      return "invalid usage";
    case ncclRemoteError:
      return "remote process exited or there was a network error";
    case ncclInProgress:
      return "in progress";
    case ncclTimeout:
      return "time limit passed";
    default:
      return "unknown result code";
  }
}

ANYGIN_NCCL_FUNCTION(const char*, ncclGetLastError, (ncclComm_t)) {
  return last_error_text();
}

ANYGIN_NCCL_FUNCTION(ncclResult_t, ncclGroupStart, (void)) {
  ANYGIN_NCCL_CALL("ncclGroupStart");
  group_start();
  return ncclSuccess;
}

ANYGIN_NCCL_FUNCTION(ncclResult_t, ncclGroupEnd, (void)) {
  ANYGIN_NCCL_CALL("ncclGroupEnd");
  return report(group_end());
}
