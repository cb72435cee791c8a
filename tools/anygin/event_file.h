// SPDX-License-Identifier: Apache-2.0
// Reads the event stream that ANYGIN_TRACE writes (docs/trace.md).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "anygin/base/status.h"

namespace anygin::tools {

struct FileEvent {
  std::string kind;
  uint64_t time_ps = 0;
  int rank = -1, peer = -1;
  uint64_t context = 0, operation = 0, heap = 0, offset = 0, bytes = 0, value = 0, grid = 0, lane = 0;
};

// Fields that this reader does not know are passed over.
Result<std::vector<FileEvent>> read_events(std::string_view text);

}  // namespace anygin::tools
