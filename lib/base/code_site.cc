// SPDX-License-Identifier: Apache-2.0
#include "anygin/base/code_site.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <memory>
#include <string_view>

namespace anygin {

namespace {

std::string demangled(const char* symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(symbol, nullptr, nullptr, &status),
                                                         &std::free);
  return status == 0 ? text.get() : symbol;
}

}  // namespace

std::string describe_site(const void* address) {
  if (!address) return "an unknown place";
  Dl_info info{};
  if (dladdr(address, &info) == 0 || !info.dli_fname) return fmt::format("{}", address);
  const std::string_view path = info.dli_fname;
  const std::string_view file = path.substr(path.rfind('/') + 1);
  const char* at = static_cast<const char*>(address);
  const auto in_file = at - static_cast<const char*>(info.dli_fbase);
  if (!info.dli_sname) return fmt::format("{}+{:#x}", file, in_file);
  const auto in_symbol = at - static_cast<const char*>(info.dli_saddr);
  return fmt::format("{}+{:#x} ({}+{:#x})", demangled(info.dli_sname), in_symbol, file, in_file);
}

}  // namespace anygin
