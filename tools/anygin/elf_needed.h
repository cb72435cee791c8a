// SPDX-License-Identifier: Apache-2.0
// Which shared libraries a program asks for, read from its ELF file.
#pragma once

#include <string>
#include <vector>

namespace anygin::tools {

// The DT_NEEDED names of the 64-bit ELF file that `program` names (looked up in PATH if it has no slash). Empty if it
// is no such file: a script, say. Never reads outside the file.
std::vector<std::string> needed_libraries(const std::string& program);

}  // namespace anygin::tools
