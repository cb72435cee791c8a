// SPDX-License-Identifier: Apache-2.0
// The options of `anygin check` and `anygin replay`.
#pragma once

#include <CLI/CLI.hpp>

namespace anygin::tools {

// `exit_code` gets the command's, once it has run; it outlives the parse.
void add_sim_commands(CLI::App& app, int& exit_code);

}  // namespace anygin::tools
