// SPDX-License-Identifier: Apache-2.0
#include "anygin/base/log.h"

#include <unistd.h>

#include <string>

#include "anygin/base/options.h"

namespace anygin {
namespace {

constexpr std::string_view kNames[] = {"NONE", "ERROR", "WARN", "INFO", "TRACE"};

}  // namespace

bool log_enabled(LogLevel level) {
  const std::string& wanted = options().nccl_debug;
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if (wanted == kNames[i]) return level != LogLevel::kNone && static_cast<size_t>(level) <= i;
  }
  return false;
}

void log_line(LogLevel level, std::string_view text) {
  const std::string line = fmt::format("anygin {}: {}\n", kNames[static_cast<size_t>(level)], text);
  // One write: lines of several threads and processes do not mix. A log that cannot be written is not worth an error.
  if (::write(STDERR_FILENO, line.data(), line.size()) < 0) return;
}

}  // namespace anygin
