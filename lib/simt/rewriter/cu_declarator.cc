// SPDX-License-Identifier: Apache-2.0
// A declaration is specifiers, then declarators; the specifiers end where the type is complete.
#include "anygin/simt/rewriter/cu_declarator.h"

#include <algorithm>
#include <array>

namespace anygin::rewriter {
namespace {

template <size_t N>
bool one_of(std::string_view text, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

bool is_qualifier(std::string_view text) {
  static constexpr std::array<std::string_view, 28> kWords = {
      "const",      "volatile",   "__restrict__", "__restrict",     "restrict",  "constexpr",
      "inline",     "register",   "mutable",      "static",         "extern",    "thread_local",
      "typename",   "class",      "struct",       "union",          "enum",      "__grid_constant__",
      "__shared__", "__device__", "__constant__", "__volatile__",   "__const__", "__managed__",
      "__host__",   "constinit",  "__inline__",   "__forceinline__"};
  return one_of(text, kWords);
}

bool is_builtin_type(std::string_view text) {
  static constexpr std::array<std::string_view, 18> kWords = {
      "void",   "bool",    "char",    "short",    "int",      "long", "signed",   "unsigned", "float",
      "double", "wchar_t", "char8_t", "char16_t", "char32_t", "auto", "__int128", "_Float16", "__float128"};
  return one_of(text, kWords);
}

// Words that are followed by a parenthesis and say nothing of the name.
bool is_attribute(std::string_view text) {
  static constexpr std::array<std::string_view, 5> kWords = {"__attribute__", "__attribute", "alignas", "__align__",
                                                             "__declspec"};
  return one_of(text, kWords);
}

class DeclarationReader {
 public:
  DeclarationReader(const Code& code, int from, int to) : code_(code), at_(from), to_(to) {}

  // Past the decl-specifiers. A template's type parameter (`typename T`, `class`) counts `typename` as its type.
  void specifiers(bool type_parameter) {
    bool typed = type_parameter;
    while (at_ < to_) {
      const std::string_view text = code_.at(at_).text;
      if (skip_attribute()) continue;
      if (is_builtin_type(text)) {
        typed = true;
        ++at_;
      } else if (is_class_head(text) && !type_parameter) {
        class_specifier();
        typed = true;
      } else if (is_qualifier(text)) {
        ++at_;
      } else if (text == "decltype" || text == "typeof" || text == "__typeof__") {
        ++at_;
        bracket();
        typed = true;
        if (code_.is(at_, "::")) qualified_name();
      } else if (!typed && (code_.is_identifier(at_) || text == "::")) {
        qualified_name();
        typed = true;
        if (code_.is_identifier(at_) && constrained_auto()) typed = false;
      } else {
        return;
      }
    }
  }

  Declarator declarator() {
    Declarator found;
    while (at_ < to_) {
      const std::string_view text = code_.at(at_).text;
      if (text == "...") found.pack = true;
      if (skip_attribute()) continue;
      if (text == "(" && found.name == kNowhere && code_.partner(at_) > at_ && code_.partner(at_) < to_) {
        const int close = code_.partner(at_);
        DeclarationReader inner(code_, at_ + 1, close);
        const Declarator nested = inner.declarator();
        found.pack |= nested.pack;
        if (nested.name != kNowhere || code_.is(at_ + 1, "*") || code_.is(at_ + 1, "&")) {
          found.name = nested.name;
          found.place = nested.place;
        } else {
          found.place = at_;
        }
        return found;
      }
      if (text == "[" || text == "=" || text == ":" || text == "{" || text == "(" || text == ")") break;
      if (code_.is_identifier(at_) && !is_qualifier(text)) {
        if (code_.is(at_ + 1, "::")) {  // a pointer to member, or a member's definition
          qualified_name();
          if (code_.is(at_ - 1, "::")) continue;
          found.name = at_ - 1;
          break;
        }
        found.name = at_++;
        break;
      }
      ++at_;
    }
    found.place = at_;
    found.array = code_.is(at_, "[") && at_ < to_;
    return found;
  }

 private:
  static bool is_class_head(std::string_view text) {
    return text == "struct" || text == "class" || text == "union" || text == "enum";
  }

  bool constrained_auto() const { return code_.is(at_, "auto"); }

  bool skip_attribute() {
    if (is_attribute(code_.at(at_).text)) {
      ++at_;
      bracket();
      return true;
    }
    if (code_.is(at_, "[") && code_.is(at_ + 1, "[")) {
      bracket();
      return true;
    }
    return false;
  }

  void bracket() {
    if (at_ < to_ && code_.partner(at_) > at_) at_ = std::min(code_.partner(at_) + 1, to_);
  }

  // struct [attributes] [name] [{ ... }]
  void class_specifier() {
    ++at_;
    while (at_ < to_ && (skip_attribute() || is_class_head(code_.at(at_).text))) {
      if (is_class_head(code_.at(at_).text)) ++at_;
    }
    if (code_.is_identifier(at_) || code_.is(at_, "::")) qualified_name();
    if (code_.is(at_, ":")) {
      while (at_ < to_ && !code_.is(at_, "{")) ++at_;
    }
    if (code_.is(at_, "{")) bracket();
  }

  // [::] name [<...>] { :: [template] name [<...>] } [::*]
  void qualified_name() {
    while (at_ < to_) {
      if (code_.is(at_, "::")) ++at_;
      if (code_.is(at_, "template")) ++at_;
      if (!code_.is_identifier(at_)) return;
      ++at_;
      if (code_.is(at_, "<")) {
        const int close = code_.match_angle(at_, to_);
        if (close != kNowhere) at_ = close + 1;
      }
      if (!code_.is(at_, "::")) return;
    }
  }

  const Code& code_;
  int at_;
  int to_;
};

// Where the default argument begins, or `to`.
int before_default(const Code& code, int from, int to) {
  for (int i = from; i < to; ++i) {
    if (code.is(i, "=")) return i;
    if (code.is(i, "<") && code.is_identifier(i - 1)) {
      const int close = code.match_angle(i, to);
      if (close != kNowhere) i = close;
    } else if (code.partner(i) > i) {
      i = code.partner(i);
    }
  }
  return to;
}

// `typename T`, `class... Ts`, `template <typename> class C`: not `typename T::type value`.
bool is_type_parameter(const Code& code, int from, int to) {
  if (code.is(from, "template")) return true;
  if (!code.is(from, "typename") && !code.is(from, "class")) return false;
  const int next = code.is(from + 1, "...") ? from + 2 : from + 1;
  return next >= to || (code.is_identifier(next) && next + 1 == to);
}

}  // namespace

Declarator find_parameter(const Code& code, int from, int to) {
  const int end = before_default(code, from, to);
  if (code.is(from, "template") && code.is(from + 1, "<")) {
    const int close = code.match_angle(from + 1, end);
    if (close != kNowhere) from = close + 1;
  }
  DeclarationReader reader(code, from, end);
  reader.specifiers(is_type_parameter(code, from, end));
  return reader.declarator();
}

std::vector<Declarator> find_declared(const Code& code, int from, int to) {
  std::vector<Declarator> found;
  bool first = true;
  for (const auto& [begin, end] : split_at_commas(code, from, to)) {
    DeclarationReader reader(code, begin, end);
    if (first) reader.specifiers(false);
    first = false;
    found.push_back(reader.declarator());
  }
  return found;
}

std::vector<std::pair<int, int>> split_at_commas(const Code& code, int from, int to) {
  std::vector<std::pair<int, int>> parts;
  if (from >= to) return parts;
  int begin = from;
  for (int i = from; i < to; ++i) {
    if (code.is(i, ",")) {
      parts.emplace_back(begin, i);
      begin = i + 1;
    } else if (code.is(i, "<") && code.is_identifier(i - 1)) {
      const int close = code.match_angle(i, to);
      if (close != kNowhere) i = close;
    } else if (code.partner(i) > i) {
      i = std::min(code.partner(i), to);
    }
  }
  parts.emplace_back(begin, to);
  return parts;
}

}  // namespace anygin::rewriter
