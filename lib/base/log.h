// SPDX-License-Identifier: Apache-2.0
// Log lines on stderr, levels as in NCCL_DEBUG. Any thread; one write a line.
#pragma once

#include <fmt/format.h>

#include <string_view>

namespace anygin {

enum class LogLevel : int { kNone, kError, kWarn, kInfo, kTrace };

bool log_enabled(LogLevel level);
void log_line(LogLevel level, std::string_view text);

template <typename... Args>
void log(LogLevel level, fmt::format_string<Args...> format, Args&&... args) {
  if (log_enabled(level)) log_line(level, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace anygin
