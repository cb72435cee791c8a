// SPDX-License-Identifier: Apache-2.0
// docs/api-coverage.md: for each public name the test that calls it, or why there is none. A table's row keeps its test
// as long as that is right, so that a change of one test changes one row.
#pragma once

#include <string>
#include <vector>

#include "coverage/coverage_names.h"
#include "coverage/test_cases.h"

namespace anygin::coverage {

// What the document is made from; paths relative to the root.
struct Tree {
  Files tests;    // tests/unit, tests/conformance, tests/regress, tests/support with their CMake lists
  Files compile;  // tests/compile: what is only compiled
  Files headers;  // lib/include
  std::string names, not_yet, document;
};
Tree read_tree(const std::string& root);

struct Table {
  std::string document;
  // Names without a test, names of the headers that names.txt does not have, markers that say something wrong.
  std::vector<std::string> errors;
  int run = 0, compiled = 0, refused = 0, missing = 0;
};
Table make_table(const Tree& tree);

}  // namespace anygin::coverage
