// SPDX-License-Identifier: Apache-2.0
// What values options of several commands may have.
#pragma once

#include <CLI/CLI.hpp>

namespace anygin::tools {

// Positive; CLI11's own check tells a range of 300 digits.
inline CLI::Validator seconds() {
  return CLI::Range(0.001, 1e9, "SECONDS");
}

}  // namespace anygin::tools
