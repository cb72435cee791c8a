// SPDX-License-Identifier: Apache-2.0
// libnvrtc: every program is one that does not compile. A handle points to a byte of its own.
#include <cstring>

#include "nvrtc.h"

namespace {

constexpr char kLog[] =
    "compiling kernels at run time is not supported on the cpu target: compile them with the program, by anygin-c++";

nvrtcResult fails(nvrtcProgram program) {
  return program != nullptr ? NVRTC_ERROR_COMPILATION : NVRTC_ERROR_INVALID_PROGRAM;
}

}  // namespace

const char* nvrtcGetErrorString(nvrtcResult result) {
  switch (result) {
    case NVRTC_SUCCESS:
      return "NVRTC_SUCCESS";
    case NVRTC_ERROR_INVALID_INPUT:
      return "NVRTC_ERROR_INVALID_INPUT";
    case NVRTC_ERROR_INVALID_PROGRAM:
      return "NVRTC_ERROR_INVALID_PROGRAM";
    case NVRTC_ERROR_COMPILATION:
      return "NVRTC_ERROR_COMPILATION";
    default:
      return "NVRTC_ERROR unknown";
  }
}
nvrtcResult nvrtcVersion(int* major, int* minor) {
  if (major == nullptr || minor == nullptr) return NVRTC_ERROR_INVALID_INPUT;
  *major = 13;
  *minor = 0;
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcCreateProgram(nvrtcProgram* program, const char* source, const char*, int, const char* const*,
                               const char* const*) {
  if (program == nullptr || source == nullptr) return NVRTC_ERROR_INVALID_INPUT;
  *program = reinterpret_cast<nvrtcProgram>(new char);
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcDestroyProgram(nvrtcProgram* program) {
  if (program == nullptr || *program == nullptr) return NVRTC_ERROR_INVALID_PROGRAM;
  delete reinterpret_cast<char*>(*program);
  *program = nullptr;
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcAddNameExpression(nvrtcProgram program, const char* const) {
  return program != nullptr ? NVRTC_SUCCESS : NVRTC_ERROR_INVALID_PROGRAM;
}
nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int, const char* const*) {
  return fails(program);
}
nvrtcResult nvrtcGetLoweredName(nvrtcProgram program, const char* const, const char**) {
  return fails(program);
}
nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, size_t* bytes) {
  if (program == nullptr) return NVRTC_ERROR_INVALID_PROGRAM;
  if (bytes == nullptr) return NVRTC_ERROR_INVALID_INPUT;
  *bytes = sizeof kLog;
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char* log) {
  if (program == nullptr) return NVRTC_ERROR_INVALID_PROGRAM;
  if (log == nullptr) return NVRTC_ERROR_INVALID_INPUT;
  std::memcpy(log, kLog, sizeof kLog);
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetPTXSize(nvrtcProgram program, size_t*) {
  return fails(program);
}
nvrtcResult nvrtcGetPTX(nvrtcProgram program, char*) {
  return fails(program);
}
nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t*) {
  return fails(program);
}
nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char*) {
  return fails(program);
}
