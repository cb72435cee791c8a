// SPDX-License-Identifier: Apache-2.0
// JUnit reports: what continuous integration reads of a run of tests.
#pragma once

#include <string>
#include <vector>

namespace anygin::tools {

struct JunitCase {
  std::string group, name;
  double seconds = 0;
  std::string failure;  // one line; empty: it passed
  std::string skipped;  // why it did not run; empty: it ran
  std::string output;   // shown beside a failure
};

// Whatever the texts hold, the report is XML: control characters and bytes beyond ASCII become '?'.
std::string junit_report(const std::string& suite, const std::vector<JunitCase>& cases);

}  // namespace anygin::tools
