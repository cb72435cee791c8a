// SPDX-License-Identifier: Apache-2.0
#include "unit/rewriter_fixture.h"

namespace anygin::rewriter {
namespace {

std::string in_function(const std::string& body) {
  return "__device__ void f(int n) {" + body + "}";
}
std::string out_function(const std::string& body) {
  return " void f(int n) {" + body + "}";
}
std::string shared(const std::string& members, const std::vector<std::string>& names, int number = 1) {
  const std::string id = std::to_string(number);
  const std::string type = "anygin_shared_" + id;
  std::string text = "struct " + type + " { " + members + "; };";
  for (size_t i = 0; i < names.size(); ++i) {
    text += " [[maybe_unused]] auto& " + names[i] + " = ::anygin::simt::shared_member<decltype(" + type +
            "::" + names[i] + "), " + type + ", " + std::to_string(i) + ">();";
  }
  return text;
}

TEST(Shared, becomes_a_struct_of_the_block) {
  EXPECT_EQ(rewritten(in_function("__shared__ int a;")), out_function(shared(" int a", {"a"})));
  EXPECT_EQ(rewritten(in_function("__shared__ T a[N][2], *b, c;")),
            out_function(shared(" T a[N][2], *b, c", {"a", "b", "c"})));
  EXPECT_EQ(rewritten(in_function("static volatile __shared__ ns::V<int, 3> v[f<2>()];")),
            out_function(shared(" volatile  ns::V<int, 3> v[f<2>()]", {"v"})));
  EXPECT_EQ(rewritten(in_function("__shared__ alignas(16) char a[8]; __shared__ typename T::X x;")),
            out_function(shared(" alignas(16) char a[8]", {"a"}) + " " + shared(" typename T::X x", {"x"}, 2)));
  EXPECT_EQ(rewritten(in_function("__shared__ union { int i; float f; } u;")),
            out_function(shared(" union { int i; float f; } u", {"u"})));
  EXPECT_EQ(rewritten(in_function("alignas(128) __shared__ float (*p)[4];")),
            out_function(shared("alignas(128)  float (*p)[4]", {"p"})));
}

TEST(Shared, may_ask_for_alignment) {
  EXPECT_EQ(rewritten(in_function("__shared__ __align__(8) char a[8];")),
            out_function(shared(" __attribute__((aligned(8))) char a[8]", {"a"})));
}

TEST(Shared, dynamic_in_a_function) {
  EXPECT_EQ(rewritten(in_function("extern __shared__ float s[];")),
            out_function("typedef   float anygin_dynamic_1_s[]; [[maybe_unused]] anygin_dynamic_1_s& s = "
                         "::anygin::simt::dynamic_shared<anygin_dynamic_1_s>();"));
  EXPECT_EQ(rewritten(in_function("__shared__ extern __align__(16) char s[];")),
            out_function("typedef    char anygin_dynamic_1_s[]; [[maybe_unused]] anygin_dynamic_1_s& s = "
                         "::anygin::simt::dynamic_shared<anygin_dynamic_1_s>();"));
}

TEST(Shared, dynamic_at_namespace_scope) {
  EXPECT_EQ(
      rewritten("namespace n { extern __shared__ float s[]; __device__ int f() { return s[0]; }\n"
                "__device__ int g(float* s) { return s[0]; } int host() { int s; return s; } __device__ void h() {} }"),
      "namespace n { extern  float s[];  int f() { [[maybe_unused]] decltype(::n::s)& s = "
      "::anygin::simt::dynamic_shared<decltype(::n::s)>(); { return s[0]; } }\n"
      " int g(float* s) { return s[0]; } int host() { int s; return s; }  void h() {} }");
}

TEST(Shared, that_is_wrong_is_named) {
  EXPECT_EQ(only_error("\n__shared__ int a;"),
            "2: a __shared__ variable outside a function must be `extern __shared__ T name[];`; declare it inside the "
            "kernel");
  EXPECT_EQ(only_error(in_function("__shared__ int a = 3;")),
            "1: a __shared__ variable has no initialiser: assign to it in one thread, then __syncthreads()");
  EXPECT_EQ(only_error(in_function("__shared__ int a")),
            "1: a __shared__ variable is declared by a statement that ends in `;`");
}

}  // namespace
}  // namespace anygin::rewriter
