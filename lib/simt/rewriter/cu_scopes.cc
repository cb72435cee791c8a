// SPDX-License-Identifier: Apache-2.0
// Scopes by their heads. Inside functions every brace is a block; only outside does the kind matter.
#include "anygin/simt/rewriter/cu_scopes.h"

namespace anygin::rewriter {
namespace {

bool is_attribute_word(std::string_view text) {
  return text == "__attribute__" || text == "__attribute" || text == "alignas" || text == "__align__" ||
         text == "__launch_bounds__" || text == "__cluster_dims__" || text == "__maxnreg__" || text == "__declspec" ||
         text == "decltype" || text == "noexcept" || text == "explicit" || text == "requires";
}

bool is_class_word(std::string_view text) {
  return text == "class" || text == "struct" || text == "union" || text == "enum";
}

}  // namespace

ScopeTable::ScopeTable(const Code& code) : code_(code), innermost_(code.size() + 1, kNowhere) {
  int current = kNowhere;
  int statement = 0;
  for (int i = 0; i < code.size(); ++i) {
    innermost_[i] = current;
    if (code.is(i, "{")) {
      scopes_.push_back(classify(i, statement, current));
      current = static_cast<int>(scopes_.size()) - 1;
      if (scopes_[current].kind != ScopeKind::kInitializer) statement = i + 1;
    } else if (code.is(i, "}") && current != kNowhere && code.partner(i) != kNowhere) {
      while (current != kNowhere && scopes_[current].open != code.partner(i)) current = scopes_[current].outer;
      if (current == kNowhere) continue;
      if (scopes_[current].kind != ScopeKind::kInitializer) statement = i + 1;
      current = scopes_[current].outer;
      innermost_[i] = current;
    } else if (code.is(i, ";")) {
      statement = i + 1;
    }
  }
}

Scope ScopeTable::classify(int open, int statement, int outer) const {
  Scope scope;
  scope.open = open;
  scope.close = code_.partner(open) == kNowhere ? code_.size() : code_.partner(open);
  scope.head = statement;
  scope.outer = outer;
  scope.kind = kind_of(open, statement, outer);
  return scope;
}

ScopeKind ScopeTable::kind_of(int open, int head, int outer) const {
  const bool inside_code =
      outer != kNowhere && scopes_[outer].kind != ScopeKind::kNamespace && scopes_[outer].kind != ScopeKind::kClass;
  bool class_word = false;
  bool parameters = false;
  bool assigned = false;
  for (int i = head; i < open; ++i) {
    const std::string_view text = code_.at(i).text;
    if (text == "namespace") return ScopeKind::kNamespace;
    if (text == "extern" && code_.at(i + 1).kind == TokenKind::kString && i + 2 == open) return ScopeKind::kNamespace;
    if (text == "template" && code_.is(i + 1, "<")) {
      const int close = code_.match_angle(i + 1, open);
      if (close != kNowhere) i = close;
    } else if (is_attribute_word(text) && code_.is(i + 1, "(") && code_.partner(i + 1) != kNowhere) {
      i = code_.partner(i + 1);
    } else if (text == "<" && code_.is_identifier(i - 1) && !code_.is(i - 1, "operator")) {
      const int close = code_.match_angle(i, open);
      if (close != kNowhere) i = close;
    } else if (is_class_word(text) && !parameters) {
      class_word = true;
    } else if (text == "=" && !code_.is(i - 1, "operator")) {
      assigned = true;
    } else if (text == "(") {
      parameters = true;
      if (code_.partner(i) > i && code_.partner(i) < open) i = code_.partner(i);
    }
  }
  if (class_word && !parameters && !assigned) return ScopeKind::kClass;
  if (inside_code) return begins_value(open) ? ScopeKind::kInitializer : ScopeKind::kBlock;
  if (!parameters || (assigned && !code_.is(open - 1, ")"))) return ScopeKind::kInitializer;
  // `A() : x{1}, y{2} {`: the braces of members follow a name, the body follows a bracket or a qualifier.
  const Token& last = code_.at(open - 1);
  const bool qualifier = last.is("const") || last.is("noexcept") || last.is("override") || last.is("final") ||
                         last.is("volatile") || last.is("mutable") || last.is("try");
  bool members = false;
  for (int i = head; i < open; ++i) {
    if (code_.is(i, ":") && (code_.is(i - 1, ")") || code_.is(i - 1, "noexcept"))) members = true;
    if (code_.partner(i) > i) i = code_.partner(i);
  }
  if (members && !qualifier && (last.kind == TokenKind::kIdentifier || last.is(">"))) return ScopeKind::kInitializer;
  return ScopeKind::kFunction;
}

// Inside a function: `x{`, `= {`, `f({`, `return {` are values; after a statement or a head comes a block.
bool ScopeTable::begins_value(int open) const {
  const Token& last = code_.at(open - 1);
  if (last.kind == TokenKind::kIdentifier) {
    return !last.is("else") && !last.is("do") && !last.is("try") && !last.is("mutable") && !last.is("noexcept");
  }
  return last.is("=") || last.is(",") || last.is("(") || last.is(">") || last.is("]") || last.is("?");
}

int ScopeTable::function(int position) const {
  int found = kNowhere;
  for (int i = innermost_[position]; i != kNowhere; i = scopes_[i].outer) {
    if (scopes_[i].kind == ScopeKind::kFunction) found = i;
  }
  return found;
}

bool ScopeTable::in_device_code(int position) const {
  for (int i = innermost_[position]; i != kNowhere; i = scopes_[i].outer) {
    const Scope& scope = scopes_[i];
    if (scope.kind == ScopeKind::kNamespace || scope.kind == ScopeKind::kClass) continue;
    for (int k = scope.head; k < scope.open; ++k) {
      if (code_.is(k, "__device__") || code_.is(k, "__global__")) return true;
    }
  }
  return false;
}

bool ScopeTable::namespace_path(int position, std::string* path) const {
  path->clear();
  for (int i = innermost_[position]; i != kNowhere; i = scopes_[i].outer) {
    if (scopes_[i].kind != ScopeKind::kNamespace) return false;
    std::string names;
    for (int k = scopes_[i].head; k < scopes_[i].open; ++k) {
      if (!code_.is(k, "namespace")) continue;
      for (int n = k + 1; n < scopes_[i].open; ++n) {
        if (code_.is(n, "[") || code_.is(n, "__attribute__")) {
          n = code_.partner(code_.is(n, "[") ? n : n + 1) == kNowhere ? n : code_.partner(code_.is(n, "[") ? n : n + 1);
        } else if (code_.is_identifier(n) && !code_.is(n, "inline")) {
          names += "::";
          names += code_.at(n).text;
        }
      }
    }
    *path = names + *path;
  }
  return true;
}

}  // namespace anygin::rewriter
