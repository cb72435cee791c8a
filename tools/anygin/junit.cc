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

}  // namespace

std::string junit_report(const std::string& suite, const std::vector<JunitCase>& cases) {
  const auto count = [&](auto member) {
    return std::count_if(cases.begin(), cases.end(), [&](const JunitCase& one) { return !(one.*member).empty(); });
  };
  double seconds = 0;
  for (const JunitCase& one : cases) seconds += one.seconds;
  std::string text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" "
      "skipped=\"{}\" time=\"{:.3f}\">\n",
      shown(suite), cases.size(), count(&JunitCase::failure), count(&JunitCase::skipped), seconds);
  for (const JunitCase& one : cases) {
    text += fmt::format("<testcase classname=\"{}\" name=\"{}\" time=\"{:.3f}\"", shown(one.group), shown(one.name),
                        one.seconds);
    if (one.failure.empty() && one.skipped.empty()) {
      text += "/>\n";
    } else if (!one.skipped.empty()) {
      text += fmt::format("><skipped message=\"{}\"/></testcase>\n", shown(one.skipped));
    } else {
      text += fmt::format("><failure message=\"{}\">{}</failure></testcase>\n", shown(one.failure), shown(one.output));
    }
  }
  return text + "</testsuite>\n</testsuites>\n";
}

}  // namespace anygin::tools
