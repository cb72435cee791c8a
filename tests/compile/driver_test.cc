// SPDX-License-Identifier: Apache-2.0
// The driver as build files use it: separate compilation, libraries, dependencies, --keep, and where errors point.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "compile/command_runner.h"

namespace anygin {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class Driver : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(::testing::TempDir()) /
              (std::string("driver_") + ::testing::UnitTest::GetInstance()->current_test_info()->name() + "_" +
               std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) const { std::ofstream(folder_ / name) << text; }
  std::string read(const std::string& name) const {
    std::ifstream file(folder_ / name);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }
  // Runs in the test's folder; `nvcc` there is the driver under its other name.
  CommandResult run(const std::string& command) const {
    return run_command("sh -c 'cd " + folder_.string() + " && PATH=" + ANYGIN_BIN + ":$PATH && " + command + "'");
  }

  std::filesystem::path folder_;
};

constexpr const char* kKernel = "__global__ void k(int* p) { *p = 5; }\n";
constexpr const char* kMain =
    "#include <cuda_runtime.h>\n#include <cstdio>\nint answer();\nint main() { std::printf(\"%d\\n\", answer()); }\n";
constexpr const char* kAnswer =
    "__global__ void k(int* p) { *p = 5; }\nint answer() {\n  static int x; k<<<1, 1>>>(&x); cudaDeviceSynchronize();\n"
    "  return x;\n}\n";

TEST_F(Driver, compiles_apart_and_links) {
  write("answer.cu", kAnswer);
  write("main.cc", kMain);
  const CommandResult built =
      run("nvcc -c answer.cu && nvcc -dc -o m.o main.cc && nvcc -o prog m.o answer.o && ./prog");
  EXPECT_EQ(built.output, "5\n");
  EXPECT_EQ(built.code, 0);
}

TEST_F(Driver, makes_libraries) {
  write("answer.cu", kAnswer);
  write("main.cc", kMain);
  const CommandResult shared =
      run("nvcc -shared -o libanswer.so answer.cu && nvcc -o prog main.cc -L. -lanswer "
          "-Xlinker -rpath,$PWD && ./prog");
  EXPECT_EQ(shared.output, "5\n");
  const CommandResult archive =
      run("nvcc -lib -o libstatic.a answer.cu && nvcc -o prog2 main.cc libstatic.a && ./prog2");
  EXPECT_EQ(archive.output, "5\n");
}

TEST_F(Driver, writes_dependencies) {
  write("a.h", kKernel);
  write("a.cu", "#include \"a.h\"\nint main() {}\n");
  EXPECT_EQ(run("nvcc -c a.cu -MMD -MF a.d -MT target").output, "");
  EXPECT_THAT(read("a.d"), StartsWith("target: a.cu"));
  EXPECT_THAT(read("a.d"), HasSubstr("a.h"));
  EXPECT_THAT(run("nvcc -MM a.cu").output, StartsWith("a.o: a.cu"));
  EXPECT_EQ(run("nvcc -c a.cu -o b.o -MMD").output, "");
  EXPECT_THAT(read("b.d"), StartsWith("b.o: a.cu"));
}

TEST_F(Driver, keeps_the_rewritten_source) {
  write("a.cu", kKernel);
  const CommandResult kept = run("nvcc --keep -c a.cu");
  EXPECT_EQ(kept.output, "anygin-c++: rewritten source: ./a.cu.ii\n");
  EXPECT_THAT(read("a.cu.ii"), HasSubstr("# 1 \"a.cu\"\n void k(int* p) { if (::anygin::simt::Kernel<"));
}

TEST_F(Driver, defines_what_programs_ask) {
  write("a.cu",
        "#if !defined(__CUDACC__) || !defined(__NVCC__) || __CUDACC_VER_MAJOR__ != 13 || !defined(ANYGIN_TARGET_CPU)\n"
        "#error missing\n#endif\nstatic_assert(__CUDA_ARCH__ == ARCH && __cplusplus == STD, \"\");\n");
  EXPECT_EQ(run("nvcc -c a.cu -DARCH=900 -DSTD=201703L").output, "");
  EXPECT_EQ(run("nvcc -c a.cu -arch=sm_80 -std=c++20 -DARCH=800 -DSTD=202002L").output, "");
}

