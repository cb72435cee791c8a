// SPDX-License-Identifier: Apache-2.0
// Every public name (contract 7.1 is the largest part) has a test that calls it, docs/api-coverage.md says which, and
// what finds them bites.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coverage/coverage_table.h"

namespace anygin::coverage {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(ApiCoverage, EveryNameHasATest) {
  EXPECT_THAT(make_table(read_tree(ANYGIN_SOURCE_DIR)).errors, IsEmpty());
}

TEST(ApiCoverage, TheDocumentIsTheOneThatWouldBeMade) {
  const Tree tree = read_tree(ANYGIN_SOURCE_DIR);
  EXPECT_TRUE(make_table(tree).document == tree.document) << "run ./dev api-coverage and commit docs/api-coverage.md";
}

// A tree of one name and one test.
Tree small(const std::string& names, const std::string& test) {
  Tree tree;
  tree.names = "## All\n" + names;
  tree.tests["tests/unit/a_test.cc"] = test;
  tree.tests["tests/unit/list.cmake"] = "anygin_test(a SOURCES a_test.cc)";
  return tree;
}
std::vector<std::string> errors_of(const std::string& names, const std::string& test) {
  return make_table(small(names, test)).errors;
}

TEST(ApiCoverageFinds, CallsInATestAndInWhatItCalls) {
  EXPECT_THAT(errors_of("ncclFoo", "TEST(A, b) { EXPECT_EQ(ncclFoo(), 1); }"), IsEmpty());
  EXPECT_THAT(errors_of("ncclFoo", "int helper() { return ncclFoo(); }\nTEST(A, b) { EXPECT_EQ(helper(), 1); }"),
              IsEmpty());
  EXPECT_THAT(
      errors_of("ncclFoo", "struct A : Base {\n int x() { return ncclFoo(); } };\nTEST_F(A, b) { EXPECT_EQ(x(), 1); }"),
      IsEmpty());
  EXPECT_THAT(errors_of("ncclFoo", "const Row kRows[] = {{ncclFoo}};\nTEST(A, b) { EXPECT_EQ(kRows[0], 1); }"),
              IsEmpty());
  EXPECT_THAT(errors_of("ncclFoo", "CONFORMANCE_CASE(P1_b, 2) { rank.expect_eq(ncclFoo(), 1, \"x\"); }"), IsEmpty());
}

TEST(ApiCoverageFinds, NoCallInCommentsTextsAndOtherFunctions) {
  const char* const tests[] = {
      "TEST(A, b) { EXPECT_EQ(1, 1); }  // ncclFoo",
      "TEST(A, b) { EXPECT_EQ(1, 1); /* ncclFoo */ }",
      "TEST(A, b) { EXPECT_EQ(std::string(), \"ncclFoo\"); }",
      "TEST(A, b) { EXPECT_EQ(std::string(), R\"(ncclFoo)\"); }",
      "int helper() { return ncclFoo(); }\nTEST(A, b) { EXPECT_EQ(1, 1); }",
      "TEST(A, b) { EXPECT_EQ(ncclFooBar(), 1); }",
  };
  for (const char* const test : tests) {
    EXPECT_THAT(errors_of("ncclFoo", test), ElementsAre(HasSubstr("ncclFoo: no test that runs calls it"))) << test;
  }
}

TEST(ApiCoverageFinds, NoTestThatComparesNothingOrIsNotBuilt) {
  EXPECT_THAT(errors_of("ncclFoo", "TEST(A, b) { ncclFoo(); }"), ElementsAre(HasSubstr("no test")));
  Tree tree = small("ncclFoo", "TEST(A, b) { EXPECT_EQ(ncclFoo(), 1); }");
  tree.tests["tests/unit/list.cmake"] = "anygin_test(a SOURCES other_a_test.cc)";
  EXPECT_THAT(make_table(tree).errors, ElementsAre(HasSubstr("no test")));
}

TEST(ApiCoverageFinds, MembersOfTheirStructureOnly) {
  EXPECT_THAT(errors_of("ncclFoo.bar", "TEST(A, b) { ncclFoo foo; EXPECT_EQ(foo.bar, 1); }"), IsEmpty());
  EXPECT_THAT(errors_of("ncclFoo.bar", "TEST(A, b) { ncclFoo* foo = x(); EXPECT_EQ(foo->bar, 1); }"), IsEmpty());
  EXPECT_THAT(errors_of("ncclFoo.bar", "TEST(A, b) { ncclBaz foo; EXPECT_EQ(foo.bar, 1); }"),
              ElementsAre(HasSubstr("no test")));
  EXPECT_THAT(errors_of("ncclFoo.bar", "TEST(A, b) { ncclFoo bar; EXPECT_EQ(bar, 1); }"),
              ElementsAre(HasSubstr("no test")));
  EXPECT_THAT(errors_of("alias ncclFoo ncclFoo_t\nncclFoo.bar", "TEST(A, b) { ncclFoo_t foo; EXPECT_EQ(foo.bar, 1); }"),
              IsEmpty());
  EXPECT_THAT(errors_of("nccl::utility::bar", "using nccl::utility::bar;\nTEST(A, b) { EXPECT_EQ(bar(), 1); }"),
              IsEmpty());
}

TEST(ApiCoverageFinds, FormsByTheirMarkersWhereTheFunctionIsCalled) {
  const std::string name = "ncclFoo(int)";
  EXPECT_THAT(errors_of(name, "TEST(A, b) {\n// covers: ncclFoo(int)\nEXPECT_EQ(ncclFoo(1), 1); }"), IsEmpty());
  EXPECT_THAT(errors_of(name, "TEST(A, b) { EXPECT_EQ(ncclFoo(1), 1); }"),
              ElementsAre(HasSubstr("says '// covers: ncclFoo(int)'")));
  EXPECT_THAT(errors_of(name, "TEST(A, b) {\n// covers: ncclFoo(int)\nEXPECT_EQ(ncclBar(1), 1); }"),
              ElementsAre(HasSubstr("a_test.cc:2: says that it covers ncclFoo(int)"), HasSubstr("no test")));
  EXPECT_THAT(errors_of("ncclFoo", "TEST(A, b) {\n// covers: ncclFoo(char)\nEXPECT_EQ(ncclFoo('a'), 1); }"),
              ElementsAre(HasSubstr("names.txt does not have")));
}

TEST(ApiCoverageFinds, RefusalsByTheirCode) {
  const std::string name = "ncclFoo = refused ncclInvalidUsage: it cannot";
  EXPECT_THAT(errors_of(name, "TEST(A, b) { EXPECT_EQ(ncclFoo(), ncclInvalidUsage); }"), IsEmpty());
  EXPECT_THAT(errors_of(name, "TEST(A, b) { EXPECT_EQ(ncclFoo(), ncclSuccess); }"),
              ElementsAre(HasSubstr("compares with ncclInvalidUsage")));
  Tree tree = small("ncclFoo", "TEST(A, b) { EXPECT_EQ(ncclFoo(), ncclSuccess); }");
  tree.not_yet = "ANYGIN_NCCL_NOT_YET(ncclFoo, (int))";
  EXPECT_THAT(make_table(tree).errors, ElementsAre(HasSubstr("compares with ncclInvalidUsage")));
}

TEST(ApiCoverageFinds, NamesThatAHeaderHasAndTheListHasNot) {
  Tree tree = small("ncclFoo", "TEST(A, b) { EXPECT_EQ(ncclFoo(), 1); }");
  tree.headers["lib/include/nccl.h"] = "int ncclFoo(); int ncclBar();\n#define NCCL_BAZ\n";
  EXPECT_THAT(make_table(tree).errors, ElementsAre(HasSubstr("NCCL_BAZ"), HasSubstr("ncclBar")));
}

TEST(ApiCoverageFinds, LinesThatAreNoNames) {
  EXPECT_THAT(errors_of("ncclFoo\nncclFoo", "TEST(A, b) { EXPECT_EQ(ncclFoo(), 1); }"),
              ElementsAre(HasSubstr("names.txt:3: ncclFoo comes twice")));
  EXPECT_THAT(errors_of("ncclFoo = perhaps: x", ""), ElementsAre(HasSubstr("names.txt:2")));
  EXPECT_THAT(errors_of("ncclFoo = missing: later", "TEST(A, b) { EXPECT_EQ(ncclFoo(), 1); }"),
              ElementsAre(HasSubstr("`A.b` (a_test.cc) is one")));
}

TEST(ApiCoverageTable, KeepsTheTestOfARowAsLongAsItIsRight) {
  Tree tree = small("ncclFoo", "TEST(A, b) { EXPECT_EQ(ncclFoo(), 1); }\nTEST(A, c) { EXPECT_EQ(ncclFoo(), 1); }");
  EXPECT_THAT(make_table(tree).document, HasSubstr("| `ncclFoo` | `A.b` (a_test.cc) |"));
  tree.document = "| `ncclFoo` | `A.c` (a_test.cc) | | | |\n";
  EXPECT_THAT(make_table(tree).document, HasSubstr("| `ncclFoo` | `A.c` (a_test.cc) |"));
  tree.document = "| `ncclFoo` | `A.d` (a_test.cc) | | | |\n";
  EXPECT_THAT(make_table(tree).document, HasSubstr("| `ncclFoo` | `A.b` (a_test.cc) |"));
  EXPECT_THAT(make_table(tree).document, Not(HasSubstr("A.d")));
}

}  // namespace
}  // namespace anygin::coverage
