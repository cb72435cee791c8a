// SPDX-License-Identifier: Apache-2.0
// nvcc's command line, as far as programs use it, plus our own options.
#pragma once

#include <string>
#include <vector>

#include "anygin/simt/rewriter/rewriter.h"

namespace anygin::driver {

enum class Mode {
  kLink,
  kCompile,
  kPreprocess,
  kDependencies,
  kArchive,
  kDeviceLink,
  kRewrite,  // of text that is preprocessed already: what -v and --dryrun show of the step between
  kVersion,
  kHelp,
  kListArchitectures
};

enum class InputKind { kCuda, kCxx, kC, kObject };

struct Input {
  std::string path;
  InputKind kind = InputKind::kObject;
};

// A word of the link, in command line order: inputs[input] if that is not negative, else `text`.
struct LinkWord {
  std::string text;
  int input = -1;
};

struct Options {
  Mode mode = Mode::kLink;
  std::vector<Input> inputs;
  std::string output;
  std::string output_folder;  // -odir; empty: the current one
  std::string host_compiler = "g++";
  std::string standard = "c++17";
  int architecture = 900;      // __CUDA_ARCH__
  bool arch_specific = false;  // sm_90a
  std::string list_prefix;     // what kListArchitectures prints before each number: sm_ or compute_
  bool shared = false;
  bool link_cudart = true;
  bool run = false;  // the program, after linking
  std::vector<std::string> run_arguments;
  bool keep = false;
  std::string keep_dir = ".";
  bool verbose = false;
  bool dry_run = false;
  rewriter::Ticks ticks = rewriter::Ticks::kAuto;
  std::vector<std::string> preprocess;    // -D -U -I -isystem -include
  std::vector<std::string> compile;       // -O -g -f... -Xcompiler
  std::vector<std::string> dependencies;  // -MD -MF x ...
  std::vector<LinkWord> link;             // inputs, -L -l -Xlinker
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