// CMake hands the folders of imported targets over so; only headers without a word of CUDA are left alone.
TEST_F(Driver, headers_of_installed_packages_may_be_written_in_cuda) {
  write("package.cuh",
        "#pragma once\ntemplate <typename T> __device__ __forceinline__ T twice(T x) { return 2 * x; }\n"
        "template <typename T> __global__ void fill(T* p) {\n  __shared__ T s[32]; s[threadIdx.x] = "
        "twice<T>(threadIdx.x);\n"
        "  __syncthreads(); p[threadIdx.x] = s[31 - threadIdx.x];\n}\ninline void run(int* p) { fill<int><<<1, "
        "32>>>(p); }\n");
  write(
      "a.cu",
      "#include <package.cuh>\n#include <cstdio>\nint main() {\n  static int p[32]; run(p); cudaDeviceSynchronize();\n"
      "  std::printf(\"%d %d\\n\", p[0], p[31]);\n}\n");
  EXPECT_EQ(run("mkdir package && mv package.cuh package && nvcc -isystem package -o prog a.cu && ./prog").output,
            "62 0\n");
}

TEST_F(Driver, reads_response_files) {
  write("answer.cu", kAnswer);
  write("main.cpp", kMain);
  write("words", "-x cu\n-DNAME=\"two words\" main.cpp");
  write("more.txt", "answer.cu -o prog");
  EXPECT_EQ(run("nvcc @words --options-file more.txt && ./prog").output, "5\n");
}

TEST_F(Driver, compiles_any_name_as_cuda_when_told) {
  write("main.cpp",
        std::string("#include <cstdio>\n") + kAnswer + "int main() { std::printf(\"%d\\n\", answer()); }\n");
  EXPECT_EQ(run("nvcc -x cu -o prog main.cpp && ./prog").output, "5\n");
  EXPECT_NE(run("nvcc -o prog main.cpp").code, 0);
}

TEST_F(Driver, runs_what_it_linked) {
  write("main.cu", "#include <cstdio>\nint main(int c, char** v) { std::printf(\"%d %s\\n\", c, v[1]); return 3; }\n");
  const CommandResult ran = run("nvcc -run -run-args one,two main.cu");
  EXPECT_EQ(ran.output, "3 one\n");
  EXPECT_EQ(ran.code, 3);
}

TEST_F(Driver, several_sources_each_have_their_object) {
  write("a.cu", kKernel);
  write("b.cu", "__global__ void other() {}\n");
  EXPECT_EQ(run("mkdir out && nvcc -dc -odir out a.cu b.cu && ls out && nvcc -dlink -o d.o out/a.o out/b.o -lx").output,
            "a.o\nb.o\n");
  EXPECT_EQ(run("readelf -h d.o | grep -c REL").output, "1\n");
}

TEST_F(Driver, whole_archives_are_whole) {
  write("plugin.cu", "#include <cstdio>\nstatic int shown = std::printf(\"linked\\n\");\n");
  write("main.cu", "int main() {}\n");
  EXPECT_EQ(run("nvcc -lib -o libplugin.a plugin.cu && nvcc -o prog main.cu -Xlinker --whole-archive libplugin.a "
                "-Xlinker --no-whole-archive && ./prog")
                .output,
            "linked\n");
}

TEST_F(Driver, preprocesses_alone) {
  write("a.cu", "#define VALUE 42\nint x = VALUE + __CUDACC_VER_MAJOR__;\n");
  EXPECT_THAT(run("nvcc -E a.cu").output, HasSubstr("int x = 42 + 13;"));
}

TEST_F(Driver, a_dry_run_shows_commands_that_do_the_same) {
  write("answer.cu", kAnswer);
  write("main.cc", kMain);
  const CommandResult built =
      run("nvcc --dryrun -o prog main.cc answer.cu 2>commands; ls prog 2>/dev/null; "
          "grep -v ^#...[A-Z_]*= commands | cut -c 4- >again.sh && sh -e again.sh && ./prog");
  EXPECT_EQ(built.output, "5\n");
  EXPECT_EQ(built.code, 0);
}

TEST_F(Driver, without_the_runtime_its_functions_are_missing) {
  write("a.cu", "int main() { return cudaDeviceSynchronize(); }\n");
  const CommandResult linked = run("nvcc -cudart none a.cu");
  EXPECT_NE(linked.code, 0);
  EXPECT_THAT(linked.output, HasSubstr("cudaDeviceSynchronize"));
  EXPECT_EQ(run("nvcc -cudart static a.cu && ./a.out").code, 0);
}

