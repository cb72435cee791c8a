// SPDX-License-Identifier: Apache-2.0
#include "mps_daemon.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

namespace anygin::tools {
namespace {

namespace fs = std::filesystem;
constexpr const char* kProgram = "nvidia-cuda-mps-control";

int exit_code_of(const std::string& command) {
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

}  // namespace

std::vector<std::string> MpsDaemon::environment() const {
  if (folder_.empty()) return {};
  return {"CUDA_MPS_PIPE_DIRECTORY=" + folder_ + "/pipe", "CUDA_MPS_LOG_DIRECTORY=" + folder_ + "/log"};
}

// The folder's name is ours: no quoting is needed.
int MpsDaemon::control(const std::string& command) const {
  std::string line;
  for (const std::string& entry : environment()) line += entry + " ";
  return exit_code_of(command.empty()
                          ? fmt::format("{}{} -d </dev/null >/dev/null 2>&1", line, kProgram)
                          : fmt::format("echo {} | {}timeout 10 {} >/dev/null 2>&1", command, line, kProgram));
}

bool MpsDaemon::start() {
  if (std::getenv("CUDA_MPS_PIPE_DIRECTORY") != nullptr) return true;
  if (exit_code_of(fmt::format("command -v {} >/dev/null 2>&1", kProgram)) != 0) {
    why_not_ = fmt::format("there is no {} in PATH", kProgram);
    return false;
  }
  std::string name = (fs::temp_directory_path() / "anygin-mps-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) {
    why_not_ = fmt::format("no folder '{}' for it", name);
    return false;
  }
  folder_ = name;
  fs::create_directories(folder_ + "/pipe");
  fs::create_directories(folder_ + "/log");
  if (control("") == 0) return true;
  why_not_ = fmt::format("{} -d did not start", kProgram);
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
  folder_.clear();
  return false;
}

MpsDaemon::~MpsDaemon() {
  if (folder_.empty()) return;
  if (control("quit") != 0) {
    fmt::print(stderr, "anygin run: the MPS daemon of {} did not end when asked\n", folder_);
    return;
  }
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

}  // namespace anygin::tools
