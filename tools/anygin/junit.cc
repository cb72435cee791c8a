// SPDX-License-Identifier: Apache-2.0
#include "junit.h"

#include <fmt/format.h>

#include <algorithm>

#include "svg_text.h"

namespace anygin::tools {

namespace {

// What a program said may hold bytes that no XML may.
std::string shown(const std::string& text) {
  std::string printable = text;
  std::replace_if(
      printable.begin(), printable.end(), [](char c) { return c != '\n' && c != '\t' && (c < 0x20 || c > 0x7e); }, '?');
  return xml_text(printable);
}

std::string case_text(const JunitCase& one) {
  std::string text = "<testcase";
  if (!one.group.empty()) text += fmt::format(" classname=\"{}\"", shown(one.group));
  text += fmt::format(" name=\"{}\" time=\"{:.3f}\"", shown(one.name), one.seconds);
  if (!one.skipped.empty()) return text + fmt::format("><skipped message=\"{}\"/></testcase>\n", shown(one.skipped));
  if (one.failures.empty()) return text + "/>\n";
  text += '>';
  for (const JunitFailure& failure : one.failures) {
    text += fmt::format("<failure message=\"{}\">{}</failure>", shown(failure.message), shown(failure.output));
  }
  return text + "</testcase>\n";
}

}  // namespace

std::string junit_report(const std::string& suite, const std::vector<JunitCase>& cases) {
  uint64_t tests = 0, failures = 0, skipped = 0;
  double seconds = 0;
  std::string told;
  for (const JunitCase& one : cases) {
    tests += one.runs;
    failures += one.failures.size();
    skipped += one.skipped.empty() ? 0 : 1;
    seconds += one.seconds;
    told += case_text(one);
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" "
      "skipped=\"{}\" time=\"{:.3f}\">\n{}</testsuite>\n</testsuites>\n",
      shown(suite), tests, failures, skipped, seconds, told);
}

}  // namespace anygin::tools
