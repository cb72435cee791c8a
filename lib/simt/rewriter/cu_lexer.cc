// SPDX-License-Identifier: Apache-2.0
// One pass over the text. System headers are not split: their text is one token up to the next linemarker that leads
// back to the user's files, which keeps the work proportional to the user's code.
#include "anygin/simt/rewriter/cu_lexer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace anygin::rewriter {
namespace {

bool is_identifier_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) >= 128;
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_identifier_part(char c) {
  return is_identifier_start(c) || is_digit(c);
}
bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

struct Marker {
  int line = 0;
  std::string file;
  bool system = false;
};

// Reads `# 12 "file" 1 3`; false if `text`, one line, is something else.
bool parse_marker(std::string_view text, Marker* marker) {
  if (text.size() < 4 || text[0] != '#' || text[1] != ' ' || !is_digit(text[2])) return false;
  size_t at = 2;
  while (at < text.size() && is_digit(text[at])) ++at;
  if (std::from_chars(text.data() + 2, text.data() + at, marker->line).ec != std::errc()) return false;
  if (text.substr(at, 2) != " \"") return false;
  for (at += 2; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] == '\\' && at + 1 < text.size()) ++at;
    marker->file += text[at];
  }
  if (at == text.size()) return false;
  marker->system = text.find(" 3", at) != std::string_view::npos || marker->file.empty() || marker->file[0] == '<';
  return true;
}

constexpr std::array<std::string_view, 24> kPunctuators = {"->*", "...", "<<=", ">>=", "<=>", "::", "->", ".*",
                                                           "##",  "<=",  ">=",  "==",  "!=",  "&&", "||", "++",
                                                           "--",  "+=",  "-=",  "*=",  "/=",  "%=", "&=", "|="};

constexpr std::array<std::string_view, 7> kCudaWords = {"__global__",   "__device__",  "__host__", "__shared__",
                                                        "__constant__", "__managed__", "<<<"};

