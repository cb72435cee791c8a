// SPDX-License-Identifier: Apache-2.0
// nvcc's command line, as far as programs use it, plus our own options.
#pragma once

#include <string>
#include <vector>

#include "anygin/simt/rewriter/rewriter.h"

namespace anygin::driver {

enum class Mode { kLink, kCompile, kPreprocess, kDependencies, kArchive, kDeviceLink, kVersion, kHelp };

enum class InputKind { kCuda, kCxx, kC, kObject };

struct Input {
  std::string path;
  InputKind kind = InputKind::kObject;
};

struct Options {
  Mode mode = Mode::kLink;
  std::vector<Input> inputs;
  std::string output;
  std::string host_compiler = "g++";
  std::string standard = "c++17";
  int architecture = 900;      // __CUDA_ARCH__
  bool arch_specific = false;  // sm_90a
  bool shared = false;
  bool link_cudart = true;
  bool keep = false;
  std::string keep_dir = ".";
  bool verbose = false;
  bool dry_run = false;
  rewriter::Ticks ticks = rewriter::Ticks::kAuto;
  std::vector<std::string> preprocess;    // -D -U -I -isystem -include
  std::vector<std::string> compile;       // -O -g -f... -Xcompiler
  std::vector<std::string> dependencies;  // -MD -MF x ...
  std::vector<std::string> link;          // -L -l -Xlinker, objects keep their place among the inputs
  bool generates_dependencies = false;    // besides compiling: -MD, -MMD
  bool names_dependency_target = false;
};

// Empty `error` on success; otherwise it says what, where and what would be right.
struct ParsedCommand {
  Options options;
  std::string error;
};
ParsedCommand parse_command_line(const std::vector<std::string>& arguments);

}  // namespace anygin::driver
