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

fs::path own_prefix() {
  return fs::read_symlink("/proc/self/exe").parent_path().parent_path();
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

void print_info() {
  fmt::print("{:<16}      {} cores, {}\n", "machine", std::thread::hardware_concurrency(), cpu_model());
  const fs::path prefix = own_prefix();
  const bool cpu = fs::exists(prefix / "lib" / "libanygin.so");
  row("target cpu", cpu, cpu ? prefix.string() : "no lib/libanygin.so beside this program");
  row("target cuda", false, "not yet");
  row("backend proxy", true, "software HCA in this process, or between processes of this host");
  row("backend gdaki", false, "not yet");
  row("backend gpi", false, "not yet");
  std::error_code none;
  const bool rdma = fs::exists("/sys/class/infiniband", none) && !fs::is_empty("/sys/class/infiniband", none);
  row("NIC hw", false,
      rdma ? "not yet; /sys/class/infiniband has devices" : "not yet; no device in /sys/class/infiniband");
  row("NIC emu", true, "ANYGIN_PROFILE: inorder, cx7, relaxed, srd");
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
  const fs::path prefix = own_prefix();
  if (target == "cpu") {
    fmt::print("{}\n", prefix.string());
    return 0;
  }
  fmt::print(stderr, "anygin prefix: no target '{}' here; there is: cpu\n", target);
  return kExitUsage;
}

}  // namespace anygin::tools
