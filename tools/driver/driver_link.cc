// SPDX-License-Identifier: Apache-2.0
// What follows compilation: programs, libraries, archives; and which step a command line asks for.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <memory>

#include "driver_process.h"
#include "driver_steps.h"
#include "image_link.h"
#include "shell_text.h"

namespace anygin::driver {
namespace {

void append(std::vector<std::string>* command, const std::vector<std::string>& more) {
  command->insert(command->end(), more.begin(), more.end());
}

}  // namespace

// Shown as the command of anygin-link that does the same; CMake looks for the -L in it.
int Driver::link(const std::vector<std::string>& words) {
  std::vector<std::string> arguments = options_.compile;
  if (options_.host_compiler != "g++") append(&arguments, {"-ccbin", options_.host_compiler});
  if (options_.shared) arguments.push_back("-shared");
  append(&arguments, {"-o", options_.output.empty() ? "a.out" : options_.output});
  // nvcc leaves no order to mind either.
  arguments.push_back("-Wl,--start-group");
  append(&arguments, words);
  append(&arguments, {"-Wl,--end-group", "-L" + prefix_ + "/lib"});
  if (options_.link_cudart) arguments.push_back("-lcudart");
  std::vector<std::string> command = {prefix_ + "/bin/anygin-link"};
  append(&command, arguments);
  show(command);
  return options_.dry_run ? 0 : link_image(parse_image_link(arguments, prefix_));
}

int Driver::archive(const std::vector<std::string>& objects) {
  std::vector<std::string> command = {"ar", "rcs", options_.output.empty() ? "a.a" : options_.output};
  append(&command, objects);
  return execute(command);
}

int Driver::link_all() {
  std::vector<std::unique_ptr<TemporaryFile>> temporaries;
  std::vector<std::string> words;
  const bool is_archive = options_.mode == Mode::kArchive;
  for (const LinkWord& word : options_.link) {
    if (word.input < 0) {
      if (!is_archive) words.push_back(word.text);
      continue;
    }
    const Input& input = options_.inputs[static_cast<size_t>(word.input)];
    if (input.kind == InputKind::kObject) {
      words.push_back(input.path);
      continue;
    }
    temporaries.push_back(std::make_unique<TemporaryFile>(".o"));
    words.push_back(temporaries.back()->path());
    if (const int code = compile(input, words.back()); code != 0) return code;
  }
  if (is_archive) return archive(words);
  const int code = link(words);
  return code == 0 && options_.run ? run_linked() : code;
}

int Driver::run_linked() const {
  const std::string program = options_.output.empty() ? "a.out" : options_.output;
  std::vector<std::string> command = {program.find('/') == std::string::npos ? "./" + program : program};
  append(&command, options_.run_arguments);
  return execute(command);
}

// Nothing is left to link for the device; build files want the object.
int Driver::device_link() {
  const TemporaryFile empty(".c");
  return execute({options_.host_compiler, "-x", "c", "-fPIC", "-c", empty.path(), "-o",
                  options_.output.empty() ? "a_dlink.o" : options_.output});
}

int Driver::run() {
  switch (options_.mode) {
    case Mode::kCompile:
      return compile_all();
    case Mode::kPreprocess:
    case Mode::kDependencies:
      return preprocess_all();
    case Mode::kDeviceLink:
      return device_link();
    case Mode::kRewrite:
      return rewrite(options_.inputs[0].path, options_.output);
    default:
      return link_all();
  }
}

void Driver::show_environment() const {
  const char* path = std::getenv("PATH");
  fmt::print(stderr,
             "#$ _THERE_={0}/bin\n#$ TOP={0}\n#$ NVVMIR_LIBRARY_DIR={0}/nvvm/libdevice\n#$ PATH={0}/bin:{1}\n"
             "#$ INCLUDES=\"-I{0}/include\"\n#$ LIBRARIES=-L{0}/lib\n",
             prefix_, path != nullptr ? path : "");
}

void Driver::show(const std::vector<std::string>& command) const {
  if (options_.verbose || options_.dry_run) fmt::print(stderr, "#$ {}\n", tools::shell_words(command));
}

int Driver::execute(const std::vector<std::string>& command) const {
  show(command);
  return options_.dry_run ? 0 : run_program(command);
}

}  // namespace anygin::driver
