// SPDX-License-Identifier: Apache-2.0
// Every file, every profile, every way: what is possible is what the file says. And the files say enough: each row of
// the table in docs/semantics.md has one.
#include <fstream>
#include <sstream>

#include "anygin/sim/litmus/tabular_explore.h"
#include "litmus/litmus_files.h"

namespace anygin::litmus {
namespace {

std::string lines_of(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += "\n" + line;
  return text;
}

class LitmusFile : public ::testing::TestWithParam<std::string> {};

TEST_P(LitmusFile, HasExactlyTheOutcomesItLists) {
  const Program program = litmus_of(GetParam());
  EXPECT_EQ(program.name, stem_of(GetParam())) << "a file is named after its program";
  EXPECT_FALSE(program.row.empty()) << "which line of the semantics does it show?";
  for (const Profile profile : kEveryProfile) {
    const Exploration found = explore(program, profile);
    EXPECT_TRUE(found.complete) << name_of(profile) << ": more than " << found.states << " states";
    EXPECT_EQ(found.hang, "") << name_of(profile);
    EXPECT_EQ(lines_of(disagreements(program, profile, found.outcomes, true)), "");
    const auto& statements = program.statements;
    EXPECT_TRUE(std::any_of(statements.begin(), statements.end(),
                            [&](const Statement& statement) {
                              return statement.verdict == Verdict::kExactly &&
                                     statement.profiles[static_cast<int>(profile)];
                            }))
        << "no 'exactly' for " << name_of(profile);
  }
}

INSTANTIATE_TEST_SUITE_P(All, LitmusFile, ::testing::ValuesIn(litmus_paths()),
                         [](const auto& instance) { return stem_of(instance.param); });

std::vector<std::string> rows_of_semantics() {
  std::ifstream stream(ANYGIN_SEMANTICS);
  std::vector<std::string> rows;
  bool in_table = false;
  for (std::string line; std::getline(stream, line);) {
    if (line.rfind("## Litmus", 0) == 0) in_table = true;
    if (!in_table || line.rfind("| ", 0) != 0 || line.rfind("| program", 0) == 0) continue;
    rows.push_back(line.substr(2, line.find(" |", 2) - 2));
  }
  return rows;
}

TEST(LitmusTable, EveryRowOfTheSemanticsHasAFile) {
  const std::vector<std::string> rows = rows_of_semantics();
  ASSERT_EQ(rows.size(), 18u);
  const std::vector<Program> programs = litmus_programs();
  for (const std::string& row : rows) {
    EXPECT_TRUE(std::any_of(programs.begin(), programs.end(), [&](const Program& p) { return p.row == row; })) << row;
  }
}

// The rows that the table leaves to the race checker say so.
TEST(LitmusTable, RacesAreMarked) {
  for (const Program& program : litmus_programs()) {
    const bool judged_by_the_checker = program.row.find("without sync") != std::string::npos ||
                                       program.row.find("two puts to the same") == 0 ||
                                       program.row.find("readSignal(relaxed)") == 0 ||
                                       program.row.find("overwrite source at once") != std::string::npos;
    const bool contrast = program.name.rfind("P1_", 0) == 0;
    if (judged_by_the_checker && !contrast) {
      EXPECT_NE(program.race, "") << program.file;
    }
  }
}

// --- The table of docs/decisions/0003, written down once more: what may pass what, where

struct Freedom {
  emulated::OrderClass later;
  std::vector<emulated::OrderClass> earlier;
  std::vector<Profile> where;
};

using enum emulated::OrderClass;
using enum Profile;
const Freedom kFreedoms[] = {{kPut, {kPut, kWeak, kStrong, kGet}, {kCx7, kRelaxed, kSrd}},
                             {kWeak, {kPut, kWeak, kStrong, kGet}, {kRelaxed, kSrd}},
                             {kGet, {kPut, kWeak}, {kRelaxed, kSrd}}};

std::set<std::string> freedoms_of(Profile profile) {
  std::set<std::string> all;
  for (const Freedom& freedom : kFreedoms) {
    if (std::find(freedom.where.begin(), freedom.where.end(), profile) == freedom.where.end()) continue;
    for (const auto earlier : freedom.earlier) {
      all.insert(std::string(name_of(freedom.later)) + " passes " + name_of(earlier));
    }
  }
  if (profile != kInorder) all.insert({"granules in any order", "completion before visibility"});
  return all;
}

void add(const Witness& witness, std::set<std::string>& out) {
  for (int earlier = 0; earlier < emulated::kOrderClasses; ++earlier) {
    for (int later = 0; later < emulated::kOrderClasses; ++later) {
      if ((witness.passed[earlier] >> later & 1) == 0) continue;
      out.insert(std::string(name_of(static_cast<emulated::OrderClass>(later))) + " passes " +
                 name_of(static_cast<emulated::OrderClass>(earlier)));
    }
  }
  if (witness.granules_out_of_order) out.insert("granules in any order");
  if (witness.completed_before_visible) out.insert("completion before visibility");
}

TEST(LitmusTable, EveryFreedomIsReachedAndNothingOutside) {
  for (const Profile profile : kEveryProfile) {
    std::set<std::string> reached;
    for (const Program& program : litmus_programs()) add(explore(program, profile).witness, reached);
    EXPECT_EQ(reached, freedoms_of(profile)) << name_of(profile);
  }
}

}  // namespace
}  // namespace anygin::litmus
