// SPDX-License-Identifier: Apache-2.0
// One rank's process of `anygin run`: started in a process group of its own, its output read line by line.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace anygin::tools {

// A line of output, without its newline.
struct OutputLine {
  bool is_error = false;  // stderr
  std::string text;
};

class RankProcess {
 public:
  // Forks and executes. `environment` holds NAME=value strings that replace the inherited ones of the same name. The
  // child dies with this process (parent-death signal) and leads its own process group. On failure pid() is -1.
  RankProcess(int rank, const std::vector<std::string>& command, const std::vector<std::string>& environment);
  RankProcess(RankProcess&& other) noexcept;
  RankProcess& operator=(RankProcess&&) = delete;
  ~RankProcess();

  int rank() const { return rank_; }
  pid_t pid() const { return pid_; }
  // Readable ends of the child's stdout and stderr, -1 once closed.
  int output_fd() const { return output_.fd; }
  int error_fd() const { return error_.fd; }
  // Reads what is there; returns the complete lines, and the rest at end of file.
  std::vector<OutputLine> read_output(bool from_error);

  void signal_group(int signal) const;  // to the rank and everything it started
  void set_exit(int wait_status);
  bool exited() const { return exited_; }
  // As a shell reports it: the exit code, or 128 + the signal that ended it.
  int exit_code() const { return exit_code_; }

 private:
  struct Pipe {
    int fd = -1;
    std::string rest;
  };

  int rank_;
  pid_t pid_ = -1;
  Pipe output_, error_;
  bool exited_ = false;
  int exit_code_ = 0;
};

}  // namespace anygin::tools
