// SPDX-License-Identifier: Apache-2.0
// The litmus files of this folder, parsed.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include "anygin/sim/litmus/litmus_parser.h"

namespace anygin::litmus {

// Their paths, in the order of their names.
inline std::vector<std::string> litmus_paths() {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(ANYGIN_LITMUS_DIR)) {
    if (entry.path().extension() == ".litmus") paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

inline Program litmus_of(const std::string& path) {
  Result<Program> program = read_litmus(path);
  if (program.ok()) return *program;
  ADD_FAILURE() << program.status().message();
  return {};
}

inline std::vector<Program> litmus_programs() {
  std::vector<Program> programs;
  for (const std::string& path : litmus_paths()) programs.push_back(litmus_of(path));
  return programs;
}

inline std::string stem_of(const std::string& path) {
  return std::filesystem::path(path).stem().string();
}

constexpr Profile kEveryProfile[] = {Profile::kInorder, Profile::kCx7, Profile::kRelaxed, Profile::kSrd};

}  // namespace anygin::litmus
