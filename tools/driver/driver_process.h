// SPDX-License-Identifier: Apache-2.0
// Runs the host compiler. No shell: arguments arrive as they are.
#pragma once

#include <string>
#include <vector>

namespace anygin::driver {

// Runs the program and waits; standard output goes to `*captured` if it is given. Returns its exit code, 128 + signal
// if one ended it, 127 with a message on stderr if it could not be started.
int run_program(const std::vector<std::string>& command, std::string* captured = nullptr);

// A file in the temporary directory, removed with the object.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& suffix);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace anygin::driver
