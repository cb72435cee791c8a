// SPDX-License-Identifier: Apache-2.0
// The steps between a source and a program. Each returns an exit code; errors are already on stderr.
#pragma once

#include <string>
#include <vector>

#include "driver_options.h"

namespace anygin::driver {

class Driver {
 public:
  // `prefix` holds include/, lib/ and bin/.
  Driver(Options options, std::string prefix) : options_(std::move(options)), prefix_(std::move(prefix)) {}
  int run();
  // What -v says before the commands, in nvcc's shape: CMake reads where the toolkit is from it.
  void show_environment() const;

 private:
  int compile_all();
  int preprocess_all();
  int link_all();
  int device_link();
  int archive(const std::vector<std::string>& objects);
  // `words`: objects, libraries and options in the order of the command line.
  int link(const std::vector<std::string>& words);
  int run_linked() const;
  // `object`: path to write. Dispatches on the kind of `input`.
  int compile(const Input& input, const std::string& object);
  int compile_cuda(const Input& input, const std::string& object);
  // In this process; shown as the command that does the same.
  int rewrite(const std::string& preprocessed, const std::string& rewritten) const;
  std::string in_output_folder(const std::string& name) const;
  std::vector<std::string> image_options() const;
  std::vector<std::string> preprocess_command(const Input& input) const;
  std::vector<std::string> dependency_options(const std::string& object) const;
  // Prints the command if asked to; runs it unless this is a dry run.
  int execute(const std::vector<std::string>& command) const;
  void show(const std::vector<std::string>& command) const;

  const Options options_;
  const std::string prefix_;
};

}  // namespace anygin::driver
