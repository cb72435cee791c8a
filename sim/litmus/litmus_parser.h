// SPDX-License-Identifier: Apache-2.0
// Reads litmus files; docs/litmus.md is the language.
#pragma once

#include <string>
#include <string_view>

#include "anygin/base/status.h"
#include "anygin/sim/litmus/litmus_program.h"

namespace anygin::litmus {

// `file` is what errors name: "file:line: what is wrong; what would be right".
Result<Program> parse_litmus(const std::string& file, std::string_view text);

// The same of a file on disk.
Result<Program> read_litmus(const std::string& path);

// An outcome as `anygin litmus --why` takes it: "r=0 q=1|2".
Result<Pattern> parse_pattern(const Program& program, const std::string& text);

}  // namespace anygin::litmus
