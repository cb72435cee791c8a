// SPDX-License-Identifier: Apache-2.0
// The options of `anygin check` and `anygin replay`.
#pragma once

#include <CLI/CLI.hpp>

namespace anygin::tools {

// Positive; CLI11's own check tells a range of 300 digits.
inline CLI::Validator seconds() {
  return CLI::Range(0.001, 1e9, "SECONDS");
}

// `exit_code` gets the command's, once it has run; it outlives the parse.
void add_sim_commands(CLI::App& app, int& exit_code);

}  // namespace anygin::tools
