// SPDX-License-Identifier: Apache-2.0
#include "anygin/base/code_site.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>

namespace anygin {

namespace {

std::string demangled(const char* symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(symbol, nullptr, nullptr, &status),
                                                         &std::free);
  return status == 0 ? text.get() : symbol;
}

// Whether the file of `line`, "path:line", is a header of ours; the lines of a program lie outside of them. Compilers
// follow the links of a prefix that was not installed, into the sources.
bool is_our_header(const std::string& line) {
  const std::filesystem::path file = std::filesystem::path(line.substr(0, line.rfind(':'))).lexically_normal();
  const std::string& name = file.native();
  return file.extension() != ".cc" &&
         (name.find("/cpu/include/") != std::string::npos || name.rfind(ANYGIN_SOURCE_DIR "/lib/", 0) == 0 ||
          name.rfind(ANYGIN_SOURCE_DIR "/backends/", 0) == 0);
}

// The innermost frame outside our headers, of what `addr2line -i` printed: a line a frame, "path:line", perhaps with
// " (discriminator 2)" behind it. Empty if none is known.
std::string line_of_program(FILE* output) {
  char buffer[4096];
  std::string found;
  while (std::fgets(buffer, sizeof(buffer), output)) {
    std::string line = buffer;
    line.erase(line.find_last_not_of('\n') + 1);
    line.erase(std::min(line.find(" (discriminator"), line.size()));
    const bool unknown = line.empty() || line[0] == '?' || line.back() == '?';
    if (found.empty() && !unknown && !is_our_header(line)) found = line.substr(line.rfind('/') + 1);
  }
  return found;
}

std::string ask_addr2line(const std::string& file, uintptr_t offset) {
  if (file.find('\'') != std::string::npos) return "";
  const std::string command = fmt::format("addr2line -i -e '{}' {:#x} 2>/dev/null", file, offset);
  const std::unique_ptr<FILE, int (*)(FILE*)> output(::popen(command.c_str(), "r"), &::pclose);
  return output ? line_of_program(output.get()) : "";
}

// The file behind an image. A program started as /proc/self/exe calls itself that, which means another one to
// addr2line.
std::string file_of(const Dl_info& info) {
  const std::string name = info.dli_fname;
  if (name != "/proc/self/exe") return name;
  std::error_code failed;
  const std::filesystem::path file = std::filesystem::read_symlink(name, failed);
  return failed ? name : file.string();
}

}  // namespace

std::string describe_line(const void* address) {
  // Never destroyed: reports are written while the process exits, too.
  static std::mutex& mutex = *new std::mutex;
  static std::map<const void*, std::string>& known = *new std::map<const void*, std::string>;
  Dl_info info{};
  if (!address || dladdr(address, &info) == 0 || !info.dli_fname) return describe_site(address);
  std::lock_guard lock(mutex);
  const auto [entry, fresh] = known.try_emplace(address);
  if (fresh) {
    const auto offset =
        static_cast<uintptr_t>(static_cast<const char*>(address) - static_cast<const char*>(info.dli_fbase));
    entry->second = ask_addr2line(file_of(info), offset);
    if (entry->second.empty()) entry->second = describe_site(address);
  }
  return entry->second;
}

std::string describe_site(const void* address) {
  if (!address) return "an unknown place";
  Dl_info info{};
  if (dladdr(address, &info) == 0 || !info.dli_fname) return fmt::format("{}", address);
  const std::string path = file_of(info);
  const std::string file = path.substr(path.rfind('/') + 1);
  const char* at = static_cast<const char*>(address);
  const auto in_file = at - static_cast<const char*>(info.dli_fbase);
  if (!info.dli_sname) return fmt::format("{}+{:#x}", file, in_file);
  const auto in_symbol = at - static_cast<const char*>(info.dli_saddr);
  return fmt::format("{}+{:#x} ({}+{:#x})", demangled(info.dli_sname), in_symbol, file, in_file);
}

}  // namespace anygin
