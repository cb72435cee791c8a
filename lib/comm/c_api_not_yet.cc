// SPDX-License-Identifier: Apache-2.0
// Declared, linked, and not there yet: each says so and does nothing (docs/api-coverage.md).
#include "anygin/comm/c_api.h"

namespace anygin::comm {
namespace {

ncclResult_t not_yet(const char* name) {
  return report(Status(Cause::kNotSupported, name,
                       "not yet: this version declares the function and does not have it (docs/api-coverage.md)"));
}

}  // namespace
}  // namespace anygin::comm

#define ANYGIN_NCCL_NOT_YET(name, parameters)            \
  ANYGIN_NCCL_FUNCTION(ncclResult_t, name, parameters) { \
    ANYGIN_NCCL_CALL(#name);                             \
    return ::anygin::comm::not_yet(#name);               \
  }

// Communicators.
ANYGIN_NCCL_NOT_YET(ncclCommSuspend, (ncclComm_t, int))
ANYGIN_NCCL_NOT_YET(ncclCommResume, (ncclComm_t))
ANYGIN_NCCL_NOT_YET(ncclCommMemStats, (ncclComm_t, ncclCommMemStat_t, uint64_t*))
ANYGIN_NCCL_NOT_YET(ncclCommRegister, (const ncclComm_t, void*, size_t, void**))
ANYGIN_NCCL_NOT_YET(ncclCommDeregister, (const ncclComm_t, void*))

// The rest.
ANYGIN_NCCL_NOT_YET(ncclGroupSimulateEnd, (ncclSimInfo_t*))
ANYGIN_NCCL_NOT_YET(ncclParamBind, (ncclParamHandle_t*, const char*))
ANYGIN_NCCL_NOT_YET(ncclParamGetI8, (ncclParamHandle_t, int8_t*))
ANYGIN_NCCL_NOT_YET(ncclParamGetI16, (ncclParamHandle_t, int16_t*))
ANYGIN_NCCL_NOT_YET(ncclParamGetI32, (ncclParamHandle_t, int32_t*))
ANYGIN_NCCL_NOT_YET(ncclParamGetI64, (ncclParamHandle_t, int64_t*))
ANYGIN_NCCL_NOT_YET(ncclParamGetU8, (ncclParamHandle_t, uint8_t*))
ANYGIN_NCCL_NOT_YET(ncclParamGetU16, (ncclParamHandle_t, uint16_t*))
ANYGIN_NCCL_NOT_YET(ncclParamGetU32, (ncclParamHandle_t, uint32_t*))
ANYGIN_NCCL_NOT_YET(ncclParamGetU64, (ncclParamHandle_t, uint64_t*))
ANYGIN_NCCL_NOT_YET(ncclParamGetStr, (ncclParamHandle_t, const char**))
ANYGIN_NCCL_NOT_YET(ncclParamGet, (ncclParamHandle_t, void*, int, int*))
ANYGIN_NCCL_NOT_YET(ncclParamGetParameter, (const char*, const char**, int*))
ANYGIN_NCCL_NOT_YET(ncclParamGetAllParameterKeys, (const char***, int*))

// Nothing to dump: no parameter of NCCL's is readable yet.
ANYGIN_NCCL_FUNCTION(void, ncclParamDumpAll, (void)) {
  (void)anygin::comm::not_yet("ncclParamDumpAll");
}

// Deprecated, and does nothing in NCCL either. A macro unless the system is named.
#undef ncclResetDebugInit
ANYGIN_NCCL_FUNCTION(void, ncclResetDebugInit, (void)) {}
