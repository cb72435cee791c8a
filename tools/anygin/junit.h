// SPDX-License-Identifier: Apache-2.0
// JUnit reports: what continuous integration reads of a run of tests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace anygin::tools {

struct JunitFailure {
  std::string message;  // one line
  std::string output;   // shown beside it
};

struct JunitCase {
  std::string group, name;  // no group: none is told
  double seconds = 0;
  std::vector<JunitFailure> failures;  // none: it passed
  std::string skipped;                 // why it did not run; empty: it ran
  uint64_t runs = 1;                   // it counts as so many tests
};

// Whatever the texts hold, the report is XML: control characters and bytes beyond ASCII become '?'.
std::string junit_report(const std::string& suite, const std::vector<JunitCase>& cases);

}  // namespace anygin::tools
