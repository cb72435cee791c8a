// SPDX-License-Identifier: Apache-2.0
// What a name at some place may mean: whether something local declares it there, how it is qualified, what is around
// it.
#pragma once

#include <string>
#include <vector>

#include "anygin/simt/rewriter/cu_code.h"
#include "anygin/simt/rewriter/cu_scopes.h"

namespace anygin::rewriter {

class NameReader {
 public:
  NameReader(const Code& code, const ScopeTable& scopes);

  // First token of the statement or member declaration around `position`.
  int statement_begin(int position) const;
  // Between `begin` and `position` a bracket opens that closes behind `position`.
  bool in_parentheses(int position, int begin) const;
  // `(*`, `(&`, `(T::*`
  bool points(int open) const;
  bool is_class_body(int open) const;

  // "a::b::" before `name`, as written; and where that begins.
  std::string qualifier_before(int name) const;
  int qualified_begin(int name) const;
  // "::ns::Outer::Inner" of a class scope.
  std::string class_path(int scope) const;
  // "file.cu:12" for a string literal.
  std::string where_quoted(int position) const;

  // `name` is declared here by a local declaration: the position up to which it means that. 0 if it is a use.
  int declared_until(int name) const;
  // False after `.`, `->`, `using` and where a name is no expression.
  bool may_be_expression(int name) const;
  // A parameter of the function around has this name.
  bool is_parameter(int name) const;
  // `name(...)` in a member function of a class that declares it.
  bool is_member_function(int name) const;

 private:
  bool is_type_begin(int first, int group) const;
  bool ends_type(int last, int name, int group) const;
  bool looks_declared(int name, int group) const;
  bool declares_more(int name, int group) const;
  bool is_lambda_list(int open) const;
  int group_end(int group) const;
  int class_around(int position) const;
  bool class_declares(int scope, std::string_view name) const;

  const Code& code_;
  const ScopeTable& scopes_;
  std::vector<int> enclosing_;  // innermost bracket that is open, by position
};

}  // namespace anygin::rewriter