TEST_F(Driver, programs_without_assertions_compile) {
  write("a.cu",
        "#include <cassert>\n__global__ void k() { assert(false); }\n#undef NDEBUG\n#include <assert.h>\n"
        "__global__ void m(int x) { assert(x == 3); }\n"
        "int main() { k<<<1, 1>>>(); m<<<1, 1>>>(3); return cudaDeviceSynchronize(); }\n");
  for (const char* compiler : {"g++", "clang++"}) {
    const CommandResult ran = run(std::string("nvcc -O3 -DNDEBUG -ccbin ") + compiler + " a.cu && ./a.out");
    EXPECT_EQ(ran.output, "");
    EXPECT_EQ(ran.code, 0);
  }
}

TEST_F(Driver, takes_options_from_the_environment) {
  write("a.cu", "static_assert(FIRST == 1 && LAST == 2, \"\");\n");
  EXPECT_EQ(run("NVCC_PREPEND_FLAGS=-DFIRST=1 NVCC_APPEND_FLAGS=\"-DLAST=2 -c\" nvcc a.cu").output, "");
}

TEST_F(Driver, errors_point_at_the_users_line) {
  write("a.h", "#define LAUNCH(k) k<<<1, 1>>>(\n\n");
  write("a.cu",
        "__global__ void k(int* p) {}\n\nint main() {\n  k<<<1,\n      1>>>(\n      \"text\");\n  nothing;\n}\n");
  const CommandResult compiled = run("nvcc -c a.cu");
  EXPECT_EQ(compiled.code, 1);
  EXPECT_THAT(compiled.output, HasSubstr("a.cu:6:"));
  EXPECT_THAT(compiled.output, HasSubstr("a.cu:7:3: error:"));
  write("b.cu", "__device__ void f() {\n  asm(\"wgmma.fence;\");\n}\n");
  const CommandResult refused = run("nvcc -c b.cu");
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.output, StartsWith("b.cu:2: error: PTX instruction `wgmma.fence` is not known"));
}

TEST_F(Driver, debug_lines_are_the_users) {
  write("a.cu",
        "int main() { return 0; }\n\n__global__\nvoid k(\n    int* p) {\n  __shared__ int x[2];\n  x[1] = *p;\n"
        "  *p = x[1] + 1;\n}\n");
  EXPECT_EQ(run("nvcc -g -O0 -c a.cu").output, "");
  const CommandResult lines =
      run("readelf --debug-dump=decodedline a.o | grep ^a.cu | tr -s \" \" | cut -d \" \" -f 2 | sort -un | tr \"\\n\" "
          "\" \"");
  EXPECT_THAT(lines.output, HasSubstr("5 6 7 8 9 "));
}

TEST_F(Driver, says_its_version_in_the_shape_that_is_looked_for) {
  const CommandResult version = run("nvcc --version");
  EXPECT_EQ(version.code, 0);
  EXPECT_THAT(version.output, StartsWith("nvcc: NVIDIA (R) Cuda compiler driver"));
  EXPECT_THAT(version.output, HasSubstr("Cuda compilation tools, release 13.0, V13.0.0\n"));
  EXPECT_THAT(run("nvcc --list-gpu-code").output, HasSubstr("sm_90\n"));
  EXPECT_THAT(run("nvcc -v none 2>&1").output, HasSubstr("#$ TOP="));
}

TEST_F(Driver, passes_on_the_host_compilers_exit_code_and_refusals) {
  EXPECT_EQ(run("nvcc --nonsense a.cu").output,
            "anygin-c++: error: unknown option --nonsense; options of the host compiler go behind -Xcompiler\n");
  const CommandResult missing = run("nvcc -c no.cu");
  EXPECT_EQ(missing.code, 1);
  EXPECT_THAT(missing.output, HasSubstr("no.cu: No such file"));
  write("a.cu", kKernel);
  EXPECT_EQ(run("nvcc -ccbin no-such-compiler -c a.cu").output,
            "anygin-c++: error: cannot start no-such-compiler: No such file or directory; name another host compiler "
            "with -ccbin\n");
}

TEST_F(Driver, undefined_functions_are_found_when_linking) {
  write("main.cc", kMain);
  const CommandResult linked = run("nvcc -o prog main.cc");
  EXPECT_NE(linked.code, 0);
  EXPECT_THAT(linked.output, HasSubstr("answer()"));
}

TEST_F(Driver, a_launch_of_no_kernel_is_reported) {
  write("a.cu",
        "#include <cstdio>\nvoid plain(int) {}\nint main() {\n  plain<<<1, 1>>>(1);\n"
        "  std::printf(\"%d\\n\", static_cast<int>(cudaGetLastError()));\n}\n");
  const CommandResult ran = run("nvcc -o a a.cu && ./a");
  EXPECT_THAT(ran.output, HasSubstr("98\n"));
}

}  // namespace
}  // namespace anygin
