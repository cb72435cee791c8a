// SPDX-License-Identifier: Apache-2.0
// Files that users name for what a command found out.
#pragma once

#include <string>
#include <string_view>

namespace anygin::tools {

// Begins the file anew. False: it cannot be written, and stderr says why. `command` as users type it: "check".
bool write_output(const char* command, const std::string& path, std::string_view text);

}  // namespace anygin::tools
