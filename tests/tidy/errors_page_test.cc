// SPDX-License-Identifier: Apache-2.0
// docs/errors.md is what the table of causes gives.
#include "errors_page.h"

#include <gtest/gtest.h>

#include "tidy/tidy_rules.h"

namespace anygin::tidy {
namespace {

TEST(ErrorsPage, IsCurrent) {
  const Tree tree = read_tree(ANYGIN_SOURCE_DIR);
  const auto page = tree.find("docs/errors.md");
  ASSERT_NE(page, tree.end());
  EXPECT_TRUE(page->second == tools::errors_page())
      << "docs/errors.md is not current: cmake --build build/release --target errors_page";
}

TEST(ErrorsPage, ExplainsACauseByItsName) {
  EXPECT_EQ(tools::explain_cause("window_full").substr(0, 41), "GIN_ERR_WINDOW_FULL (ncclInvalidUsage)\n  ");
  EXPECT_EQ(tools::explain_cause("GIN_ERR_WINDOW_FULL"), tools::explain_cause("WINDOW_FULL"));
  EXPECT_EQ(tools::explain_cause("GIN_ERR_NONSENSE"), "");
}

TEST(ErrorsPage, ACauseThatNoTestReachesIsFound) {
  const Tree tree = {{"lib/base/error_causes.def",
                      "ANYGIN_CAUSE(kOne, ONE, kInvalidUsage, \"a\", \"b\")\n"
                      "ANYGIN_CAUSE(kTwo, TWO, kInvalidUsage, \"a\", \"b\")\n"},
                     {"tests/unit/some_test.cc", "REACHES(GIN_ERR_ONE, last_error());\n"},
                     {"lib/comm/other.cc", "REACHES(GIN_ERR_TWO, text);\n"}};
  EXPECT_EQ(check_causes(tree), Findings{"lib/base/error_causes.def:2: no test says REACHES(GIN_ERR_TWO, ...)"});
}

}  // namespace
}  // namespace anygin::tidy
