// SPDX-License-Identifier: Apache-2.0
#include "info_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <thread>

#include "anygin/base/options.h"
#include "run_command.h"

namespace anygin::tools {
namespace {

namespace fs = std::filesystem;

// The prefix of a target: this program's own, or, where both were installed, the one beside it.
fs::path prefix_of(const std::string& target) {
  const fs::path own = tools::own_prefix();
  return own.filename() == target ? own : own.parent_path() / target;
}

std::string how_to_get(const std::string& target) {
  if (target == "cpu") return "./dev build makes it";
  return "./dev build --preset cuda makes it, with the CUDA Toolkit";
}

std::string cpu_model() {
  std::ifstream stream("/proc/cpuinfo");
  for (std::string line; std::getline(stream, line);) {
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

void row(const char* what, bool there, const std::string& text) {
  fmt::print("{:<16} {:<4} {}\n", what, there ? "yes" : "no", text);
}

}  // namespace

std::string own_prefix() {
  return fs::read_symlink("/proc/self/exe").parent_path().parent_path();
}

void print_info() {
  fmt::print("{:<16}      {} cores, {}\n", "machine", std::thread::hardware_concurrency(), cpu_model());
  for (const char* target : {"cpu", "cuda"}) {
    const fs::path place = prefix_of(target);
    const bool there = fs::exists(place / "lib" / "libanygin.so");
    row(fmt::format("target {}", target).c_str(), there, there ? place.string() : how_to_get(target));
  }
  row("backend proxy", true, "software HCA in this process, or between processes of this host");
  row("backend gdaki", false, "not yet");
  row("backend gpi", false, "not yet");
  std::error_code none;
  const bool rdma = fs::exists("/sys/class/infiniband", none) && !fs::is_empty("/sys/class/infiniband", none);
  row("NIC hw", false,
      rdma ? "not yet; /sys/class/infiniband has devices" : "not yet; no device in /sys/class/infiniband");
  row("NIC emu", true, "ANYGIN_PROFILE: inorder, cx7, relaxed, srd");
  row("NIC none", true, "ANYGIN_NIC=none: properties say no GIN, so that a program's other way can be tested");
  row("rails apart", true, "ANYGIN_TOPOLOGY=2x2,rail: connections along the rail only (railedGinType)");
  row("fabric direct", true, "ranks of this host, as threads or processes");
  row("fabric tcp", false, "not yet");
  row("gpu", fs::exists("/dev/nvidiactl"),
      fs::exists("/dev/nvidiactl") ? "/dev/nvidiactl; target cpu does not use it" : "none; target cpu needs none");
}

void print_environment() {
  fmt::print("{:<26} {:<12} {}\n", "variable", "default", "meaning");
  for (const OptionInfo& option : option_table()) {
    fmt::print("{:<26} {:<12} {}\n", option.name, option.default_value, option.meaning);
  }
}

int print_prefix(const std::string& target) {
  const fs::path prefix = prefix_of(target);
  if ((target == "cpu" || target == "cuda") && fs::exists(prefix / "lib" / "libanygin.so")) {
    fmt::print("{}\n", prefix.string());
    return 0;
  }
  const bool known = target == "cpu" || target == "cuda";
  fmt::print(stderr, "anygin prefix: no target '{}' here; {}\n", target,
             known ? how_to_get(target) : "targets are cpu and cuda");
  return kExitUsage;
}

}  // namespace anygin::tools
