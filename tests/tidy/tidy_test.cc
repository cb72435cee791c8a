// SPDX-License-Identifier: Apache-2.0
// The tree keeps its own rules.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tidy/tidy_rules.h"

namespace anygin::tidy {
namespace {

class TidyTree : public testing::TestWithParam<Rule> {};

TEST_P(TidyTree, keeps_the_rule) {
  const Tree tree = read_tree(ANYGIN_SOURCE_DIR);
  ASSERT_GT(tree.size(), 50u) << "read the wrong folder: " << ANYGIN_SOURCE_DIR;
  EXPECT_THAT(GetParam().check(tree), testing::IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(rules, TidyTree, testing::ValuesIn(rules()),
                         [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace anygin::tidy
