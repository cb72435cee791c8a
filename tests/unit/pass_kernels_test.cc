// SPDX-License-Identifier: Apache-2.0
#include "unit/rewriter_fixture.h"

namespace anygin::rewriter {
namespace {

// The statement that a kernel begins with.
std::string first(const std::string& types, const std::string& address, const std::string& arguments,
                  const std::string& bound = "") {
  return " if (::anygin::simt::Kernel<static_cast<void (*)(" + types + ")>(&" + address + ")" + bound + ">::launch(" +
         arguments + ")) return; ";
}

TEST(Kernels, begin_with_the_launch) {
  EXPECT_EQ(rewritten("__global__ void k() { x(); }"), " void k() {" + first("", "::k", "") + " x(); }");
  EXPECT_EQ(rewritten("__global__ void k(void) {}"), " void k(void) {" + first("", "::k", "") + "}");
  EXPECT_EQ(rewritten("__global__ void k(const int n, float* __restrict__ p) {}"),
            " void k(const int n, float* __restrict__ p) {" +
                first("decltype(n), ::anygin::simt::Unrestricted<decltype(p)>", "::k", "n, p") + "}");
}

TEST(Kernels, with_packs_of_restricted_pointers_restrict_nothing) {
  EXPECT_EQ(rewritten("template <class... Ts> __global__ void k(int* __restrict__ n, const Ts* __restrict__... ps) {}"),
            "template <class... Ts>  void k(int* __restrict__ n, const Ts* ... ps) {" +
                first("::anygin::simt::Unrestricted<decltype(n)>, decltype(ps)...", "::k<Ts...>", "n, ps...") + "}");
}

TEST(Kernels, that_want_clusters_refuse_them) {
  EXPECT_EQ(
      rewritten("template <int N> __global__ void __cluster_dims__(N, 2) k() { x(); }"),
      "template <int N>  void   k() {" + first("", "::k<N>", "") + "::anygin::simt::refuse_clusters(N , 2);  x(); }");
}

TEST(Kernels, find_every_parameter_name) {
  EXPECT_EQ(rewritten("__global__ void k(int (*f)(int, int), float a[3], ns::T<int, 4> t, struct S s = {1}) {}"),
            " void k(int (*f)(int, int), float a[3], ns::T<int, 4> t, struct S s = {1}) {" +
                first("decltype(f), decltype(a), decltype(t), decltype(s)", "::k", "f, a, t, s") + "}");
  EXPECT_EQ(
      rewritten(
          "__global__ void k(unsigned long long const n, decltype(x) y, T (&r)[2], const __grid_constant__ D d) {}"),
      " void k(unsigned long long const n, decltype(x) y, T (&r)[2], const  D d) {" +
          first("decltype(n), decltype(y), decltype(r), decltype(d)", "::k", "n, y, r, d") + "}");
}

TEST(Kernels, name_parameters_that_have_no_name) {
  EXPECT_EQ(rewritten("__global__ void k(int, float* = nullptr, void (*)(int)) {}"),
            " void k(int anygin_p0 , float*  anygin_p1 = nullptr, void (* anygin_p2 )(int)) {" +
                first("decltype(anygin_p0), decltype(anygin_p1), decltype(anygin_p2)", "::k",
                      "anygin_p0, anygin_p1, anygin_p2") +
                "}");
}

TEST(Kernels, of_templates_name_their_instantiation) {
  EXPECT_EQ(rewritten("template <typename T, int N = 3, class... Us> __global__ void k(T* p, Us... us) {}"),
            "template <typename T, int N = 3, class... Us>  void k(T* p, Us... us) {" +
                first("decltype(p), decltype(us)...", "::k<T, N, Us...>", "p, us...") + "}");
  EXPECT_EQ(
      rewritten("template <typename, typename T::v x, template <class> class C, int...> __global__ void k(int i) {}"),
      "template <typename anygin_t0 , typename T::v x, template <class> class C, int... anygin_t3 >  void k(int i) {" +
          first("decltype(i)", "::k<anygin_t0, x, C, anygin_t3...>", "i") + "}");
  EXPECT_EQ(rewritten("template <typename T, std::enable_if_t<(sizeof(T) > 4), int> = 0> __global__ void k(T t) {}"),
            "template <typename T, std::enable_if_t<(sizeof(T) > 4), int>  anygin_t1 = 0>  void k(T t) {" +
                first("decltype(t)", "::k<T, anygin_t1>", "t") + "}");
  EXPECT_EQ(rewritten("template <> __global__ void k<int>(int* p) {}"),
            "template <>  void k<int>(int* p) {" + first("decltype(p)", "::k < int >", "p") + "}");
}

TEST(Kernels, leave_to_deduction_what_follows_a_pack) {
  EXPECT_EQ(rewritten("template <int... Ns, typename T> __global__ void k(T t) {}"),
            "template <int... Ns, typename T>  void k(T t) {" + first("decltype(t)", "::k<Ns...>", "t") + "}");
}

TEST(Kernels, are_named_with_their_namespaces) {
  EXPECT_EQ(
      rewritten(
          "namespace a::b { namespace { inline namespace v1 { extern \"C\" { __global__ void k(int a) {} } } } }"),
      "namespace a::b { namespace { inline namespace v1 { extern \"C\" {  void k(int a) {" +
          first("decltype(a)", "::a::b::v1::k", "a") + "} } } } }");
}

TEST(Kernels, keep_their_bounds) {
  EXPECT_EQ(rewritten("template <int N> __global__ void __launch_bounds__(N * 32, 2) k(int i) {}"),
            "template <int N>  void     k(int i) {" + first("decltype(i)", "::k<N>", "i", ", (N * 32)") + "}");
  EXPECT_EQ(rewritten("__launch_bounds__(256) static __global__ void k() noexcept {}"),
            " static  void k() noexcept {" + first("", "::k", "", ", (256)") + "}");
}

TEST(Kernels, without_a_body_only_lose_their_words) {
  EXPECT_EQ(rewritten("template <class T> __global__ void k(T, int = 3);"), "template <class T>  void k(T, int = 3);");
  EXPECT_EQ(rewritten("struct S { friend __global__ void k(S); };"), "struct S { friend  void k(S); };");
}

TEST(Kernels, overloads_are_told_apart_by_type) {
  const std::string text =
      rewritten("__global__ void k(int a) {} __global__ void k(float a) {} __global__ void k() {}");
  EXPECT_EQ(text, " void k(int a) {" + first("decltype(a)", "::k", "a") + "}  void k(float a) {" +
                      first("decltype(a)", "::k", "a") + "}  void k() {" + first("", "::k", "") + "}");
}

}  // namespace
}  // namespace anygin::rewriter
