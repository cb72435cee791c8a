// SPDX-License-Identifier: Apache-2.0
// The line round trip: every token of the source is found in the output, in the same file and on the same line.
#include "anygin/simt/rewriter/cu_emitter.h"

#include <map>

#include "anygin/simt/rewriter/cu_lexer.h"
#include "unit/rewriter_fixture.h"

namespace anygin::rewriter {
namespace {

// How often each identifier or number stands on each line: "file:line:text" → count.
std::map<std::string, int> places(std::string_view source) {
  std::map<std::string, int> found;
  const TokenStream stream = lex(source);
  for (const Token& token : stream.tokens) {
    const bool word = token.kind == TokenKind::kIdentifier || token.kind == TokenKind::kNumber ||
                      token.kind == TokenKind::kString || token.kind == TokenKind::kCharacter;
    if (word) ++found[stream.files[token.file] + ":" + std::to_string(token.line) + ":" + std::string(token.text)];
  }
  return found;
}

bool is_cuda_word(const std::string& place) {
  for (const char* word : {"__global__", "__device__", "__host__", "__shared__", "__launch_bounds__", "__forceinline__",
                           "__align__", ":extern", ":asm", ":volatile", ":printf", ":\"memory\"", ":128"}) {
    if (place.size() > std::char_traits<char>::length(word) &&
        place.compare(place.size() - std::char_traits<char>::length(word), std::string::npos, word) == 0) {
      return true;
    }
  }
  return false;
}

void expect_every_line_kept(const std::string& source) {
  const std::map<std::string, int> after = places(rewritten(source, Ticks::kAll));
  for (const auto& [place, count] : places(source)) {
    if (is_cuda_word(place)) continue;
    const auto found = after.find(place);
    EXPECT_TRUE(found != after.end() && found->second >= count) << place;
  }
}

constexpr const char* kProgram = R"cu(# 1 "a.cu"
# 1 "<built-in>"
# 1 "<command-line>"
# 1 "/usr/include/s.h" 1 3
int system_word;
# 1 "a.cu"
# 1 "a.h" 1
template <typename T>
__device__ __forceinline__ T twice(T x)
{ return
    x + x; }
# 2 "a.cu" 2

__launch_bounds__(
    128)
__global__
void kernel(float* p,
            int n,
            const char* text = R"(one
two)")
{
  __shared__ float tile
    [32],
    sum;
  extern __shared__
    char bytes[];
  while (n
      > 0)
    n -= 1;
  do
    n += 2;
  while (n < 3);
  asm volatile("mov.u32 %0, 1;"
               : "=r"(n)
               :
               : "memory");
  printf("%d\n",
         n);
}
int main() {
  kernel
    <<<
      dim3(1),
      2, 3
    >>>
    (nullptr,
     4); after(5);
  kernel<<<6,
           7>>>(pointer,
                8);
  other<<<9, 10>>>([&] {
      inner<<<11,
        12>>>(
        13);
    });
}
# 100 "b.cu"
last
)cu";

TEST(Lines, are_kept) {
  expect_every_line_kept(kProgram);
}

TEST(Lines, are_kept_with_windows_line_ends) {
  std::string source;
  for (char c : std::string(kProgram)) source += c == '\n' ? "\r\n" : std::string(1, c);
  // A marker's line end belongs to the marker; raw strings keep theirs.
  expect_every_line_kept(source);
}

TEST(Lines, need_no_markers_where_nothing_moves) {
  const std::string source = "# 1 \"a.cu\"\nint a;\n\n\n  int b; /* x\n y */ int c;\n";
  EXPECT_EQ(rewritten(source), source);
}

TEST(Emitter, gives_back_what_no_pass_changed) {
  for (const char* source :
       {"", "\n", "x", "#pragma once\n", "# 4 \"q\\\\\\\".cu\"\nx\n", "a // b\nc", "\"a\nb", "{ ( ] }"}) {
    EXPECT_EQ(rewritten(source), source);
  }
}

}  // namespace
}  // namespace anygin::rewriter
