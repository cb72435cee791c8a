// SPDX-License-Identifier: Apache-2.0
#include "rank_process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace anygin::tools {
namespace {

constexpr int kCannotExecute = 127;

// Runs in the child between fork and exec.
[[noreturn]] void become(const std::vector<std::string>& command, const std::vector<std::string>& environment, int out,
                         int err, pid_t parent) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(kCannotExecute);  // the parent died before the line above
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  for (const std::string& entry : environment) {
    const size_t equals = entry.find('=');
    setenv(entry.substr(0, equals).c_str(), entry.substr(equals + 1).c_str(), 1);
  }
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  std::fprintf(stderr, "anygin run: cannot execute '%s': %s\n", arguments[0], std::strerror(errno));
  _exit(kCannotExecute);
}

}  // namespace

RankProcess::RankProcess(int rank, const std::vector<std::string>& command, const std::vector<std::string>& environment)
    : rank_(rank) {
  int out[2], err[2];
  if (pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0) return;
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ == 0) become(command, environment, out[1], err[1], parent);
  if (pid_ > 0) setpgid(pid_, pid_);  // both sides, whoever comes first
  close(out[1]);
  close(err[1]);
  fcntl(out[0], F_SETFL, O_NONBLOCK);
  fcntl(err[0], F_SETFL, O_NONBLOCK);
  output_.fd = out[0];
  error_.fd = err[0];
}

RankProcess::RankProcess(RankProcess&& other) noexcept
    : rank_(other.rank_),
      pid_(std::exchange(other.pid_, -1)),
      output_(std::exchange(other.output_, {})),
      error_(std::exchange(other.error_, {})),
      exited_(other.exited_),
      exit_code_(other.exit_code_) {}

RankProcess::~RankProcess() {
  if (output_.fd >= 0) close(output_.fd);
  if (error_.fd >= 0) close(error_.fd);
}

std::vector<OutputLine> RankProcess::read_output(bool from_error) {
  Pipe& pipe = from_error ? error_ : output_;
  std::vector<OutputLine> lines;
  char buffer[4096];
  ssize_t got;
  while (pipe.fd >= 0 && (got = read(pipe.fd, buffer, sizeof(buffer))) != 0) {
    if (got < 0) {
      if (errno == EINTR) continue;
      break;
    }
    pipe.rest.append(buffer, static_cast<size_t>(got));
  }
  if (pipe.fd >= 0 && got == 0) {
    close(std::exchange(pipe.fd, -1));
    if (!pipe.rest.empty() && pipe.rest.back() != '\n') pipe.rest += '\n';
  }
  size_t start = 0;
  for (size_t end; (end = pipe.rest.find('\n', start)) != std::string::npos; start = end + 1) {
    lines.push_back({from_error, pipe.rest.substr(start, end - start)});
  }
  pipe.rest.erase(0, start);
  return lines;
}

void RankProcess::signal_group(int signal) const {
  if (pid_ > 0) kill(-pid_, signal);
}

void RankProcess::set_exit(int wait_status) {
  exited_ = true;
  exit_code_ = WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

}  // namespace anygin::tools
