// SPDX-License-Identifier: Apache-2.0
// anygin-c++, also installed as nvcc: compiles CUDA C++ for the cpu target. Under the name anygin-link it links
// programs with the host compiler's command line.
#include <fmt/format.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstdlib>

#include "driver_options.h"
#include "driver_steps.h"
#include "image_link.h"
#include "option_words.h"

namespace {

using Strings = std::vector<std::string>;
using anygin::driver::Mode;

// <prefix>/bin/anygin-c++ → <prefix>
std::string find_prefix() {
  char path[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  if (length <= 0 || length == static_cast<ssize_t>(sizeof path)) return "";
  std::string prefix(path, static_cast<size_t>(length));
  for (int level = 0; level < 2; ++level) {
    const size_t slash = prefix.rfind('/');
    if (slash == std::string::npos) return "";
    prefix.resize(slash);
  }
  return prefix;
}

// Build systems look for the beginning of the first line and for the last two.
constexpr const char* kVersion =
    "nvcc: NVIDIA (R) Cuda compiler driver's command line, spoken by anygin-c++: CUDA C++ for the cpu target of "
    "AnyGIN\n"
    "Cuda compilation tools, release 13.0, V13.0.0\n"
    "Build cuda_13.0.r13.0/anygin\n";

constexpr const char* kHelp =
    "anygin-c++ [options] inputs: compiles CUDA C++ so that kernels run on the CPU. Also installed as nvcc.\n"
    "inputs: .cu .cc .cpp .cxx .C .c .o .a .so; @FILE holds more words; everything that nvcc's Makefiles use is "
    "accepted.\n"
    "  -o FILE  -odir D  -c -dc  -E  -M -MM -MD -MMD -MF F -MT T -MP  -shared  -lib  -dlink  -x cu|c++|c\n"
    "  -I -isystem -include -D -U -L -l -O<n> -g -std=c++17|c++20\n"
    "  -ccbin COMPILER        host compiler (g++ unless given; clang++ works)\n"
    "  -Xcompiler A,B  -Xlinker A,B  -forward-unknown-to-host-compiler\n"
    "  -arch sm_NN -gencode ...  sets __CUDA_ARCH__ (900 unless given)\n"
    "  -cudart shared|static|none\n"
    "  -run [-run-args A,B]   runs what was linked\n"
    "  --ticks=auto|all|none  which loops let other threads run while they spin\n"
    "  --keep [--keep-dir D]  keeps the rewritten source and says where it is\n"
    "  -v --dryrun            show the commands; show them only\n"
    "  --version --help --list-gpu-arch --list-gpu-code\n"
    "environment: NVCC_PREPEND_FLAGS, NVCC_APPEND_FLAGS\n";

// With what nvcc takes from the environment.
Strings all_arguments(int argc, char** argv) {
  const auto words_of = [](const char* name) {
    const char* text = std::getenv(name);
    return text == nullptr ? Strings() : anygin::driver::split_words(text);
  };
  Strings arguments = words_of("NVCC_PREPEND_FLAGS");
  arguments.insert(arguments.end(), argv + 1, argv + argc);
  const Strings last = words_of("NVCC_APPEND_FLAGS");
  arguments.insert(arguments.end(), last.begin(), last.end());
  return arguments;
}

// True if the command line asks for words and not for work.
bool only_talks(const anygin::driver::Options& options) {
  if (options.mode == Mode::kVersion) fmt::print("{}", kVersion);
  if (options.mode == Mode::kHelp) fmt::print("{}", kHelp);
  if (options.mode == Mode::kListArchitectures) {  // every one is accepted
    for (int number : {75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121}) {
      fmt::print("{}{}\n", options.list_prefix, number);
    }
  }
  return options.mode == Mode::kVersion || options.mode == Mode::kHelp || options.mode == Mode::kListArchitectures;
}

bool called_as(const char* self, const std::string& name) {
  const std::string path = self;
  return path == name || (path.size() > name.size() && path.rfind("/" + name) == path.size() - name.size() - 1);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string prefix = find_prefix();
  if (prefix.empty()) {
    fmt::print(stderr, "anygin-c++: error: /proc/self/exe does not say where this program is; mount /proc\n");
    return 1;
  }
  if (called_as(argv[0], "anygin-link")) {
    return anygin::driver::link_image(anygin::driver::parse_image_link({argv + 1, argv + argc}, prefix));
  }
  const auto command = anygin::driver::parse_command_line(all_arguments(argc, argv));
  anygin::driver::Driver driver(command.options, prefix);
  if (command.options.verbose || command.options.dry_run) driver.show_environment();
  if (!command.error.empty()) {
    fmt::print(stderr, "anygin-c++: error: {}\n", command.error);
    return 1;
  }
  return only_talks(command.options) ? 0 : driver.run();
}
