// SPDX-License-Identifier: Apache-2.0
// Runs a shell command in a test and keeps what it said. Bounded: `timeout` ends it and the test shows 124.
#pragma once

#include <cstdio>
#include <string>

namespace anygin {

struct CommandResult {
  int code = -1;
  std::string output;  // stdout and stderr as they came
};

inline CommandResult run_command(const std::string& command, int limit_s = 15) {
  CommandResult result;
  const std::string bounded = "{ timeout " + std::to_string(limit_s) + " " + command + " ; } 2>&1";
  FILE* pipe = popen(bounded.c_str(), "r");
  if (pipe == nullptr) return result;
  char buffer[4096];
  for (size_t count; (count = fread(buffer, 1, sizeof buffer, pipe)) > 0;) result.output.append(buffer, count);
  const int status = pclose(pipe);
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

}  // namespace anygin
