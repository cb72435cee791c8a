// SPDX-License-Identifier: Apache-2.0
#include "coverage/source_words.h"

#include <cctype>

namespace anygin::coverage {
namespace {

bool starts_identifier(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
}
bool in_identifier(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

class Reader {
 public:
  explicit Reader(const std::string& text) : text_(text) {}

  Source read() {
    while (at_ < text_.size()) step();
    return std::move(source_);
  }

 private:
  char look(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  void step() {
    const char c = look();
    if (c == '\n') {
      next_line();
    } else if (c == '#' && at_line_start_) {
      directive();
    } else if (std::isspace(static_cast<unsigned char>(c))) {
      ++at_;
    } else if (c == '/' && look(1) == '/') {
      line_comment();
    } else if (c == '/' && look(1) == '*') {
      block_comment();
    } else {
      at_line_start_ = false;
      word(source_.words);
    }
  }
  void next_line() {
    ++at_;
    ++line_;
    at_line_start_ = true;
  }
  void line_comment() {
    const size_t end = std::min(text_.find('\n', at_), text_.size());
    marker(text_.substr(at_ + 2, end - at_ - 2));
    at_ = end;
  }
  void marker(const std::string& comment) {
    static const std::string kWord = " covers: ";
    if (comment.compare(0, kWord.size(), kWord) != 0) return;
    Marker found{line_, {}};
    std::string name;
    for (const char c : comment.substr(kWord.size()) + ";") {
      if (c != ';') {
        name += c;
        continue;
      }
      const size_t first = name.find_first_not_of(' ');
      if (first != std::string::npos) found.names.push_back(name.substr(first, name.find_last_not_of(' ') + 1 - first));
      name.clear();
    }
    source_.markers.push_back(found);
  }
  void block_comment() {
    for (at_ += 2; at_ < text_.size() && !(look() == '*' && look(1) == '/'); ++at_) line_ += look() == '\n';
    at_ += 2;
  }
  // Includes and macros are kept, other directives left out. Ends in front of the line's end.
  void directive() {
    ++at_;
    std::vector<Word> words;
    std::string quoted;
    while (at_ < text_.size() && look() != '\n') {
      if (look() == '\\' && look(1) == '\n') {
        at_ += 2;
        ++line_;
      } else if (look() == '/' && look(1) == '/') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (look() == '/' && look(1) == '*') {
        block_comment();
      } else if (look() == '"' && words.size() == 1 && words[0].text == "include") {
        const size_t end = std::min(text_.find('"', at_ + 1), text_.size() - 1);
        quoted = text_.substr(at_ + 1, end - at_ - 1);
        at_ = end + 1;
      } else if (std::isspace(static_cast<unsigned char>(look()))) {
        ++at_;
      } else {
        word(words);
      }
    }
    if (!quoted.empty()) source_.includes.push_back(quoted);
    if (words.size() < 2) return;
    if (words[0].text == "define") {
      words.erase(words.begin());
      source_.definitions.push_back(words);
    } else if (words[0].text.rfind("if", 0) == 0 || words[0].text == "elif") {
      for (Word& word : words) {
        word.is_condition = true;
        source_.words.push_back(word);
      }
    }
  }
  void word(std::vector<Word>& words) {
    const char c = look();
    if (starts_identifier(c)) {
      size_t end = at_;
      while (end < text_.size() && in_identifier(text_[end])) ++end;
      const std::string text = text_.substr(at_, end - at_);
      at_ = end;
      if (look() == '"' && (text == "R" || text == "u8R")) return raw_literal();
      words.push_back({text, line_, true, is_behind_member_access(words)});
    } else if (std::isdigit(static_cast<unsigned char>(c))) {
      while (at_ < text_.size() && (in_identifier(look()) || look() == '\'' || look() == '.')) ++at_;
      words.push_back({"0", line_, false, false});
    } else if (c == '"' || c == '\'') {
      literal(c);
      words.push_back({"\"", line_, false, false});
    } else {
      words.push_back({std::string(1, c), line_, false, false});
      ++at_;
    }
  }
  void literal(char quote) {
    for (++at_; at_ < text_.size() && look() != quote && look() != '\n'; ++at_) at_ += look() == '\\';
    ++at_;
  }
  void raw_literal() {
    const size_t open = std::min(text_.find('(', at_), text_.size());
    const std::string close = ")" + text_.substr(at_ + 1, open - at_ - 1) + "\"";
    const size_t end = std::min(text_.find(close, open), text_.size());
    for (; at_ < std::min(end + close.size(), text_.size()); ++at_) line_ += look() == '\n';
  }
  static bool is_behind_member_access(const std::vector<Word>& words) {
    const size_t n = words.size();
    if (n == 0) return false;
    if (words[n - 1].text == ".") return true;
    return n > 1 && ((words[n - 1].text == ">" && words[n - 2].text == "-") ||
                     (words[n - 1].text == ":" && words[n - 2].text == ":"));
  }

  const std::string& text_;
  Source source_;
  size_t at_ = 0;
  int line_ = 1;
  bool at_line_start_ = true;
};

// Cuts a source into units: heads up to a brace or semicolon outside of parentheses, then the braces.
class Cutter {
 public:
  explicit Cutter(const std::vector<Word>& words) : words_(words) {}

  std::vector<Unit> cut() {
    while (at_ < words_.size()) {
      const std::vector<Word> head = take_head();
      if (at_ >= words_.size()) break;
      if (words_[at_].text != "{") {
        if (!head.empty() && (head[0].text == "INSTANTIATE_TEST_SUITE_P" || head[0].text == "using")) add(head, {});
        ++at_;
      } else if (opens_namespace(head)) {
        ++at_;
      } else {
        add(head, take_braces());
      }
    }
    return std::move(units_);
  }

 private:
  std::vector<Word> take_head() {
    std::vector<Word> head;
    int parentheses = 0;
    for (; at_ < words_.size(); ++at_) {
      const std::string& text = words_[at_].text;
      if (words_[at_].is_condition) continue;
      if (parentheses == 0 && (text == "{" || text == ";" || text == "}")) break;
      if (text == "(") ++parentheses;
      if (text == ")") --parentheses;
      head.push_back(words_[at_]);
    }
    return head;
  }
  std::vector<Word> take_braces() {
    std::vector<Word> body;
    int depth = 0;
    do {
      depth += words_[at_].text == "{";
      depth -= words_[at_].text == "}";
      body.push_back(words_[at_++]);
    } while (depth > 0 && at_ < words_.size());
    return body;
  }
  static bool opens_namespace(const std::vector<Word>& head) {
    if (head.empty()) return true;
    return head[0].text == "namespace" || (head.size() == 2 && head[0].text == "extern");
  }
  void add(const std::vector<Word>& head, const std::vector<Word>& body) {
    Unit unit;
    name(unit, without_template(head));
    unit.words = head;
    unit.words.insert(unit.words.end(), body.begin(), body.end());
    if (unit.words.empty()) return;
    unit.first_line = unit.words.front().line;
    unit.last_line = unit.words.back().line;
    units_.push_back(std::move(unit));
  }
  static std::vector<Word> without_template(const std::vector<Word>& head) {
    size_t at = 0;
    while (at + 1 < head.size() && head[at].text == "template") {
      int angles = 0;
      for (++at; at < head.size(); ++at) {
        angles += head[at].text == "<";
        angles -= head[at].text == ">";
        if (angles == 0) break;
      }
      ++at;
    }
    return {head.begin() + static_cast<std::ptrdiff_t>(std::min(at, head.size())), head.end()};
  }
  // The first identifier in front of a parenthesis, or of =, or behind struct and its like.
  static void name(Unit& unit, const std::vector<Word>& head) {
    static const std::set<std::string> kNoNames = {"__launch_bounds__", "__attribute__", "alignas", "decltype",
                                                   "noexcept"};
    if (!head.empty() && head[0].text == "using") return;
    for (size_t i = 0; i < head.size(); ++i) {
      const std::string& text = head[i].text;
      if ((text == "struct" || text == "class" || text == "enum") && i + 1 < head.size() && !has_parenthesis(head)) {
        unit.names.insert(head[i + 1].text);
        return;
      }
      if (text == "=") {  // const Row kRows[] = ...
        for (size_t at = i; at-- > 0;) {
          if (!head[at].is_identifier) continue;
          unit.names.insert(head[at].text);
          return;
        }
      }
      if (i == 0 || !head[i - 1].is_identifier || kNoNames.count(head[i - 1].text) != 0) continue;
      if (text != "(") continue;
      const std::string& called = head[i - 1].text;
      if (is_test(called)) return name_test(unit, head, i);
      if (called == "INSTANTIATE_TEST_SUITE_P" && i + 3 < head.size()) {
        unit.names.insert(head[i + 3].text);
        return;
      }
      unit.names.insert(called);
      if (i > 3 && head[i - 1].is_member) unit.names.insert(head[i - 4].text);  // X::method belongs to X
      return;
    }
    if (!head.empty()) unit.names.insert(head.back().text);  // const Row kRows{...}
  }
  static bool has_parenthesis(const std::vector<Word>& head) {
    for (const Word& word : head) {
      if (word.text == "(") return true;
    }
    return false;
  }
  static bool is_test(const std::string& text) {
    return text == "TEST" || text == "TEST_F" || text == "TEST_P" || text.rfind("CONFORMANCE_CASE", 0) == 0;
  }
  static void name_test(Unit& unit, const std::vector<Word>& head, size_t open) {
    const bool of_suite = head[open - 1].text.rfind("TEST", 0) == 0;
    const size_t name = open + (of_suite ? 3 : 1);
    if (name >= head.size()) return;
    unit.test = of_suite ? head[open + 1].text + "." + head[name].text : head[name].text;
  }

  const std::vector<Word>& words_;
  std::vector<Unit> units_;
  size_t at_ = 0;
};

}  // namespace

Source read_source(const std::string& text) {
  return Reader(text).read();
}

std::vector<Unit> units_of(const Source& source) {
  std::vector<Unit> units = Cutter(source.words).cut();
  for (const std::vector<Word>& definition : source.definitions) {
    units.push_back({{definition[0].text}, "", definition, definition.front().line, definition.back().line});
  }
  return units;
}

}  // namespace anygin::coverage