// Headers that are found like the system's (-isystem, as build systems do for installed packages) but are written in
// CUDA: they are treated as the user's text.
std::set<std::string, std::less<>> cuda_headers(std::string_view source) {
  std::vector<std::pair<size_t, Marker>> markers;
  for (size_t at = 0; at < source.size();) {
    Marker marker;
    if (source[at] == '#' && parse_marker(source.substr(at, source.find('\n', at) - at), &marker))
      markers.emplace_back(at, std::move(marker));
    const size_t next = source.find("\n#", at);
    if (next == std::string_view::npos) break;
    at = next + 1;
  }
  std::set<std::string, std::less<>> files;
  for (const std::string_view word : kCudaWords) {
    for (size_t at = source.find(word); at != std::string_view::npos; at = source.find(word, at + 1)) {
      const auto after = std::upper_bound(markers.begin(), markers.end(), at,
                                          [](size_t place, const auto& marker) { return place < marker.first; });
      if (after == markers.begin()) continue;
      const Marker& marker = std::prev(after)->second;
      if (marker.system && !marker.file.empty() && marker.file[0] != '<') files.insert(marker.file);
    }
  }
  return files;
}

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(source), cuda_headers_(cuda_headers(source)) {
    enter({1, "<input>", false});
  }

  TokenStream run() {
    while (at_ < source_.size()) {
      if (at_line_start_ && system_) {
        system_text();
      } else if (at_line_start_ && source_[at_] == '#') {
        hash_line();
      } else {
        token();
      }
    }
    return std::move(stream_);
  }

 private:
  void enter(const Marker& marker) {
    const auto [place, fresh] = file_numbers_.try_emplace(marker.file, static_cast<int>(stream_.files.size()));
    if (fresh) stream_.files.push_back(marker.file);
    file_ = place->second;
    line_ = marker.line;
    system_ = is_system(marker);
  }

  bool is_system(const Marker& marker) const { return marker.system && cuda_headers_.count(marker.file) == 0; }

  void add(TokenKind kind, size_t length) {
    Token& token = stream_.tokens.emplace_back();
    token.kind = kind;
    token.file = file_;
    token.line = line_;
    token.text = source_.substr(at_, length);
    for (char c : token.text) line_ += c == '\n';
    at_ += length;
    at_line_start_ = kind == TokenKind::kNewline || kind == TokenKind::kSystem;
  }

  std::string_view current_line() const { return source_.substr(at_, source_.find('\n', at_) - at_); }

  void hash_line() {
    const std::string_view text = current_line();
    Marker marker;
    if (!parse_marker(text, &marker)) return add(TokenKind::kDirective, text.size());
    add(TokenKind::kLinemarker, text.size());
    enter(marker);
    if (at_ < source_.size()) {
      add(TokenKind::kNewline, 1);
      line_ = marker.line;
    }
  }

  void system_text() {
    const size_t start = at_;
    size_t end = at_;
    Marker marker;
    while (end < source_.size()) {
      at_ = end;
      const std::string_view text = current_line();
      if (Marker next; parse_marker(text, &next)) {
        if (!is_system(next)) break;
        marker = next;
      }
      end += text.size() + 1;
    }
    at_ = start;
    const size_t length = std::min(end, source_.size()) - start;
    if (length > 0) add(TokenKind::kSystem, length);
    at_line_start_ = true;
    system_ = false;  // what follows, if anything, is the marker that leads back
  }

  void token() {
    const char c = source_[at_];
    if (c == '\n') return add(TokenKind::kNewline, 1);
    if (is_blank(c)) return add(TokenKind::kWhitespace, run_length(is_blank));
    if (c == '/' && peek(1) == '/') return add(TokenKind::kComment, current_line().size());
    if (c == '/' && peek(1) == '*') return block_comment();
    if (c == '"' || c == '\'') return literal(0);
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return number();
    if (is_identifier_start(c)) return word();
    punctuator();
  }

  char peek(size_t offset) const { return at_ + offset < source_.size() ? source_[at_ + offset] : '\0'; }

  template <typename Test>
  size_t run_length(Test test, size_t from = 0) const {
    size_t length = from;
    while (at_ + length < source_.size() && test(source_[at_ + length])) ++length;
    return length;
  }

  void block_comment() {
    const size_t end = source_.find("*/", at_ + 2);
    add(TokenKind::kComment, (end == std::string_view::npos ? source_.size() : end + 2) - at_);
  }

  void word() {
    const size_t length = run_length(is_identifier_part);
    const std::string_view text = source_.substr(at_, length);
    const char next = peek(length);
    const bool raw = text == "R" || text == "u8R" || text == "uR" || text == "UR" || text == "LR";
    if (raw && next == '"') return raw_string(length);
    const bool prefix = text == "u8" || text == "u" || text == "U" || text == "L";
    if (prefix && (next == '"' || next == '\'')) return literal(length);
    add(TokenKind::kIdentifier, length);
  }

  // A string or character whose quote stands at `quote` from here.
  void literal(size_t quote) {
    const char mark = peek(quote);
    size_t length = quote + 1;
    while (at_ + length < source_.size() && peek(length) != mark && peek(length) != '\n') {
      length += peek(length) == '\\' && at_ + length + 1 < source_.size() && peek(length + 1) != '\n' ? 2 : 1;
    }
    if (at_ + length >= source_.size() || peek(length) != mark) return add(TokenKind::kUnknown, length);
    add(mark == '"' ? TokenKind::kString : TokenKind::kCharacter, run_length(is_identifier_part, length + 1));
  }

  void raw_string(size_t quote) {
    const size_t open = source_.find('(', at_ + quote);
    if (open == std::string_view::npos || open - at_ - quote - 1 > 16) return literal(quote);
    std::string close = ")";
    close += source_.substr(at_ + quote + 1, open - at_ - quote - 1);
    close += '"';
    const size_t end = source_.find(close, open);
    if (end == std::string_view::npos) return add(TokenKind::kUnknown, source_.size() - at_);
    add(TokenKind::kString, run_length(is_identifier_part, end + close.size() - at_));
  }

  void number() {
    size_t length = 1;
    for (;; ++length) {
      const char c = peek(length);
      const char last = peek(length - 1);
      const bool sign = (c == '+' || c == '-') && (last == 'e' || last == 'E' || last == 'p' || last == 'P');
      const bool separator = c == '\'' && is_identifier_part(peek(length + 1));
      if (!(is_identifier_part(c) || c == '.' || sign || separator)) break;
    }
    add(TokenKind::kNumber, length);
  }

  void punctuator() {
    const std::string_view rest = source_.substr(at_, 3);
    if (rest == "<<<" || rest.substr(0, 3) == "<::") return add(TokenKind::kPunctuator, 1);
    for (const std::string_view text : kPunctuators) {
      if (rest.substr(0, text.size()) == text) return add(TokenKind::kPunctuator, text.size());
    }
    static constexpr std::string_view kSingles = "{}[]()<>;:?.~!+-*/%^&|=,#@\\";
    add(kSingles.find(rest[0]) == std::string_view::npos ? TokenKind::kUnknown : TokenKind::kPunctuator, 1);
  }

  std::string_view source_;
  TokenStream stream_;
  std::map<std::string, int> file_numbers_;
  size_t at_ = 0;
  int file_ = 0;
  int line_ = 1;
  const std::set<std::string, std::less<>> cuda_headers_;
  bool system_ = false;
  bool at_line_start_ = true;
};

}  // namespace

TokenStream lex(std::string_view source) {
  return Lexer(source).run();
}

}  // namespace anygin::rewriter
