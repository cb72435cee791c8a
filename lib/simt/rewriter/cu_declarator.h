// SPDX-License-Identifier: Apache-2.0
// Just enough of C++'s declarations to find the names in them.
#pragma once

#include <string>
#include <vector>

#include "anygin/simt/rewriter/cu_code.h"

namespace anygin::rewriter {

struct Declarator {
  int name = kNowhere;   // the declared identifier; kNowhere if it has none
  int place = kNowhere;  // where a name could be inserted: after position `place - 1`
  bool pack = false;     // `T... x`
  bool array = false;    // followed by `[`
};

// [from, to) is one parameter of a function or a template, without its comma; a default argument may follow.
Declarator find_parameter(const Code& code, int from, int to);
// [from, to) is a declaration without its `;`, and without `extern`, `static` and `__shared__`: every declared name.
std::vector<Declarator> find_declared(const Code& code, int from, int to);
// Splits [from, to) at its top-level commas; template lists and brackets hold together. Empty for an empty range.
std::vector<std::pair<int, int>> split_at_commas(const Code& code, int from, int to);

}  // namespace anygin::rewriter
