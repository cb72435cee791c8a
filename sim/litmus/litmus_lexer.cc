// SPDX-License-Identifier: Apache-2.0
#include "anygin/sim/litmus/litmus_lexer.h"

#include <fmt/format.h>

#include <charconv>

namespace anygin::litmus {
namespace {

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// The number at the front of `text`: decimal, or hexadecimal after 0x. False: it is none of 64 bits.
bool read_number(std::string_view text, uint64_t* value) {
  const bool hex = text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  const char* first = text.data() + (hex ? 2 : 0);
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(first, last, *value, hex ? 16 : 10);
  return error == std::errc() && end == last;
}

size_t sign_length(std::string_view rest) {
  for (const std::string_view two : {"<-", "->", ">="}) {
    if (rest.substr(0, 2) == two) return 2;
  }
  return std::string_view(":[]=,|").find(rest[0]) != std::string_view::npos ? 1 : 0;
}

}  // namespace

bool split_line(std::string_view line, std::vector<Token>* tokens, std::string* error) {
  size_t at = 0;
  while (at < line.size() && line[at] != '#') {
    const char c = line[at];
    if (c == ' ' || c == '\t' || c == '\r') {
      ++at;
      continue;
    }
    Token token;
    size_t length = 0;
    if (is_letter(c) || is_digit(c)) {
      while (at + length < line.size() && (is_letter(line[at + length]) || is_digit(line[at + length]))) ++length;
      token.kind = is_digit(c) ? Token::kNumber : Token::kName;
    } else {
      length = sign_length(line.substr(at));
      token.kind = Token::kSign;
    }
    if (length == 0) {
      *error = fmt::format(
          "column {}: byte {:#04x} begins no word here; words are names, numbers and : [ ] = , | <- "
          "-> >=; '#' begins a comment",
          at + 1, static_cast<unsigned>(static_cast<unsigned char>(c)));
      return false;
    }
    token.text = std::string(line.substr(at, length));
    if (token.kind == Token::kNumber && !read_number(token.text, &token.number)) {
      *error =
          fmt::format("'{}' is no number; numbers are 0 to 18446744073709551615, or hexadecimal after 0x", token.text);
      return false;
    }
    tokens->push_back(std::move(token));
    at += length;
  }
  tokens->emplace_back();
  return true;
}

}  // namespace anygin::litmus
