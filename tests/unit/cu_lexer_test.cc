// SPDX-License-Identifier: Apache-2.0
#include "anygin/simt/rewriter/cu_lexer.h"

#include <gtest/gtest.h>

#include "unit/rewriter_fixture.h"

namespace anygin::rewriter {
namespace {

using Kinds = std::vector<TokenKind>;
using Texts = std::vector<std::string>;

Texts texts(std::string_view source) {
  Texts found;
  const TokenStream stream = lex(source);
  for (const Token& token : stream.tokens) {
    if (token.significant()) found.emplace_back(token.text);
  }
  return found;
}

TokenKind only_kind(std::string_view source) {
  const TokenStream stream = lex(source);
  EXPECT_EQ(stream.tokens.size(), 1u) << source;
  return stream.tokens.empty() ? TokenKind::kUnknown : stream.tokens[0].kind;
}

TEST(CuLexer, names_every_kind) {
  EXPECT_EQ(only_kind("while"), TokenKind::kIdentifier);
  EXPECT_EQ(only_kind("_x$9"), TokenKind::kIdentifier);
  EXPECT_EQ(only_kind("größe"), TokenKind::kIdentifier);
  EXPECT_EQ(only_kind("12"), TokenKind::kNumber);
  EXPECT_EQ(only_kind("\"a\""), TokenKind::kString);
  EXPECT_EQ(only_kind("'a'"), TokenKind::kCharacter);
  EXPECT_EQ(only_kind("->*"), TokenKind::kPunctuator);
  EXPECT_EQ(only_kind("`"), TokenKind::kUnknown);
  EXPECT_EQ(only_kind(" \t"), TokenKind::kWhitespace);
  EXPECT_EQ(only_kind("\n"), TokenKind::kNewline);
  EXPECT_EQ(only_kind("// x"), TokenKind::kComment);
  EXPECT_EQ(only_kind("/* x\n */"), TokenKind::kComment);
  EXPECT_EQ(only_kind("#pragma unroll"), TokenKind::kDirective);
  EXPECT_EQ(only_kind("# 1 \"a.cu\""), TokenKind::kLinemarker);
}

TEST(CuLexer, reads_numbers_as_the_language_does) {
  for (const char* number :
       {"1'000'000", "0x1F", "1e+5", "1.5e-3f", ".5", "0x1p-3", "0b1010", "1ull", "1.", "123_km"}) {
    EXPECT_EQ(only_kind(number), TokenKind::kNumber) << number;
  }
  EXPECT_EQ(texts("1-2"), (Texts{"1", "-", "2"}));
  EXPECT_EQ(texts("1'a'"), (Texts{"1'a", "'"}));  // a separator needs a digit or letter behind it
}

TEST(CuLexer, keeps_strings_whole) {
  EXPECT_EQ(texts(R"x(f("k<<<1,2>>>()", '"', '\'', "a\"b"))x"),
            (Texts{"f", "(", "\"k<<<1,2>>>()\"", ",", "'\"'", ",", "'\\''", ",", "\"a\\\"b\"", ")"}));
  EXPECT_EQ(texts("u8\"a\" L'b' U\"c\" u'd'"), (Texts{"u8\"a\"", "L'b'", "U\"c\"", "u'd'"}));
  EXPECT_EQ(texts("\"a\"_suffix x"), (Texts{"\"a\"_suffix", "x"}));
}

TEST(CuLexer, reads_raw_strings) {
  EXPECT_EQ(texts("R\"(a\"b\\)\" x"), (Texts{"R\"(a\"b\\)\"", "x"}));
  EXPECT_EQ(texts("R\"end()\" )end)end\" x"), (Texts{"R\"end()\" )end)end\"", "x"}));
  EXPECT_EQ(texts("u8R\"(\n)\" x"), (Texts{"u8R\"(\n)\"", "x"}));
  EXPECT_EQ(texts("R x"), (Texts{"R", "x"}));
}

TEST(CuLexer, keeps_angle_brackets_apart) {
  EXPECT_EQ(texts("k<A<B>><<<1>>>"), (Texts{"k", "<", "A", "<", "B", ">", ">", "<", "<", "<", "1", ">", ">", ">"}));
  EXPECT_EQ(texts("a<<=b>>=c<=d>=e->f"), (Texts{"a", "<<=", "b", ">>=", "c", "<=", "d", ">=", "e", "->", "f"}));
  EXPECT_EQ(texts("x<::y>"), (Texts{"x", "<", "::", "y", ">"}));
}

TEST(CuLexer, follows_linemarkers) {
  const TokenStream stream = lex("a\n# 10 \"x.cu\"\nb\nc\n# 3 \"dir \\\"q\\\".h\" 1\nd\n");
  std::string places;
  for (const Token& token : stream.tokens) {
    if (!token.significant()) continue;
    places += std::string(token.text) + "@" + stream.files[token.file] + ":" + std::to_string(token.line) + " ";
  }
  EXPECT_EQ(places, "a@<input>:1 b@x.cu:10 c@x.cu:11 d@dir \"q\".h:3 ");
}

TEST(CuLexer, takes_system_headers_as_one_token) {
  const std::string_view source =
      "# 1 \"a.cu\"\nint a;\n# 1 \"/usr/include/v\" 1 3\nwhile x<<\n# 9 \"/usr/include/w\" 2 3 4\ny\n"
      "# 2 \"a.cu\" 2\nint b;\n# 1 \"<built-in>\"\n__global__\n";
  const TokenStream stream = lex(source);
  EXPECT_EQ(texts(source), (Texts{"int", "a", ";", "int", "b", ";"}));
  std::string system;
  for (const Token& token : stream.tokens) {
    if (token.kind == TokenKind::kSystem) system += "[" + std::string(token.text) + "]";
  }
  EXPECT_EQ(system, "[while x<<\n# 9 \"/usr/include/w\" 2 3 4\ny\n][__global__\n]");
}

// Build systems hand the folders of installed packages over with -isystem.
TEST(CuLexer, system_headers_that_are_written_in_cuda_are_the_users) {
  for (const char* word :
       {"__global__", "__device__", "__host__", "__shared__", "__constant__", "__managed__", "<<<"}) {
    const std::string source =
        std::string("# 1 \"a.cu\"\nint a;\n# 1 \"/opt/p.cuh\" 1 3\np\n# 1 \"/usr/include/v\" 1 3\nv\n") +
        "# 2 \"/opt/p.cuh\" 2 3\n" + word + " q\n# 2 \"a.cu\" 2\nint b;\n";
    std::string found;
    for (const Token& token : lex(source).tokens) {
      if (token.kind == TokenKind::kSystem || token.kind == TokenKind::kIdentifier)
        found += "[" + std::string(token.text) + "]";
    }
    const std::string last = word[0] == '<' ? "" : "[" + std::string(word) + "]";
    EXPECT_EQ(found, "[int][a][p][v\n]" + last + "[q][int][b]") << word;
  }
}

TEST(CuLexer, is_total) {
  for (const char* source : {"\"open", "'open", "R\"(open", "R\"x", "/* open", "\\", "# 1 \"open", "# ", "#",
                             "\x80\xff", "1'", "u8", "\"a\\", "\"a\\\nb\""}) {
    std::string joined;
    const TokenStream stream = lex(source);
    for (const Token& token : stream.tokens) joined += token.text;
    EXPECT_EQ(joined, source);
  }
}

}  // namespace
}  // namespace anygin::rewriter
