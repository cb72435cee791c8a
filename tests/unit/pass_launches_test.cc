// SPDX-License-Identifier: Apache-2.0
#include "unit/rewriter_fixture.h"

namespace anygin::rewriter {
namespace {

// What "callee<<<configuration>>>(arguments)" becomes.
std::string launch(const std::string& callee, const std::string& configuration, const std::string& arguments = "a") {
  return "(::anygin::simt::PendingLaunch(" + configuration + "), " + callee + "(" + arguments + "))";
}

TEST(Launches, keep_the_callee_and_the_arguments) {
  EXPECT_EQ(rewritten("k<<<g,b,sm,st>>>(a);"), launch("k", "g,b,sm,st") + ";");
  EXPECT_EQ(rewritten("k<<<1,2>>>();"), launch("k", "1,2", "") + ";");
  EXPECT_EQ(rewritten("if (x) k<<<1,2>>>(a); else m<<<3,4>>>(a);"),
            "if (x) " + launch("k", "1,2") + "; else " + launch("m", "3,4") + ";");
  EXPECT_EQ(rewritten("return k<<<1,2>>>(a);"), "return " + launch("k", "1,2") + ";");
  EXPECT_EQ(rewritten("k<<<1,2>>> (f(1, {2}), \"<<<\");"),
            "(::anygin::simt::PendingLaunch(1,2), k(f(1, {2}), \"<<<\"));");
}

TEST(Launches, find_the_callee_backwards) {
  for (const char* callee :
       {"ns::k<int,64>", "::a::b::template k<T>", "(a::b::k<int>)", "k<A<B<int>>>", "k<(1 > 0), decltype(x < y)>",
        "this->table[i]", "obj.pick(1, 2)", "p->template get<2>()", "fp", "(*fp)", "k<n < 4>", "k<f(a, b)>",
        "std::get<0>(kernels)", "k<sizeof(P<1,2>)*2>", "self().k<T...>", "table[f(1)][2]"}) {
    EXPECT_EQ(rewritten(std::string("  ") + callee + "<<<1,2>>>(a);"), "  " + launch(callee, "1,2") + ";");
  }
}

TEST(Launches, take_the_callee_only) {
  EXPECT_EQ(rewritten("x = 1, k<<<1,2>>>(a);"), "x = 1, " + launch("k", "1,2") + ";");
  EXPECT_EQ(rewritten("if (x) (k)<<<1,2>>>(a);"), "if (x) " + launch("(k)", "1,2") + ";");
  EXPECT_EQ(rewritten("c ? k<<<1,2>>>(a) : m<<<1,2>>>(a);"),
            "c ? " + launch("k", "1,2") + " : " + launch("m", "1,2") + ";");
  EXPECT_EQ(rewritten("else ::k<<<1,2>>>(a);"), "else " + launch("::k", "1,2") + ";");
  EXPECT_EQ(rewritten("return ::k<<<1,2>>>(a);"), "return " + launch("::k", "1,2") + ";");
}

TEST(Launches, read_the_configuration) {
  for (const char* configuration :
       {"1,64,(1<<4)>>1,nullptr", "dim3(1,2),{3,4}", "n<4?1:2, 32", "f<1,2>(x), 3", "sizeof(A<B<C<int>>>), 1",
        "(a > b) ? a : b, 32", "g[i], b[j>>1]", "[]{ return 3; }(), 1", "f<A<B<int>>>(x), 1"}) {
    EXPECT_EQ(rewritten(std::string("k<<<") + configuration + ">>>(a);"), launch("k", configuration) + ";");
  }
}

TEST(Launches, may_be_written_in_pieces) {
  EXPECT_EQ(rewritten("k<< <1,2>> >(a);"), launch("k", "1,2") + ";");
}

TEST(Launches, nest) {
  EXPECT_EQ(rewritten("k<<<1,2>>>([&]{ m<<<3,4>>>(a); return 1; }());"),
            launch("k", "1,2", "[&]{ " + launch("m", "3,4") + "; return 1; }()") + ";");
  EXPECT_EQ(rewritten("k<<<[&]{ m<<<3,4>>>(a); return 1; }(),2>>>(a);"),
            launch("k", "[&]{ " + launch("m", "3,4") + "; return 1; }(),2") + ";");
}

TEST(Launches, leave_other_angle_brackets_alone) {
  for (const char* source : {"x = a << b >> c;", "friend ostream& operator<<<T>(ostream&, T);", "A<B<C<int>>> x;",
                             "auto s = \"k<<<1,2>>>()\";", "x <<= 3;", "f(a < b, c > (d));", "cout << x << y;"}) {
    EXPECT_EQ(rewritten(source), source);
  }
}

TEST(Launches, keep_lines_apart) {
  // The configuration moves before the callee: linemarkers say where each piece was.
  EXPECT_EQ(rewritten("# 5 \"a.cu\"\nk\n  <<<1,\n     2>>>(a);\n"),
            "# 5 \"a.cu\"\n(::anygin::simt::PendingLaunch(\n# 6 \"a.cu\"\n1,\n     2), \n# 5 \"a.cu\"\nk\n  \n"
            "# 7 \"a.cu\"\n(a));\n");
}

TEST(Launches, that_are_wrong_are_named) {
  EXPECT_EQ(only_error("\nk<<<1,2;"), "2: this launch has no `>>>`; right is kernel<<<grid, block>>>(arguments)");
  EXPECT_EQ(only_error("k<<<>>>(a);"),
            "1: this launch names no grid and block; right is kernel<<<grid, block>>>(arguments)");
  EXPECT_EQ(only_error("k<<<1,2>>>;"), "1: `>>>` must be followed by the kernel's arguments in parentheses");
  EXPECT_EQ(only_error("x = (+)<<<1,2>>>(a) + k + 1>(2)<<<1,2>>>;").substr(0, 3), "1: ");
}

}  // namespace
}  // namespace anygin::rewriter
