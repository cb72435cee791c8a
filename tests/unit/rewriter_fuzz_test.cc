// SPDX-License-Identifier: Apache-2.0
// Broken source must not break the rewriter: mutations of a program that uses every pass, from fixed seeds.
#include <random>

#include "anygin/simt/ptx_decode.h"
#include "anygin/simt/rewriter/cu_lexer.h"
#include "unit/rewriter_fixture.h"

namespace anygin::rewriter {
namespace {

constexpr const char* kSeed = R"cu(# 1 "a.cu"
namespace n { extern __shared__ float s[]; }
template <typename T, int N = (1 < 2)> __global__ void __launch_bounds__(N) k(T* p, int, void (*f)(int)) {
  __shared__ alignas(16) T a[N], *b; extern __shared__ char d[];
  do { while (*(volatile int*)p) ; } while (p->load());
  asm volatile("ld.acquire.sys.u32 %0, [%1+4];" : "=r"(x) : "l"(p) : "memory");
  for (;;) if (a[0] < 3) break; else { printf("x"); }
}
# 7 "/usr/s.h" 1 3
x
# 12 "a.cu" 2
struct S { S() : x{1}, y(2) {} __device__ void m() { n::s[0] = R"(raw)"[0]; } };
int main() { ns::k<A<B<int>>, 3><<<dim3(1, 2), n < 4 ? 1 : 2, 1 << 3, nullptr>>>(f({1, 2}), 'x', "s"); }
)cu";

std::string mutated(std::mt19937& random, std::string text) {
  static const std::string kPieces[] = {"<<<",
                                        ">>>",
                                        "{",
                                        "}",
                                        "(",
                                        ")",
                                        "[",
                                        "]",
                                        "<",
                                        ">",
                                        ";",
                                        "\"",
                                        "'",
                                        "\n",
                                        "R\"(",
                                        "/*",
                                        "template <",
                                        "__global__ ",
                                        "__shared__ ",
                                        "asm(",
                                        "do ",
                                        "while(",
                                        "# 3 \"b\" 3\n",
                                        "# 4 \"a.cu\"\n",
                                        "::",
                                        ",",
                                        ":",
                                        "extern ",
                                        "\\",
                                        "case x:"};
  const int edits = 1 + static_cast<int>(random() % 8);
  for (int i = 0; i < edits && !text.empty(); ++i) {
    const size_t at = random() % text.size();
    switch (random() % 4) {
      case 0:
        text.erase(at, 1 + random() % 20);
        break;
      case 1:
        text.insert(at, kPieces[random() % std::size(kPieces)]);
        break;
      case 2:
        text[at] = static_cast<char>(random() % 256);
        break;
      default:
        text.insert(at, text.substr(random() % text.size(), random() % 60));
    }
  }
  return text;
}

TEST(RewriterFuzz, survives_mutations) {
  for (unsigned seed = 1; seed <= 3000; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const std::string source = mutated(random, kSeed);
    std::string joined;
    const TokenStream stream = lex(source);
    for (const Token& token : stream.tokens) joined += token.text;
    ASSERT_EQ(joined, source);
    for (const Ticks ticks : {Ticks::kAuto, Ticks::kAll}) {
      const RewriteResult result = rewrite(source, {ticks});
      for (const Diagnostic& error : result.errors) ASSERT_FALSE(error.text.empty());
      ASSERT_FALSE(result.text.empty());
    }
  }
}

TEST(RewriterFuzz, survives_deep_nesting) {
  for (const char* piece : {"(", "{", "<", "a<", "if (x) ", "do ", "while (x) ", "case x: ", "k<<<", "x: ", "try ", "[",
                            "template <", "__shared__ ", "__global__ void k(", "asm(", "namespace a { ", "f<A<"}) {
    std::string source;
    while (source.size() < 6000) source += piece;
    const RewriteResult result = rewrite("__device__ void f() {" + source, {Ticks::kAll});
    EXPECT_GE(result.text.size(), 1000u) << piece;
  }
}

TEST(RewriterFuzz, decodes_any_ptx) {
  for (unsigned seed = 1; seed <= 5000; ++seed) {
    std::mt19937 random(seed);
    const std::string text = mutated(
        random,
        "ld.acquire.sys.global.v2.u32 {%0, %1}, [%2+0x10]; atom.add.release.gpu.u64 %3, [%4], -1; bar.sync 1, 32;");
    const simt::PtxProgram program = simt::decode_ptx(text);
    EXPECT_TRUE(!program.error.empty() || program.operand_count <= 30) << seed;
  }
}

}  // namespace
}  // namespace anygin::rewriter
