// SPDX-License-Identifier: Apache-2.0
// What values options of several commands may have.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace anygin::tools {

// Positive; CLI11's own check tells a range of 300 digits.
inline CLI::Validator seconds() {
  return CLI::Range(0.001, 1e9, "SECONDS");
}

// What the ending says is what is written.
inline CLI::Validator picture_file() {
  const auto ends_as_none = [](const std::string& name) {
    const std::string ending = name.size() > 5 ? name.substr(name.size() - 5) : name;
    if (ending == ".json" || (ending.size() > 4 && ending.substr(ending.size() - 4) == ".svg")) return std::string();
    return "'" + name + "': a name that ends in .json or .svg would be right";
  };
  return {ends_as_none, "FILE"};
}

}  // namespace anygin::tools
