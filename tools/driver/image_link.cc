// SPDX-License-Identifier: Apache-2.0
#include "image_link.h"

#include <fmt/format.h>

#include <utility>

#include "debug_tag.h"
#include "driver_process.h"

namespace anygin::driver {
namespace {

void append(std::vector<std::string>* command, const std::vector<std::string>& more) {
  command->insert(command->end(), more.begin(), more.end());
}

// The start routine that this compiler links programs with; empty if it does not say.
std::string start_object(const std::string& host_compiler) {
  std::string path;
  if (run_program({host_compiler, "-print-file-name=Scrt1.o"}, &path) != 0) return "";
  while (!path.empty() && path.back() == '\n') path.pop_back();
  return path.find('/') == std::string::npos ? "" : path;
}

bool sanitized(const std::vector<std::string>& options) {
  for (const std::string& option : options) {
    if (option.rfind("-fsanitize=", 0) == 0) return true;
  }
  return false;
}

std::string output_of(const std::vector<std::string>& arguments) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "-o" && i + 1 < arguments.size()) return arguments[i + 1];
    if (arguments[i].rfind("-o", 0) == 0) return arguments[i].substr(2);
  }
  return "a.out";
}

bool changes_the_image(const std::string& option) {
  for (const char* word : {"-pie", "-no-pie", "-fpie", "-fPIE", "-static", "-static-pie"}) {
    if (option == word) return true;
  }
  return false;
}

}  // namespace

ImageLink parse_image_link(const std::vector<std::string>& arguments, std::string prefix) {
  ImageLink link;
  link.prefix = std::move(prefix);
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "-ccbin" && i + 1 < arguments.size()) {
      link.host_compiler = arguments[++i];
    } else if (argument == "-shared") {
      link.shared = true;
    } else if (!changes_the_image(argument)) {
      link.arguments.push_back(argument);
    }
  }
  return link;
}

int link_image(const ImageLink& link) {
  std::vector<std::string> command = {link.host_compiler, "-shared"};
  if (!link.shared) {
    const std::string start = start_object(link.host_compiler);
    if (start.empty()) {
      fmt::print(stderr,
                 "anygin-c++: error: {} does not know where Scrt1.o is; install the C library's development "
                 "files (libc6-dev)\n",
                 link.host_compiler);
      return 1;
    }
    append(&command, {start, link.prefix + "/lib/anygin_interpreter.o", "-Wl,-e,_start"});
    // A sanitizer's runtime is not linked into shared objects: its names stay open until the program starts.
    if (!sanitized(link.arguments)) command.push_back("-Wl,-z,defs");
  }
  append(&command, link.arguments);
  append(&command, {"-L" + link.prefix + "/lib", "-lanygin", "-Wl,-rpath," + link.prefix + "/lib"});
  const int code = run_program(command);
  if (code == 0 && !link.shared) (void)add_debug_tag(output_of(link.arguments));
  return code;
}

}  // namespace anygin::driver
