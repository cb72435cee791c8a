// SPDX-License-Identifier: Apache-2.0
#include "output_file.h"

#include <fmt/format.h>

#include <cstdio>

#include "anygin/base/whole_file.h"

namespace anygin::tools {

bool write_output(const char* command, const std::string& path, std::string_view text) {
  const Status written = write_file(path, text);
  if (!written.ok()) fmt::print(stderr, "anygin {}: {}\n", command, written.message());
  return written.ok();
}

}  // namespace anygin::tools
