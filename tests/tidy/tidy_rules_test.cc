// SPDX-License-Identifier: Apache-2.0
// Each rule bites: a sample that breaks it gives exactly one finding, the same sample mended gives none.
#include "tidy/tidy_rules.h"

#include <gtest/gtest.h>

namespace anygin::tidy {
namespace {

struct Sample {
  const char* name;
  Findings (*check)(const Tree&);
  Tree broken, mended;
};

const std::string kSpdx = "// SPDX-License-Identifier: Apache-2.0\n";

std::vector<Sample> samples() {
  return {
      {"base_includes_comm",
       check_include_direction,
       {{"lib/base/a.h", "#include \"anygin/comm/b.h\"\n"}},
       {{"lib/base/a.h", "#include \"anygin/base/b.h\"\n"}}},
      {"backend_includes_simt",
       check_include_direction,
       {{"backends/proxy/a.cc", "#include \"anygin/simt/device.h\"\n"}},
       {{"lib/comm/a.cc", "#include \"anygin/simt/device.h\"\n"}}},
      {"same_name_twice",
       check_unique_names,
       {{"lib/base/a.h", ""}, {"lib/comm/a.h", ""}},
       {{"lib/base/a.h", ""}, {"lib/comm/b.h", ""}}},
      {"no_licence_line", check_first_line, {{"lib/base/a.h", "#pragma once\n"}}, {{"lib/base/a.h", kSpdx}}},
      {"left_over_mark", check_banned_words, {{"lib/base/a.h", "// TODO later\n"}}, {{"lib/base/a.h", "// later\n"}}},
      {"bare_fence",
       check_banned_words,
       {{"backends/proxy/a.h", "std::atomic_thread_fence(x);\n"}},
       {{"lib/base/order.h", "__atomic_thread_fence(__ATOMIC_RELEASE);\n"}}},
      {"wall_clock",
       check_banned_words,
       {{"lib/comm/a.cc", "auto t = std::chrono::steady_clock::now();\n"}},
       {{"lib/base/env_real.cc", "std::chrono::steady_clock::now();\n"}}},
      {"unordered",
       check_banned_words,
       {{"lib/comm/a.cc", "std::unordered_map<int, int> m;\n"}},
       {{"lib/comm/a.cc", "std::map<int, int> m;\n"}}},
      {"too_long",
       check_length,
       {{"lib/base/a.cc", std::string(601, '\n')}},
       {{"lib/base/a.cc", std::string(600, '\n')}}},
      {"nccl_name",
       check_nccl_names,
       {{"backends/op.h", "ncclResult_t f();\n"}},
       {{"backends/op.h", "// as ncclResult_t\n"}}},
      {"section_without_a_row",
       check_references,
       {{"docs/references.md", "| contract 2.8 | x |\n"}, {"lib/base/a.h", "// contract 2.8, 4.1\n"}},
       {{"docs/references.md", "| contract 2.8 | x |\n| contract 4.1 | y |\n"},
        {"lib/base/a.h", "// Contract 2.8 and 4.1.\n"}}},
      {"row_that_nobody_cites",
       check_references,
       {{"docs/references.md", "| contract A.7 | x |\n"}, {"lib/base/a.h", "// contract of ours\n"}},
       {{"docs/references.md", "| contract A.7 | x |\n"}, {"lib/base/a.h", "// (contract A.7)\n"}}},
      {"decision_without_a_page",
       check_references,
       {{"docs/references.md", ""}, {"docs/decisions/0004-a.md", ""}, {"lib/a.h", "// docs/decisions/0004, 0005\n"}},
       {{"docs/references.md", ""}, {"docs/decisions/0004-a.md", ""}, {"lib/a.h", "// docs/decisions/0004\n"}}},
      {"text_that_is_not_here",
       check_references,
       {{"docs/references.md", ""}, {"lib/a.h", "// (design 6.3)\n"}},
       {{"docs/references.md", ""}, {"lib/a.h", "// by design\n"}}},
      {"promise_without_a_case",
       check_promises,
       {{"docs/semantics.md", "- P1 A. P2 B.\n"}, {"tests/conformance/a.cu", "CONFORMANCE_CASE(P1_a, 2) {\n"}},
       {{"docs/semantics.md", "- P1 A. P2 B.\n"},
        {"tests/conformance/a.cu", "CONFORMANCE_CASE_WITH(P1_P2_a, 2, {}) {\n"}}},
      {"misuse_without_a_case",
       check_promises,
       {{"docs/semantics.md", "- M1·R a; M2·C b\n"}, {"tests/conformance/a.cu", "CONFORMANCE_CASE(M2_R_a, 2) {\n"}},
       {{"docs/semantics.md", "- M1·R a; M2·C b\n"}, {"docs/scenarios.md", "| M1·R | a | | the reason |\n"}}},
      {"scenario_of_a_case_that_is_gone",
       check_promises,
       {{"docs/semantics.md", ""}, {"docs/scenarios.md", "| O1 | a | `Scenario_O1_a` | |\n"}},
       {{"docs/semantics.md", ""},
        {"docs/scenarios.md", "| O1 | a | `P1_a` | |\n"},
        {"tests/conformance/a.cu", "CONFORMANCE_CASE(P1_a, 2) {\n"}}},
      {"scenario_without_case_or_reason",
       check_promises,
       {{"docs/semantics.md", ""}, {"docs/scenarios.md", "| O1 | a | | |\n"}},
       {{"docs/semantics.md", ""}, {"docs/scenarios.md", "| O1 | a | | waits for b |\n"}}},
      {"case_of_no_scenario",
       check_promises,
       {{"docs/semantics.md", ""}, {"tests/conformance/a.cu", "CONFORMANCE_CASE(Scenario_O1_a, 2) {\n"}},
       {{"docs/semantics.md", ""},
        {"docs/scenarios.md", "| O1 | a | `Scenario_O1_a` | |\n"},
        {"tests/conformance/a.cu", "CONFORMANCE_CASE(Scenario_O1_a, 2) {\n"}}},
      {"unlisted_mutant",
       check_mutants,
       {{"lib/base/mutants.def", ""}, {"lib/base/a.cc", "if (MUTANT(early)) {}\n"}},
       {{"lib/base/mutants.def", "ANYGIN_MUTANT_SITE(early, \"\")\n"}, {"lib/base/a.cc", "if (MUTANT(early)) {}\n"}}},
      {"mutant_without_site",
       check_mutants,
       {{"lib/base/mutants.def", "ANYGIN_MUTANT_SITE(early, \"\")\n"}},
       {{"lib/base/mutants.def", ""}}},
      {"unlisted_source",
       check_sources_listed,
       {{"lib/base/CMakeLists.txt", ""}, {"lib/base/a.cc", ""}},
       {{"lib/base/CMakeLists.txt", "a.cc"}, {"lib/base/a.cc", ""}}},
  };
}

class TidyRule : public testing::TestWithParam<Sample> {};

TEST_P(TidyRule, bites_the_broken_sample_only) {
  EXPECT_EQ(GetParam().check(GetParam().broken).size(), 1u);
  EXPECT_EQ(GetParam().check(GetParam().mended), Findings{});
}

INSTANTIATE_TEST_SUITE_P(rules, TidyRule, testing::ValuesIn(samples()),
                         [](const auto& instance) { return std::string(instance.param.name); });

TEST(TidyRule, named_file_that_is_gone) {
  Tree tree = {{"README.md", "see `lib/base/gone.h`"},
               {"ARCHITECTURE.md", ""},
               {"tests/README.md", ""},
               {"docs/roadmap.md", ""}};
  EXPECT_EQ(check_named_files_exist(tree).size(), 1u);
  tree["lib/base/gone.h"] = "";
  EXPECT_EQ(check_named_files_exist(tree), Findings{});
}

}  // namespace
}  // namespace anygin::tidy
