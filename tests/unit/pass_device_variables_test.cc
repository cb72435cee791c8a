// SPDX-License-Identifier: Apache-2.0
#include "unit/rewriter_fixture.h"

namespace anygin::rewriter {
namespace {

std::string registered(const std::string& name, int number = 1, const std::string& more = "", int line = 1) {
  return " [[maybe_unused]] static const bool anygin_variable_" + std::to_string(number) +
         " = ::anygin::simt::register_device_variable(::" + name + ", \"" + name + " (<input>:" + std::to_string(line) +
         ")\"" + more + ");";
}
std::string here(const std::string& name) {
  return "::anygin::simt::on_device(" + name + ")";
}
// What the body of a device function becomes behind `__device__ int x;`.
std::string body(const std::string& text) {
  const std::string before = " int x;" + registered("x") + " void f(int n) {";
  const std::string all = rewritten("__device__ int x;__device__ void f(int n) {" + text + "}");
  if (all.substr(0, before.size()) != before) return all;
  return all.substr(before.size(), all.size() - before.size() - 1);
}

TEST(DeviceVariables, register_themselves) {
  EXPECT_EQ(rewritten("__device__ int x;"), " int x;" + registered("x"));
  EXPECT_EQ(rewritten("namespace n { static __constant__ float a[3], *b = a; }"),
            "namespace n { static  float a[3], *b = a;" + registered("n::a") + registered("n::b", 2) + " }");
  EXPECT_EQ(rewritten("__managed__ S s{};"), " S s{};" + registered("s", 1, ", true"));
  EXPECT_EQ(rewritten("extern __device__ int x;"), "extern  int x;");
  EXPECT_EQ(rewritten("extern \"C\" __device__ int x;"), "extern \"C\"  int x;" + registered("x"));
  EXPECT_EQ(rewritten("__device__ int (*f)(int) = g;"), " int (*f)(int) = g;" + registered("f"));
  EXPECT_EQ(rewritten("__device__ int S::n = 1;"), " int S::n = 1;" + registered("S::n"));
}

TEST(DeviceVariables, are_not_functions) {
  for (const char* text : {" int f();", " int f(int x) { return x; }", " S::S(int n) : a(n) {}", " int (*f())(int);",
                           " S& operator=(const S&);", " S() = default;", " ~S();", " explicit S(int n);"}) {
    EXPECT_EQ(rewritten("__device__" + std::string(text)), text);
  }
  EXPECT_EQ(rewritten("void f() { auto g = [] __device__ (int i) { return i; }; }"),
            "void f() { auto g = []  (int i) { return i; }; }");
}

TEST(DeviceVariables, are_the_devices_own_where_device_code_names_them) {
  EXPECT_EQ(body("x = x + 1; g(&x); return x;"),
            here("x") + " = " + here("x") + " + 1; g(&" + here("x") + "); return " + here("x") + ";");
  EXPECT_EQ(body("n < x; z = a * x; y[x] = ::x;"),
            "n < " + here("x") + "; z = a * " + here("x") + "; y[" + here("x") + "] = " + here("::x") + ";");
  EXPECT_EQ(body("return sizeof(x) + sizeof(decltype(x));"), "return sizeof(x) + sizeof(decltype(x));");
  EXPECT_EQ(body("s.x = p->x + S::x;"), "s.x = p->x + S::x;");
  EXPECT_EQ(body("n = ~x; p->~x();"), "n = ~" + here("x") + "; p->~x();");
  EXPECT_EQ(body("int a[2] = {int(n), x}; P{int(n), x}; f(int(n), x); x--;"),
            "int a[2] = {int(n), " + here("x") + "}; P{int(n), " + here("x") + "}; f(int(n), " + here("x") + "); " +
                here("x") + "--;");
  EXPECT_EQ(body("if (a < b && c > x) n = a < b ? x : (c * x); for (; a < b && c > x; x++) do x++; while (x);"),
            "if (a < b && c > " + here("x") + ") n = a < b ? " + here("x") + " : (c * " + here("x") +
                "); for (; a < b && c > " + here("x") + "; " + here("x") + "++) do " + here("x") + "++; while (" +
                here("x") + ");");
}

TEST(DeviceVariables, keep_away_from_names_that_hide_them) {
  for (const char* text :
       {"int x = n; x++;", "T* x = n; x++;", "std::vector<int> x; x++;", "int a, *b, x; x++;", "auto& [a, x] = p; x++;",
        "for (int x = 0; x < n; ++x) x += x;", "if (T* x = p) x++; else x--;", "auto f = [](int x) { return x; };",
        "for (auto& x : p) { x++; }", "using n::x;", "s = {.x = 1};"}) {
    EXPECT_EQ(body(text), text);
  }
  EXPECT_EQ(body("{ int x; x++; } x--;"), "{ int x; x++; } " + here("x") + "--;");
  EXPECT_EQ(body("if (n & x) n--;"), "if (n & " + here("x") + ") n--;");
  EXPECT_EQ(rewritten("__device__ int x;__device__ int f(int x) { return x; }"),
            " int x;" + registered("x") + " int f(int x) { return x; }");
}

TEST(DeviceVariables, stay_alone_in_host_code) {
  EXPECT_EQ(rewritten("__device__ int x;int f() { return x; }"), " int x;" + registered("x") + "int f() { return x; }");
}

TEST(DeviceVariables, that_are_constant_have_one_copy) {
  EXPECT_EQ(rewritten("__device__ const int k = 3;__device__ int f() { return k; }"),
            " const int k = 3;" + registered("k") + " int f() { return k; }");
  EXPECT_EQ(rewritten("__device__ const int* k;__device__ int f() { return *k; }"),
            " const int* k;" + registered("k") + " int f() { return *" + here("k") + "; }");
}

TEST(DeviceVariables, may_be_local_and_static) {
  EXPECT_EQ(rewritten("__device__ int f() { static int calls; return ++calls; }"),
            " int f() { static int calls; [[maybe_unused]] static const bool anygin_variable_1 = "
            "::anygin::simt::register_device_variable(calls, \"calls (<input>:1)\"); return ++" +
                here("calls") + "; }");
  EXPECT_EQ(rewritten("int f() { static int calls; return ++calls; }"),
            "int f() { static int calls; return ++calls; }");
}

TEST(DeviceVariables, may_be_templates) {
  EXPECT_EQ(rewritten("template <typename T> __device__ T v;__device__ int f() { return v<int>; }"),
            "template <typename T>  T v; int f() { return ::anygin::simt::DeviceVariableInstance<v<int>>::here(); }");
}

TEST(DeviceVariables, are_found_by_qualified_names) {
  const std::string declared = "namespace a { inline namespace b { __device__ int x; } }namespace c = a;";
  const std::string kept =
      "namespace a { inline namespace b {  int x;" + registered("a::b::x") + " } }namespace c = a;";
  const auto in = [&](const std::string& use) {
    return rewritten(declared + "__device__ int f() { return " + use + "; }");
  };
  const auto out = [&](const std::string& use) { return kept + " int f() { return " + use + "; }"; };
  EXPECT_EQ(in("a::x"), out(here("a::x")));
  EXPECT_EQ(in("::a::b::x"), out(here("::a::b::x")));
  EXPECT_EQ(in("c::x"), out(here("c::x")));
  EXPECT_EQ(in("d::x"), out("d::x"));
}

}  // namespace
}  // namespace anygin::rewriter
