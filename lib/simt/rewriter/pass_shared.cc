// SPDX-License-Identifier: Apache-2.0
// `__shared__ T a[N], b;` becomes a local struct, unique per instantiation, and references into the block's copy of it:
// types stay exact. `extern __shared__ T s[];` becomes a reference to the block's dynamic bytes; at namespace scope the
// declaration stays, without a definition, and each device function that names it gets the reference.
#include <fmt/format.h>

#include <set>

#include "anygin/simt/rewriter/cu_declarator.h"
#include "anygin/simt/rewriter/cu_passes.h"

namespace anygin::rewriter {
namespace {

struct SharedDeclaration {
  int begin = kNowhere;
  int word = kNowhere;  // `__shared__`
  int end = kNowhere;   // the `;`
  bool is_extern = false;
};

bool is_aligner(std::string_view text) {
  return text == "alignas" || text == "__align__" || text == "__attribute__";
}

SharedDeclaration find_declaration(const Code& code, int word) {
  SharedDeclaration found;
  found.word = word;
  int begin = word;
  while (begin > 0) {
    const int previous = begin - 1;
    if (code.is(previous, ")") && is_aligner(code.at(code.partner(previous) - 1).text)) {
      begin = code.partner(previous) - 1;
    } else if (code.is(previous, "]") && code.is(code.partner(previous) + 1, "[")) {
      begin = code.partner(previous);
    } else if (code.is_identifier(previous) && !code.is(previous, "else") && !code.is(previous, "do")) {
      begin = previous;
    } else {
      break;
    }
  }
  found.begin = begin;
  int end = word;
  while (end < code.size() && !code.is(end, ";") && !code.is(end, "}")) {
    end = code.partner(end) > end ? code.partner(end) + 1 : end + 1;
  }
  found.end = code.is(end, ";") ? end : kNowhere;
  for (int i = begin; i < end; ++i) found.is_extern |= code.is(i, "extern");
  return found;
}

class SharedRewriter {
 public:
  SharedRewriter(Code& code, const ScopeTable& scopes) : code_(code), scopes_(scopes) {}

  void run() {
    for (int i = 0; i < code_.size(); ++i) {
      if (!code_.is(i, "__shared__") || !code_.is_identifier(i)) continue;
      declaration_ = find_declaration(code_, i);
      if (declaration_.end == kNowhere) {
        code_.error(i, "a __shared__ variable is declared by a statement that ends in `;`");
        continue;
      }
      ++number_;
      one();
      i = declaration_.end;
    }
  }

 private:
  void one() {
    const bool in_function =
        scopes_.innermost(declaration_.word) != kNowhere && scopes_.function(declaration_.word) != kNowhere;
    if (!in_function && !declaration_.is_extern) {
      code_.error(declaration_.word,
                  "a __shared__ variable outside a function must be `extern __shared__ T name[];`; declare it inside "
                  "the kernel");
      return;
    }
    code_.drop(declaration_.word);
    declared_ = find_declared(code_, declaration_.begin, declaration_.end);
    for (const Declarator& declarator : declared_) {
      if (declarator.name == kNowhere) {
        code_.error(declaration_.word, "cannot find the name that this __shared__ declaration declares");
        return;
      }
    }
    if (!in_function) {
      at_namespace_scope();
    } else if (declaration_.is_extern) {
      dynamic_in_function();
    } else {
      static_in_function();
    }
  }

  std::string name_of(const Declarator& declarator) const { return std::string(code_.at(declarator.name).text); }

  void drop_words(bool aligners) {
    for (int i = declaration_.begin; i < declaration_.end; ++i) {
      if (code_.is(i, "extern") || code_.is(i, "static")) code_.drop(i);
      if (aligners && (code_.is(i, "alignas") || code_.is(i, "__align__")) && code_.partner(i + 1) > i) {
        code_.drop_range(i, code_.partner(i + 1) + 1);
      }
      if (code_.partner(i) > i) i = code_.partner(i);
    }
  }

  void static_in_function() {
    for (int i = declaration_.begin; i < declaration_.end; ++i) {
      if (code_.is(i, "=")) {
        code_.error(i, "a __shared__ variable has no initialiser: assign to it in one thread, then __syncthreads()");
      }
      if (code_.partner(i) > i) i = code_.partner(i);
    }
    drop_words(false);
    code_.insert_before(declaration_.begin, fmt::format("struct anygin_shared_{} {{ ", number_));
    std::string tail = " };";
    for (size_t i = 0; i < declared_.size(); ++i) {
      tail += fmt::format(
          " [[maybe_unused]] auto& {0} = ::anygin::simt::shared_member<decltype(anygin_shared_{1}::{0}), "
          "anygin_shared_{1}, {2}>();",
          name_of(declared_[i]), number_, i);
    }
    code_.insert_after(declaration_.end, tail);
  }

  void dynamic_in_function() {
    drop_words(true);
    code_.insert_before(declaration_.begin, "typedef ");
    std::string tail;
    for (const Declarator& declarator : declared_) {
      const std::string name = name_of(declarator);
      const std::string type = fmt::format("anygin_dynamic_{}_{}", number_, name);
      code_.drop(declarator.name);
      code_.insert_before(declarator.name, type);
      tail += fmt::format(" [[maybe_unused]] {0}& {1} = ::anygin::simt::dynamic_shared<{0}>();", type, name);
    }
    code_.insert_after(declaration_.end, tail);
  }

  void at_namespace_scope() {
    std::string path;
    scopes_.namespace_path(declaration_.word, &path);
    for (const Declarator& declarator : declared_) {
      for (size_t i = 0; i < scopes_.scopes().size(); ++i) {
        const Scope& scope = scopes_.scopes()[i];
        if (scope.kind != ScopeKind::kFunction || scope.open < declaration_.end) continue;
        const std::string name = name_of(declarator);
        if (!uses(scope, name) || !scopes_.in_device_code(scope.open + 1)) continue;
        if (!given_.emplace(scope.open, name).second) continue;
        code_.insert_after(scope.open, fmt::format(" [[maybe_unused]] decltype({0}::{1})& {1} = "
                                                   "::anygin::simt::dynamic_shared<decltype({0}::{1})>(); {{",
                                                   path, name));
        if (scope.close < code_.size()) code_.insert_before(scope.close, "} ");
      }
    }
  }

  // Named in the body, and no parameter has that name.
  bool uses(const Scope& scope, const std::string& name) const {
    for (int i = scope.head; i < scope.open; ++i) {
      if (code_.is(i, name)) return false;
    }
    for (int i = scope.open; i < scope.close; ++i) {
      if (code_.is(i, name) && !code_.is(i - 1, ".") && !code_.is(i - 1, "->")) return true;
    }
    return false;
  }

  Code& code_;
  const ScopeTable& scopes_;
  SharedDeclaration declaration_;
  std::vector<Declarator> declared_;
  std::set<std::pair<int, std::string>> given_;
  int number_ = 0;
};

}  // namespace

void rewrite_shared(Code& code, const ScopeTable& scopes) {
  SharedRewriter(code, scopes).run();
}

}  // namespace anygin::rewriter
