// SPDX-License-Identifier: Apache-2.0
#include "driver_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace anygin::driver {
namespace {

using ::testing::ElementsAre;
using Strings = std::vector<std::string>;

Options parsed(const Strings& arguments) {
  const ParsedCommand command = parse_command_line(arguments);
  EXPECT_EQ(command.error, "");
  return command.options;
}
std::string refused(const Strings& arguments) {
  return parse_command_line(arguments).error;
}

std::vector<InputKind> kinds_of(const Strings& arguments) {
  const Options options = parsed(arguments);
  std::vector<InputKind> kinds;
  for (const Input& input : options.inputs) kinds.push_back(input.kind);
  return kinds;
}
std::string link_line(const Options& options) {
  std::string line;
  for (const LinkWord& word : options.link) {
    line +=
        (line.empty() ? "" : " ") + (word.input < 0 ? word.text : options.inputs[static_cast<size_t>(word.input)].path);
  }
  return line;
}

TEST(DriverOptions, defaults) {
  const Options options = parsed({"a.cu"});
  EXPECT_EQ(options.mode, Mode::kLink);
  EXPECT_EQ(options.host_compiler, "g++");
  EXPECT_EQ(options.standard, "c++17");
  EXPECT_EQ(options.architecture, 900);
  EXPECT_EQ(options.ticks, rewriter::Ticks::kAuto);
  ASSERT_EQ(options.inputs.size(), 1u);
  EXPECT_EQ(options.inputs[0].kind, InputKind::kCuda);
}

TEST(DriverOptions, values_stand_behind_or_apart) {
  for (const Strings& arguments : {Strings{"-std=c++20", "a.cu"}, Strings{"--std=c++20", "a.cu"},
                                   Strings{"-std", "c++20", "a.cu"}, Strings{"--std", "c++20", "a.cu"}}) {
    EXPECT_EQ(parsed(arguments).standard, "c++20");
  }
  EXPECT_THAT(parsed({"-Ifoo", "-I", "bar", "-DA=1", "-D", "B", "-UC", "--include-path=baz", "a.cu"}).preprocess,
              ElementsAre("-Ifoo", "-Ibar", "-DA=1", "-DB", "-UC", "-Ibaz"));
  EXPECT_EQ(link_line(parsed({"-Lx", "-lnccl", "-l", "m", "-Xlinker", "-rpath,y", "a.cu"})),
            "-Lx -lnccl -lm -Wl,-rpath -Wl,y a.cu");
  EXPECT_THAT(parsed({"-O3", "-g", "-Xcompiler", "-Wall,-fopenmp", "-Xcompiler=-march=native", "a.cu"}).compile,
              ElementsAre("-O3", "-g", "-Wall", "-fopenmp", "-march=native"));
}

TEST(DriverOptions, the_link_keeps_the_order_of_the_command_line) {
  EXPECT_EQ(
      link_line(parsed({"a.o", "-Xlinker", "--whole-archive", "b.a", "-Xlinker=--no-whole-archive", "c.so", "-lx"})),
      "a.o -Wl,--whole-archive b.a -Wl,--no-whole-archive c.so -lx");
}

TEST(DriverOptions, lists_of_host_options) {
  EXPECT_THAT(parsed({"-Xcompiler", "-Wall -Wextra,-O1", "a.cu"}).compile, ElementsAre("-Wall", "-Wextra", "-O1"));
  EXPECT_THAT(parsed({"-Xcompiler", "\"-DTEXT=a,b\"", "a.cu"}).compile, ElementsAre("-DTEXT=a,b"));
  EXPECT_THAT(parsed({"-Xcompiler", "-DTEXT=a\\,b", "a.cu"}).compile, ElementsAre("-DTEXT=a,b"));
  EXPECT_THAT(parsed({"-Xcompiler", "-g,-Wl,-rpath,/x", "a.cu"}).compile, ElementsAre("-g", "-Wl,-rpath,/x"));
}

TEST(DriverOptions, unknown_options_are_forwarded_when_asked) {
  EXPECT_THAT(parsed({"-forward-unknown-to-host-compiler", "--coverage", "a.cu"}).compile, ElementsAre("--coverage"));
  EXPECT_NE(refused({"--coverage", "a.cu"}), "");
}

TEST(DriverOptions, warnings_become_errors_only_where_asked) {
  EXPECT_THAT(parsed({"-Werror", "all-warnings", "a.cu"}).compile, ElementsAre("-Werror"));
  EXPECT_TRUE(parsed({"-Werror", "cross-execution-space-call", "a.cu"}).compile.empty());
}

TEST(DriverOptions, standards_before_17_become_17) {
  EXPECT_EQ(parsed({"-std=c++11", "a.cu"}).standard, "c++17");
  EXPECT_EQ(parsed({"-std=gnu++14", "a.cu"}).standard, "gnu++17");
  EXPECT_EQ(parsed({"-std=gnu++20", "a.cu"}).standard, "gnu++20");
}

TEST(DriverOptions, architectures) {
  EXPECT_EQ(parsed({"-arch=sm_80", "a.cu"}).architecture, 800);
  EXPECT_EQ(parsed({"-arch", "compute_100", "a.cu"}).architecture, 1000);
  EXPECT_EQ(
      parsed({"-gencode", "arch=compute_80,code=sm_80", "-gencode=arch=compute_90,code=sm_90", "a.cu"}).architecture,
      900);
  EXPECT_EQ(parsed({"--gpu-architecture=native", "a.cu"}).architecture, 900);
  EXPECT_EQ(parsed({"-arch=all-major", "a.cu"}).architecture, 900);
  EXPECT_EQ(parsed({"-gencode", "arch=compute_90,code=[sm_90,sm_100,compute_90]", "a.cu"}).architecture, 1000);
  EXPECT_EQ(parsed({"-arch=compute_90", "-code=sm_90,compute_90", "a.cu"}).architecture, 900);
  const Options specific = parsed({"-arch=sm_90a", "a.cu"});
  EXPECT_EQ(specific.architecture, 900);
  EXPECT_TRUE(specific.arch_specific);
}

TEST(DriverOptions, modes_and_inputs) {
  EXPECT_EQ(parsed({"-c", "a.cu"}).mode, Mode::kCompile);
  EXPECT_EQ(parsed({"-dc", "a.cu"}).mode, Mode::kCompile);
  EXPECT_EQ(parsed({"-E", "a.cu"}).mode, Mode::kPreprocess);
  EXPECT_EQ(parsed({"-MM", "a.cu"}).mode, Mode::kDependencies);
  EXPECT_EQ(parsed({"--version"}).mode, Mode::kVersion);
  EXPECT_EQ(parsed({"-dlink", "a.o"}).mode, Mode::kDeviceLink);
  EXPECT_EQ(parsed({"-lib", "a.o"}).mode, Mode::kArchive);
  EXPECT_EQ(parsed({"--list-gpu-arch"}).list_prefix, "compute_");
  EXPECT_THAT(kinds_of({"a.cu", "b.cc", "c.c", "d.o", "e.a", "f.so", "g.so.2"}),
              ElementsAre(InputKind::kCuda, InputKind::kCxx, InputKind::kC, InputKind::kObject, InputKind::kObject,
                          InputKind::kObject, InputKind::kObject));
  EXPECT_THAT(kinds_of({"a.cpp", "b.o", "-x", "cu", "h.txt"}),
              ElementsAre(InputKind::kCuda, InputKind::kObject, InputKind::kCuda));
}

TEST(DriverOptions, accepts_what_means_nothing_here) {
  const Options options = parsed({"-lineinfo", "-rdc=true", "--expt-relaxed-constexpr", "--expt-extended-lambda",
                                  "-Xptxas", "-v,-O3", "--use_fast_math", "-t=4", "--threads", "0",
                                  "-Wno-deprecated-gpu-targets", "-diag-suppress=177", "a.cu"});
  EXPECT_TRUE(options.compile.empty());
  EXPECT_EQ(options.inputs.size(), 1u);
}

TEST(DriverOptions, dependencies) {
  const Options options = parsed({"-c", "a.cu", "-MD", "-MF", "a.d", "-MT", "a.o"});
  EXPECT_THAT(options.dependencies, ElementsAre("-MD", "-MF", "a.d", "-MT", "a.o"));
  EXPECT_TRUE(options.generates_dependencies);
  EXPECT_TRUE(options.names_dependency_target);
}

TEST(DriverOptions, programs_stay_executable_shared_objects) {
  EXPECT_TRUE(parsed({"-Xcompiler", "-fPIE,-pie", "-no-pie", "a.cu"}).compile.empty());
  EXPECT_EQ(refused({"-Xcompiler", "-static", "a.cu"}),
            "-static: programs load libanygin.so at run time; leave it out");
}

TEST(DriverOptions, errors_say_what_would_be_right) {
  EXPECT_EQ(refused({}), "no input; right is anygin-c++ program.cu -o program");
  EXPECT_EQ(refused({"a.cu", "-o"}), "-o needs a value");
  EXPECT_EQ(refused({"a.cu", "--nonsense"}),
            "unknown option --nonsense; options of the host compiler go behind -Xcompiler");
  EXPECT_EQ(refused({"a.cu", "--ticks=some"}), "--ticks=some: right is all, none or auto");
  EXPECT_EQ(refused({"a.txt"}), "a.txt: unknown kind of input; right are .cu .cc .cpp .cxx .c .o .a .so, or -x cu");
  EXPECT_EQ(refused({"-ptx", "a.cu"}), "-ptx: the cpu target makes no GPU code; compile with -c, or link a program");
  EXPECT_EQ(refused({"-c", "a.cu", "b.cu", "-o", "x.o"}),
            "-o x.o with 2 sources: with -c, give one source or leave -o out");
  EXPECT_EQ(refused({"--options-file", "no/such/file", "a.cu"}), "--options-file no/such/file: cannot be read");
  EXPECT_EQ(refused({"@no/such/file", "a.cu"}), "@no/such/file: cannot be read");
  EXPECT_EQ(refused({"-arch=fast", "a.cu"}),
            "-arch=fast: right is sm_NN, compute_NN, native, all, or arch=compute_NN,code=sm_NN");
  EXPECT_EQ(refused({"-cudart=mine", "a.cu"}), "-cudart=mine: right is none, shared or static");
  EXPECT_EQ(refused({"-rdc=maybe", "a.cu"}), "-rdc=maybe: right is true or false");
  EXPECT_EQ(refused({"-x", "fortran", "a.cu"}), "-x fortran: right is cu, c++ or c");
  EXPECT_EQ(refused({"-run", "-c", "a.cu"}), "--run: only a linked program can be run");
}

}  // namespace
}  // namespace anygin::driver
