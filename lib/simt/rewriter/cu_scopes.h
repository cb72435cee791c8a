// SPDX-License-Identifier: Apache-2.0
// What each `{` of the user's code opens, told from the tokens before it.
#pragma once

#include <string>
#include <vector>

#include "anygin/simt/rewriter/cu_code.h"

namespace anygin::rewriter {

enum class ScopeKind { kNamespace, kClass, kFunction, kBlock, kInitializer };

struct Scope {
  ScopeKind kind = ScopeKind::kBlock;
  int head = kNowhere;   // first token of what the brace belongs to: `template`, a type, `namespace` ...
  int open = kNowhere;   // the `{`
  int close = kNowhere;  // its `}`; the end of the text if there is none
  int outer = kNowhere;  // index of the enclosing scope, kNowhere at the top
};

class ScopeTable {
 public:
  explicit ScopeTable(const Code& code);

  const std::vector<Scope>& scopes() const { return scopes_; }
  // Index of the innermost scope around `position`, kNowhere at the top level.
  int innermost(int position) const { return innermost_[position]; }
  // Index of the outermost function scope around `position`; kNowhere if it is in none.
  int function(int position) const;
  // True if a function around `position`, or a lambda, is marked `__device__` or `__global__`.
  bool in_device_code(int position) const;
  // "::a::b" for the namespaces around `position`; anonymous ones leave no trace. Empty if a class is around it.
  bool namespace_path(int position, std::string* path) const;

 private:
  Scope classify(int open, int statement, int outer) const;
  bool begins_value(int open) const;
  ScopeKind kind_of(int open, int head, int outer) const;

  const Code& code_;
  std::vector<Scope> scopes_;
  std::vector<int> innermost_;
};

}  // namespace anygin::rewriter
