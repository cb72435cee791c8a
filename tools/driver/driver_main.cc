// SPDX-License-Identifier: Apache-2.0
// anygin-c++, also installed as nvcc: compiles CUDA C++ for the cpu target.
#include <fmt/format.h>
#include <unistd.h>

#include <climits>
#include <cstdio>

#include "driver_options.h"
#include "driver_steps.h"

namespace {

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

// The last two lines have the shape that build systems look for.
constexpr const char* kVersion =
    "anygin-c++: CUDA C++ for the cpu target of AnyGIN, with the command line of nvcc\n"
    "Cuda compilation tools, release 13.0, V13.0.0\n"
    "Build cuda_13.0.r13.0/anygin\n";

constexpr const char* kHelp =
    "anygin-c++ [options] inputs: compiles CUDA C++ so that kernels run on the CPU.\n"
    "inputs: .cu .cc .cpp .cxx .c .o .a .so; everything that nvcc's Makefiles use is accepted.\n"
    "  -o FILE  -c  -E  -M -MM -MD -MMD -MF F -MT T  -shared  -lib  -x cu|c++|c\n"
    "  -I -isystem -include -D -U -L -l -O<n> -g -std=c++17\n"
    "  -ccbin COMPILER        host compiler (g++ unless given; clang++ works)\n"
    "  -Xcompiler A,B -Xlinker A,B\n"
    "  -arch sm_NN -gencode ...  sets __CUDA_ARCH__ (900 unless given)\n"
    "  --ticks=auto|all|none  which loops let other threads run while they spin\n"
    "  --keep [--keep-dir D]  keeps the rewritten source and says where it is\n"
    "  -v --dryrun            show the commands; show them only\n"
    "  --version --help\n";

}  // namespace

int main(int argc, char** argv) {
  using anygin::driver::Mode;
  const auto command = anygin::driver::parse_command_line({argv + 1, argv + argc});
  if (!command.error.empty()) {
    fmt::print(stderr, "anygin-c++: error: {}\n", command.error);
    return 1;
  }
  if (command.options.mode == Mode::kVersion || command.options.mode == Mode::kHelp) {
    fmt::print("{}", command.options.mode == Mode::kVersion ? kVersion : kHelp);
    return 0;
  }
  const std::string prefix = find_prefix();
  if (prefix.empty()) {
    fmt::print(stderr, "anygin-c++: error: /proc/self/exe does not say where this program is; mount /proc\n");
    return 1;
  }
  return anygin::driver::Driver(command.options, prefix).run();
}
