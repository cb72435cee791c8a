// SPDX-License-Identifier: Apache-2.0
// How the functions of nccl.h are written: each is pncclX, with ncclX as a weak alias that a profiler may replace.
// libnccl.so holds these faces and no state.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "anygin/base/host_threads.h"
#include "anygin/base/status.h"
#include "anygin/comm/communicator.h"
#include "anygin/comm/group.h"
#include "anygin/comm/last_error.h"
#include "nccl_device/core.h"

#define ANYGIN_NCCL_FUNCTION(result, name, parameters)                       \
  extern "C" result p##name parameters;                                      \
  extern "C" __attribute__((weak, alias("p" #name))) result name parameters; \
  extern "C" result p##name parameters

// The first statement of each: the call is known to the hang verdict and to reports.
#define ANYGIN_NCCL_CALL(name) const ::anygin::ApiCall anygin_api_call_(name)

namespace anygin::comm {

inline ncclComm_t handle_of(Communicator* communicator) {
  return reinterpret_cast<ncclComm_t>(communicator);
}

// Keeps the text, notes the error in an open group, and gives the code.
inline ncclResult_t report(const Status& status) {
  keep_last_error(status);
  group_note(status);
  return static_cast<ncclResult_t>(status.code());
}

inline ncclResult_t refuse(Cause cause, const char* where, std::string text) {
  return report(Status(cause, where, std::move(text)));
}

// The communicator behind a handle, or null if it is none that lives. For functions that return no result code.
inline Communicator* find(ncclComm_t comm) {
  auto* communicator = reinterpret_cast<Communicator*>(comm);
  return comm != nullptr && ProcessState::get().is_alive(communicator) ? communicator : nullptr;
}

// The same, null as well while a call on it goes on in the background.
inline Communicator* find_idle(ncclComm_t comm) {
  Communicator* communicator = find(comm);
  return communicator != nullptr && !communicator->busy() ? communicator : nullptr;
}

inline Status check_comm(const char* where, ncclComm_t comm) {
  if (find(comm) != nullptr) return Status();
  return Status(Cause::kCommInvalid, where,
                comm == nullptr ? "the communicator is NULL" : "this is no communicator, or it was destroyed before");
}

// The communicator lives, and no call on it goes on in the background.
inline Status check_idle(const char* where, ncclComm_t comm) {
  ANYGIN_TRY(check_comm(where, comm));
  if (!find(comm)->busy()) return Status();
  return Status(Cause::kCommBusy, where,
                "a call on the communicator is in progress; poll ncclCommGetAsyncError until it says so no more");
}

// It met no error outside a call, or was revoked: it answers questions.
inline Status check_answers(const char* where, ncclComm_t comm) {
  ANYGIN_TRY(check_idle(where, comm));
  if (find(comm)->revoked()) return Status();
  const Status async = find(comm)->async_error();
  return async.ok() ? async : Status(async.cause(), where, async.detail());
}

// It answers and works.
inline Status check_ready(const char* where, ncclComm_t comm) {
  ANYGIN_TRY(check_answers(where, comm));
  return find(comm)->revoked() ? Status(Cause::kCommRevoked, where, kRevokedHint) : Status();
}

// As report(); what fails on a non-blocking communicator is its asynchronous error, too (contract 3.1).
inline ncclResult_t report_on(ncclComm_t comm, const Status& status) {
  Communicator* communicator = find_idle(comm);
  if (communicator != nullptr && !communicator->blocking()) communicator->keep_failure(status);
  return report(status);
}

// A communicator to be made at the end of the group. `plan` gives the opening, or none where this rank gets no
// communicator; it may wait for other ranks.
using JoinPlan = std::function<Result<std::optional<CommunicatorOpening>>()>;
struct JoinRequest {
  ncclComm_t* out = nullptr;
  CommunicatorSettings settings;
  Communicator* parent = nullptr;
  int device = 0;
  bool takes_part = true;  // false: certainly gets none
  JoinPlan plan;
};
Status submit_join(JoinRequest request);

}  // namespace anygin::comm

#define ANYGIN_NCCL_TRY(status)                                                        \
  do {                                                                                 \
    const ::anygin::Status anygin_nccl_status_ = (status);                             \
    if (!anygin_nccl_status_.ok()) return ::anygin::comm::report(anygin_nccl_status_); \
  } while (false)
