// SPDX-License-Identifier: Apache-2.0
// libcuda: names and texts of CUresult. The numbers are cudaError_t's, the names are not.
#include <algorithm>
#include <array>

#include "cuda.h"
#include "error_text.h"

namespace {

struct DriverName {
  CUresult code;
  const char* name;
};
#define ANYGIN_DRIVER_ERROR(code) \
  DriverName {                    \
    code, #code                   \
  }
constexpr std::array kNames = {
    ANYGIN_DRIVER_ERROR(CUDA_SUCCESS),
    ANYGIN_DRIVER_ERROR(CUDA_ERROR_INVALID_VALUE),
    ANYGIN_DRIVER_ERROR(CUDA_ERROR_OUT_OF_MEMORY),
    ANYGIN_DRIVER_ERROR(CUDA_ERROR_NOT_INITIALIZED),
    ANYGIN_DRIVER_ERROR(CUDA_ERROR_DEINITIALIZED),
    ANYGIN_DRIVER_ERROR(CUDA_ERROR_NO_DEVICE),
    ANYGIN_DRIVER_ERROR(CUDA_ERROR_INVALID_DEVICE),
    ANYGIN_DRIVER_ERROR(CUDA_ERROR_INVALID_IMAGE),
    ANYGIN_DRIVER_ERROR(CUDA_ERROR_INVALID_CONTEXT),
    ANYGIN_DRIVER_ERROR(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED),
    ANYGIN_DRIVER_ERROR(CUDA_ERROR_INVALID_SOURCE),
    ANYGIN_DRIVER_ERROR(CUDA_ERROR_FILE_NOT_FOUND),
    ANYGIN_DRIVER_ERROR(CUDA_ERROR_OPERATING_SYSTEM),
    ANYGIN_DRIVER_ERROR(CUDA_ERROR_INVALID_HANDLE),
    ANYGIN_DRIVER_ERROR(CUDA_ERROR_ILLEGAL_STATE),
    ANYGIN_DRIVER_ERROR(CUDA_ERROR_NOT_FOUND),
    ANYGIN_DRIVER_ERROR(CUDA_ERROR_NOT_READY),
    ANYGIN_DRIVER_ERROR(CUDA_ERROR_ILLEGAL_ADDRESS),
    ANYGIN_DRIVER_ERROR(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES),
    ANYGIN_DRIVER_ERROR(CUDA_ERROR_LAUNCH_TIMEOUT),
    ANYGIN_DRIVER_ERROR(CUDA_ERROR_CONTEXT_IS_DESTROYED),
    ANYGIN_DRIVER_ERROR(CUDA_ERROR_ASSERT),
    ANYGIN_DRIVER_ERROR(CUDA_ERROR_MISALIGNED_ADDRESS),
    ANYGIN_DRIVER_ERROR(CUDA_ERROR_LAUNCH_FAILED),
    ANYGIN_DRIVER_ERROR(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE),
    ANYGIN_DRIVER_ERROR(CUDA_ERROR_NOT_PERMITTED),
    ANYGIN_DRIVER_ERROR(CUDA_ERROR_NOT_SUPPORTED),
    ANYGIN_DRIVER_ERROR(CUDA_ERROR_TIMEOUT),
    ANYGIN_DRIVER_ERROR(CUDA_ERROR_UNKNOWN),
};
#undef ANYGIN_DRIVER_ERROR

const DriverName* find(CUresult error) {
  const auto found =
      std::find_if(kNames.begin(), kNames.end(), [&](const DriverName& row) { return row.code == error; });
  return found != kNames.end() ? &*found : nullptr;
}

}  // namespace

CUresult cuGetErrorName(CUresult error, const char** name) {
  if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const DriverName* row = find(error);
  *name = row != nullptr ? row->name : nullptr;
  return row != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult error, const char** text) {
  if (text == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const auto* row = find(error) != nullptr ? anygin::simt::face::error_text(error) : nullptr;
  *text = row != nullptr ? row->text : nullptr;
  return row != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
