// SPDX-License-Identifier: Apache-2.0
// The tokens of one preprocessed translation unit, as the rewriter sees them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace anygin::rewriter {

enum class TokenKind : uint8_t {
  kIdentifier,  // keywords too
  kNumber,
  kString,  // with prefix and suffix; raw strings may span lines
  kCharacter,
  kPunctuator,  // `<` and `>` always alone, so that template lists and `<<<` need no splitting
  kUnknown,     // a byte that starts no token, or an unterminated literal
  // From here on: no part of the program's text.
  kWhitespace,  // without line ends
  kNewline,
  kComment,
  kLinemarker,  // `# 12 "file.cu" 2`, without its line end
  kDirective,   // any other line that starts with `#`: pragmas
  kSystem,      // all text between two linemarkers that belongs to a system header or the compiler
};

struct Token {
  TokenKind kind = TokenKind::kUnknown;
  bool dropped = false;       // the text is not emitted
  int file = 0;               // index into TokenStream::files
  int line = 0;               // in that file, as linemarkers say
  std::string_view text;      // into the source
  std::string_view replaced;  // static text that is emitted instead, if not empty
  std::string before;         // emitted before and after the text; hold no line ends
  std::string after;

  bool is(std::string_view other) const { return text == other; }
  bool significant() const { return kind < TokenKind::kWhitespace; }
};

// What is wrong, where, and what would be right.
struct Diagnostic {
  std::string file;
  int line = 0;
  std::string text;
};

struct TokenStream {
  std::vector<Token> tokens;
  std::vector<std::string> files;
};

}  // namespace anygin::rewriter
