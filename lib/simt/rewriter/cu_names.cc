// SPDX-License-Identifier: Apache-2.0
// No types are known here: `a * x;` at the start of a statement is a declaration, as the language itself decides.
#include "anygin/simt/rewriter/cu_names.h"

#include <algorithm>
#include <array>

#include "anygin/simt/rewriter/cu_declarator.h"

namespace anygin::rewriter {
namespace {

template <size_t N>
bool one_of(std::string_view text, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

// A name behind one of these is a use.
bool precedes_expression(std::string_view text) {
  static constexpr std::array<std::string_view, 16> kWords = {
      "return",    "case", "else", "do",  "throw", "new",      "delete",   "sizeof",
      "co_return", "and",  "or",   "not", "xor",   "co_yield", "co_await", "operator"};
  return one_of(text, kWords);
}

bool is_builtin(std::string_view text) {
  static constexpr std::array<std::string_view, 14> kWords = {"void", "bool",     "char",     "short",  "int",
                                                              "long", "signed",   "unsigned", "float",  "double",
                                                              "auto", "char16_t", "char32_t", "wchar_t"};
  return one_of(text, kWords);
}

bool is_specifier(std::string_view text) {
  static constexpr std::array<std::string_view, 11> kWords = {"const",    "volatile", "static", "constexpr",
                                                              "typename", "struct",   "class",  "enum",
                                                              "union",    "register", "mutable"};
  return one_of(text, kWords);
}

bool is_pointer_part(std::string_view text) {
  return text == "*" || text == "&" || text == "&&" || text == "const" || text == "volatile" ||
         text == "__restrict__" || text == "__restrict" || text == "restrict";
}

bool is_declarator_end(std::string_view text) {
  return text == "=" || text == ";" || text == "," || text == "[" || text == "{" || text == "(" || text == ")" ||
         text == ":";
}

bool heads_statement(std::string_view text) {
  return text == "for" || text == "if" || text == "while" || text == "switch" || text == "catch";
}

}  // namespace

NameReader::NameReader(const Code& code, const ScopeTable& scopes)
    : code_(code), scopes_(scopes), enclosing_(code.size() + 1, kNowhere) {
  std::vector<int> open;
  for (int i = 0; i < code.size(); ++i) {
    const int partner = code.partner(i);
    if (partner != kNowhere && partner < i && !open.empty()) open.pop_back();
    enclosing_[i] = open.empty() ? kNowhere : open.back();
    if (partner > i) open.push_back(i);
  }
}

int NameReader::statement_begin(int position) const {
  while (position > 0) {
    const int previous = position - 1;
    const std::string_view text = code_.at(previous).text;
    if (text == ";" || text == "{" || text == "}") break;
    if (text == ":" && (code_.is(previous - 1, "public") || code_.is(previous - 1, "private") ||
                        code_.is(previous - 1, "protected"))) {
      break;
    }
    const int partner = code_.partner(previous);
    position = partner != kNowhere && partner < previous ? partner : previous;
  }
  return position;
}

bool NameReader::in_parentheses(int position, int begin) const {
  return enclosing_[position] != kNowhere && enclosing_[position] >= begin;
}

bool NameReader::points(int open) const {
  if (!code_.is(open, "(")) return false;
  if (code_.is(open + 1, "*") || code_.is(open + 1, "&")) return true;
  int i = open + 1;
  while (code_.is_identifier(i) && code_.is(i + 1, "::")) i += 2;
  return i > open + 1 && code_.is(i, "*");
}

bool NameReader::is_class_body(int open) const {
  const int scope = scopes_.innermost(open + 1);
  return scope != kNowhere && scopes_.scopes()[scope].open == open && scopes_.scopes()[scope].kind == ScopeKind::kClass;
}

// --- Qualified names ---

int NameReader::qualified_begin(int name) const {
  int begin = name;
  while (code_.is(begin - 1, "::")) {
    int before = begin - 2;
    if (code_.is(before, ">")) before = code_.match_angle_back(before) - 1;
    if (before < 0 || !code_.is_identifier(before) || precedes_expression(code_.at(before).text)) return begin - 1;
    begin = before;
  }
  return begin;
}

std::string NameReader::qualifier_before(int name) const {
  std::string text;
  for (int i = qualified_begin(name); i < name; ++i) text += code_.at(i).text;
  return text;
}

std::string NameReader::class_path(int scope) const {
  std::string path;
  for (int i = scope; i != kNowhere; i = scopes_.scopes()[i].outer) {
    const Scope& one = scopes_.scopes()[i];
    if (one.kind != ScopeKind::kClass) {
      std::string spaces;
      scopes_.namespace_path(one.open + 1, &spaces);
      return spaces + path;
    }
    for (int k = one.head; k < one.open; ++k) {
      if (!code_.is(k, "struct") && !code_.is(k, "class") && !code_.is(k, "union")) continue;
      while (code_.is(k + 1, "__attribute__") || code_.is(k + 1, "alignas") || code_.is(k + 1, "__align__")) {
        k = std::max(code_.partner(k + 2), k + 2);
      }
      path = "::" + std::string(code_.at(k + 1).text) + path;
      break;
    }
  }
  return path;
}

std::string NameReader::where_quoted(int position) const {
  std::string text;
  for (char c : code_.where(position)) {
    if (c == '\\' || c == '"') text += '\\';
    text += c;
  }
  return text;
}

// --- Local declarations ---

// The control head or lambda's parameters around the name; kNowhere at the level of statements.
int NameReader::group_end(int group) const {
  const int close = code_.partner(group);
  int word = group - 1;
  if (code_.is(word, "constexpr")) --word;
  if (heads_statement(code_.at(word).text)) return code_.skip_statement(word, code_.size());
  for (int i = close + 1; i < code_.size() && i < close + 40; ++i) {
    if (code_.is(i, "{")) return code_.partner(i);
    if (code_.is(i, ";") || code_.is(i, ")") || code_.is(i, ",")) break;
  }
  return 0;
}

bool NameReader::is_lambda_list(int open) const {
  int previous = open - 1;
  while (code_.is(previous, "__device__") || code_.is(previous, "__host__")) --previous;
  return code_.is(previous, "]");
}

// A type may begin at `first`.
bool NameReader::is_type_begin(int first, int group) const {
  const std::string_view before = code_.at(first - 1).text;
  if (first - 1 == group || first == 0) return true;
  if (before == ";" || before == "{" || before == "}" || is_specifier(before)) return true;
  return before == "," && group != kNowhere && is_lambda_list(group);
}

// A type ends at `last`, `name` follows after `*` and `&`.
bool NameReader::ends_type(int last, int name, int group) const {
  if (is_builtin(code_.at(last).text)) return true;
  int first = last;
  if (code_.is(last, ">")) {
    first = code_.match_angle_back(last) - 1;
    if (first < 0) return false;
  }
  if (!code_.is_identifier(first) || precedes_expression(code_.at(first).text)) return false;
  if (!is_type_begin(qualified_begin(first), group)) return false;
  const bool head = group != kNowhere && !is_lambda_list(group);
  if (!head) return true;
  if (code_.is(group - 1, "catch")) return true;
  return code_.is(name + 1, "=") || code_.is(name + 1, "{") || (code_.is(name + 1, ":") && code_.is(group - 1, "for"));
}

// `int a, name`
bool NameReader::declares_more(int name, int group) const {
  int begin = name;
  while (begin > 0 && begin - 1 != group) {
    const std::string_view text = code_.at(begin - 1).text;
    if (text == ";" || text == "{" || text == "}") break;
    const int partner = code_.partner(begin - 1);
    begin = partner != kNowhere && partner < begin - 1 ? partner : begin - 1;
  }
  const std::string_view first = code_.at(begin).text;
  if (!is_builtin(first) && !is_specifier(first) && !code_.is_identifier(begin + 1)) return false;
  int end = name;
  while (end < code_.size() && !code_.is(end, ";") && !code_.is(end, "}") && !code_.is(end, ")")) {
    end = code_.partner(end) > end ? code_.partner(end) + 1 : end + 1;
  }
  const std::vector<Declarator> declared = find_declared(code_, begin, end);
  return std::any_of(declared.begin(), declared.end(), [&](const Declarator& one) { return one.name == name; });
}

bool NameReader::looks_declared(int name, int group) const {
  if (!is_declarator_end(code_.at(name + 1).text)) return false;
  const std::string_view before = code_.at(name - 1).text;
  if (before == "operator" || before == "::") return false;
  if (code_.is_identifier(name - 1)) return !precedes_expression(before);
  if (before == ">") return ends_type(name - 1, name, group);
  if (before == ",") return declares_more(name, group);
  if (!is_pointer_part(before)) return false;
  int last = name - 1;
  while (is_pointer_part(code_.at(last).text)) --last;
  return ends_type(last, name, group);
}

int NameReader::declared_until(int name) const {
  int place = name;
  int group = enclosing_[name];
  bool declared = false;
  if (group != kNowhere && code_.is(group, "[")) {  // auto& [a, name] = ...
    int before = group - 1;
    while (code_.is(before, "&") || code_.is(before, "&&")) --before;
    if (!code_.is(before, "auto")) return 0;
    declared = true;
    place = group;
    group = enclosing_[group];
  }
  if (group != kNowhere && !code_.is(group, "(")) {
    const int scope = scopes_.innermost(place);  // values between braces declare nothing
    if (scope != kNowhere && scopes_.scopes()[scope].kind == ScopeKind::kInitializer) return 0;
    group = kNowhere;
  }
  if (!declared && !looks_declared(name, group)) return 0;
  if (group != kNowhere) {
    int word = group - 1;
    if (code_.is(word, "constexpr")) --word;
    if (!heads_statement(code_.at(word).text) && !is_lambda_list(group)) return 0;
    return group_end(group);
  }
  const int scope = scopes_.innermost(place);
  return scope == kNowhere ? code_.size() : scopes_.scopes()[scope].close;
}

bool NameReader::may_be_expression(int name) const {
  if (scopes_.function(name) == kNowhere) {
    // A lambda at namespace scope, or nothing that is run.
    if (enclosing_[name] == kNowhere) return false;
  }
  static constexpr std::array<std::string_view, 10> kNot = {".",      "->",   "using", "namespace", "goto",
                                                            "struct", "enum", "class", "union",     "typename"};
  const int first = qualified_begin(name);
  if (one_of(code_.at(first - 1).text, kNot) || one_of(code_.at(name - 1).text, kNot)) return false;
  if (code_.is(name + 1, "::")) return false;
  if (code_.is(first - 1, "~") && one_of(code_.at(first - 2).text, kNot)) return false;  // p->~T()
  return !(code_.is(first - 1, "<") && code_.is(name + 1, ">"));
}

// --- Around functions ---

bool NameReader::is_parameter(int name) const {
  const int function = scopes_.function(name);
  if (function == kNowhere) return false;
  const Scope& scope = scopes_.scopes()[function];
  for (int i = scope.head; i < scope.open; ++i) {
    if (code_.is(i, code_.at(name).text) && !code_.is(i + 1, "(") && !code_.is(i - 1, "=")) return true;
  }
  return false;
}

// Scope of the class that the function around `position` is a member of, as far as it is in this text.
int NameReader::class_around(int position) const {
  const int function = scopes_.function(position);
  if (function == kNowhere) return kNowhere;
  const Scope& scope = scopes_.scopes()[function];
  if (scope.outer != kNowhere && scopes_.scopes()[scope.outer].kind == ScopeKind::kClass) return scope.outer;
  for (int i = scope.head; i < scope.open; ++i) {
    if (!code_.is(i, "(") || !code_.is(i - 2, "::") || !code_.is_identifier(i - 3)) continue;
    for (size_t k = 0; k < scopes_.scopes().size(); ++k) {
      const Scope& one = scopes_.scopes()[k];
      if (one.kind != ScopeKind::kClass) continue;
      for (int n = one.head; n < one.open; ++n) {
        if (code_.is(n, code_.at(i - 3).text) && is_specifier(code_.at(n - 1).text)) return static_cast<int>(k);
      }
    }
    break;
  }
  return kNowhere;
}

bool NameReader::class_declares(int scope, std::string_view name) const {
  const Scope& one = scopes_.scopes()[scope];
  for (int i = one.open + 1; i < one.close; ++i) {
    if (scopes_.innermost(i) == scope && code_.is(i, name) && code_.is(i + 1, "(")) return true;
  }
  return false;
}

bool NameReader::is_member_function(int name) const {
  if (!code_.is(name + 1, "(")) return false;
  const int around = class_around(name);
  return around != kNowhere && class_declares(around, code_.at(name).text);
}

}  // namespace anygin::rewriter
