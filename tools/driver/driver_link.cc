// SPDX-License-Identifier: Apache-2.0
// Programs are executable shared objects (docs/decisions/0009): linked with -shared, so that the linker does not turn
// thread-local variables into the main program's own, with an interpreter and a start routine, so that they run. Such a
// file runs as a program and can be loaded any number of times.
#include <fmt/format.h>
#include <unistd.h>

#include <memory>

#include "driver_process.h"
#include "driver_steps.h"

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
  return path;
}

bool sanitized(const std::vector<std::string>& options) {
  for (const std::string& option : options) {
    if (option.rfind("-fsanitize=", 0) == 0) return true;
  }
  return false;
}

}  // namespace

int Driver::link(const std::vector<std::string>& objects) {
  std::vector<std::string> command = {options_.host_compiler, "-shared"};
  append(&command, options_.compile);
  if (!options_.shared) {
    const std::string start = start_object(options_.host_compiler);
    if (start.find('/') == std::string::npos) {
      fmt::print(stderr,
                 "anygin-c++: error: {} does not know where Scrt1.o is; install the C library's development "
                 "files (libc6-dev)\n",
                 options_.host_compiler);
      return 1;
    }
    append(&command, {start, prefix_ + "/lib/anygin_interpreter.o", "-Wl,-e,_start"});
  }
  if (!sanitized(options_.compile)) command.push_back("-Wl,-z,defs");
  append(&command, {"-o", options_.output.empty() ? "a.out" : options_.output});
  append(&command, objects);
  command.push_back("-L" + prefix_ + "/lib");
  append(&command, options_.link);
  if (options_.link_cudart) command.push_back("-lcudart");
  append(&command, {"-lanygin", "-Wl,-rpath," + prefix_ + "/lib"});
  return execute(command);
}

int Driver::archive(const std::vector<std::string>& objects) {
  std::vector<std::string> command = {"ar", "rcs", options_.output.empty() ? "a.a" : options_.output};
  append(&command, objects);
  return execute(command);
}

int Driver::link_all() {
  std::vector<std::unique_ptr<TemporaryFile>> temporaries;
  std::vector<std::string> objects;
  for (const Input& input : options_.inputs) {
    if (input.kind == InputKind::kObject) {
      objects.push_back(input.path);
      continue;
    }
    temporaries.push_back(std::make_unique<TemporaryFile>(".o"));
    objects.push_back(temporaries.back()->path());
    if (const int code = compile(input, objects.back()); code != 0) return code;
  }
  return options_.mode == Mode::kArchive ? archive(objects) : link(objects);
}

int Driver::run() {
  switch (options_.mode) {
    case Mode::kCompile:
      return compile_all();
    case Mode::kPreprocess:
    case Mode::kDependencies:
      return preprocess_all();
    case Mode::kDeviceLink: {
      // Nothing is left to link for the device; build files want the object.
      TemporaryFile empty(".c");
      return execute({options_.host_compiler, "-x", "c", "-fPIC", "-c", empty.path(), "-o",
                      options_.output.empty() ? "a_dlink.o" : options_.output});
    }
    default:
      return link_all();
  }
}

}  // namespace anygin::driver
