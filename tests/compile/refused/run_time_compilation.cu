// SPDX-License-Identifier: Apache-2.0
// Refused: NVRTC
// Program: NVRTC_ERROR_COMPILATION\ncompiling kernels at run time is not supported
#include <nvrtc.h>

#include <cstdio>
int main() {
  nvrtcProgram program;
  char log[1000] = "";
  nvrtcCreateProgram(&program, "__global__ void k() {}", "k.cu", 0, nullptr, nullptr);
  std::printf("%s\n", nvrtcGetErrorString(nvrtcCompileProgram(program, 0, nullptr)));
  nvrtcGetProgramLog(program, log);
  std::printf("%s\n", log);
}
