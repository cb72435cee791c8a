// SPDX-License-Identifier: Apache-2.0
// Files read and written at one go. Errors are kFile and name the file and the system's reason.
#pragma once

#include <string>
#include <string_view>

#include "anygin/base/status.h"

namespace anygin {

Result<std::string> read_file(const std::string& path);
// Begins the file anew.
Status write_file(const std::string& path, std::string_view text);

}  // namespace anygin
