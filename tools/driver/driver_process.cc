// SPDX-License-Identifier: Apache-2.0
#include "driver_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern char** environ;

namespace anygin::driver {
namespace {

void read_all(int descriptor, std::string* text) {
  char buffer[65536];
  for (;;) {
    const ssize_t count = read(descriptor, buffer, sizeof buffer);
    if (count > 0) text->append(buffer, static_cast<size_t>(count));
    if (count == 0 || (count < 0 && errno != EINTR)) return;
  }
}

int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return 127;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

int run_program(const std::vector<std::string>& command, std::string* captured) {
  std::vector<char*> arguments;
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  int ends[2] = {-1, -1};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (captured != nullptr) {
    if (pipe2(ends, O_CLOEXEC) != 0) return 127;
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  }
  pid_t child = 0;
  const int error = posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (captured != nullptr) close(ends[1]);
  if (error == 0 && captured != nullptr) read_all(ends[0], captured);
  if (captured != nullptr) close(ends[0]);
  if (error != 0) {
    fmt::print(stderr, "anygin-c++: error: cannot start {}: {}; name another host compiler with -ccbin\n", command[0],
               std::strerror(error));
    return 127;
  }
  return wait_for(child);
}

TemporaryFile::TemporaryFile(const std::string& suffix) {
  const char* folder = std::getenv("TMPDIR");
  path_ = fmt::format("{}/anygin-XXXXXX{}", folder != nullptr && *folder != '\0' ? folder : "/tmp", suffix);
  const int descriptor = mkstemps(path_.data(), static_cast<int>(suffix.size()));
  if (descriptor < 0) {
    fmt::print(stderr, "anygin-c++: error: cannot create {}: {}; set TMPDIR to a folder that can be written\n", path_,
               std::strerror(errno));
    std::exit(1);
  }
  close(descriptor);
}

TemporaryFile::~TemporaryFile() {
  unlink(path_.c_str());
}

}  // namespace anygin::driver
