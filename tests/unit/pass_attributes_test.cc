// SPDX-License-Identifier: Apache-2.0
#include "unit/rewriter_fixture.h"

namespace anygin::rewriter {
namespace {

TEST(Attributes, of_functions_and_variables_go_away) {
  EXPECT_EQ(rewritten("__host__ __device__ int f();"), "  int f();");
  EXPECT_EQ(rewritten("extern __device__ int x; extern __constant__ float c[4]; extern __managed__ int m;"),
            "extern  int x; extern  float c[4]; extern  int m;");
  EXPECT_EQ(rewritten("auto f = [=] __host__ __device__ (int x) { return x; };"),
            "auto f = [=]   (int x) { return x; };");
  EXPECT_EQ(rewritten("void __cluster_dims__(2, 1, 1) __maxnreg__(f(3)) k();"), "void     k();");
}

TEST(Attributes, inline_once) {
  EXPECT_EQ(rewritten("__forceinline__ int f();"), "inline int f();");
  EXPECT_EQ(rewritten("static __device__ __forceinline__ int f();"), "static  inline int f();");
  EXPECT_EQ(rewritten("__device__ inline __forceinline__ int f();"), " inline  int f();");
  EXPECT_EQ(rewritten("__forceinline__ __device__ inline int f();"), "  inline int f();");
  EXPECT_EQ(rewritten("auto f = [] __device__ __forceinline__ () {};"), "auto f = []   () {};");
}

TEST(Attributes, of_the_compiler_keep_their_meaning) {
  EXPECT_EQ(rewritten("__noinline__ void f();"), "__attribute__((noinline)) void f();");
  EXPECT_EQ(rewritten("[[gnu::__noinline__]] void f(); __attribute__((__noinline__)) void g();"),
            "[[gnu::__noinline__]] void f(); __attribute__((__noinline__)) void g();");
  EXPECT_EQ(rewritten("struct __align__(16) S { int __align__(8) x; };"),
            "struct __attribute__((aligned(16))) S { int __attribute__((aligned(8))) x; };");
}

TEST(Attributes, inside_strings_and_comments_stay) {
  EXPECT_EQ(rewritten("const char* s = \"__device__\"; // __global__"),
            "const char* s = \"__device__\"; // __global__");
}

TEST(Attributes, pragmas_of_nvcc_go_away) {
  EXPECT_EQ(rewritten("#pragma unroll 4\nx;\n#pragma GCC unroll 4\n#pragma nv_diag_suppress 1\n"),
            "\nx;\n#pragma GCC unroll 4\n\n");
}

TEST(Clock, of_lanes_counts_as_clock64_does) {
  EXPECT_EQ(
      rewritten(
          "__device__ void f() { x = clock(); y = ::clock(); return std::clock() + a.clock() + clock(1) + clock(); }"),
      " void f() { x = clock64(); y = ::clock64(); return std::clock() + a.clock() + clock(1) + clock64(); }");
  EXPECT_EQ(rewritten("void f() { clock(); }"), "void f() { clock(); }");
}

TEST(Printf, of_lanes_is_the_engines) {
  EXPECT_EQ(
      rewritten(
          "__device__ void f() { printf(\"x\"); std::printf(\"y\"); ::printf(\"z\"); a.printf(1); n::printf(2); }"),
      " void f() { ::anygin::simt::anygin_printf(\"x\"); ::anygin::simt::anygin_printf(\"y\"); "
      "::anygin::simt::anygin_printf(\"z\"); a.printf(1); n::printf(2); }");
  EXPECT_EQ(rewritten("int main() { printf(\"x\"); }"), "int main() { printf(\"x\"); }");
}

TEST(SystemHeaders, are_not_touched) {
  const std::string system =
      "# 1 \"/usr/include/x.h\" 1 3 4\nvoid k() { while (*(volatile int*)p); asm(\"mov\"); }\n__noinline__ x;\n";
  const std::string text = "# 1 \"a.cu\"\n" + system + "# 2 \"a.cu\" 2\nint a;\n";
  EXPECT_EQ(rewritten(text, Ticks::kAll), text);
}

}  // namespace
}  // namespace anygin::rewriter
