// SPDX-License-Identifier: Apache-2.0
// Do the tests bite? Each command that mutants.list names for a mutant of base/mutants.def passes without it and fails
// with it. Run by hand: ANYGIN_MUTANT=<name> build/mutants/<command>.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <ostream>
#include <string>
#include <vector>

namespace anygin {
namespace {

struct Site {
  const char* name;
  const char* what;
};

const Site kSites[] = {
#define ANYGIN_MUTANT_SITE(name, what) {#name, what},
#include "anygin/base/mutants.def"
#undef ANYGIN_MUTANT_SITE
};

// A line of the list: "name: command", the command relative to the build folder; variables may stand in front of it.
struct Line {
  std::string mutant, command;
  int ordinal;  // among the lines of the mutant, from 1
};

void PrintTo(const Line& line, std::ostream* out) {
  *out << line.command;
}

std::vector<Line> read_list() {
  std::vector<Line> lines;
  std::map<std::string, int> ordinals;
  std::ifstream stream(ANYGIN_MUTANTS_LIST);
  for (std::string line; std::getline(stream, line);) {
    const size_t colon = line.find(": ");
    if (line.empty() || line[0] == '#' || colon == std::string::npos) continue;
    const std::string mutant = line.substr(0, colon);
    lines.push_back({mutant, line.substr(colon + 2), ++ordinals[mutant]});
  }
  return lines;
}

const char* what_is_broken(const std::string& mutant) {
  for (const Site& site : kSites) {
    if (mutant == site.name) return site.what;
  }
  return nullptr;
}

struct Outcome {
  int code;            // 124 if it did not end in time
  std::string output;  // the end of it
};

// Runs the command; `setting` stands in front of it.
Outcome run(const std::string& setting, const std::string& command) {
  std::string variables, program = command;
  while (program.find('=') < program.find(' ')) {  // leading NAME=value words
    variables += program.substr(0, program.find(' ') + 1);
    program.erase(0, program.find(' ') + 1);
  }
  const std::string line = "cd " ANYGIN_BUILD_DIR " && " + setting + " " + variables + "timeout -k 1 8 ./" + program +
                           " 2>&1 | tail -n 12; "
                           "exit ${PIPESTATUS[0]}";
  Outcome outcome{-1, ""};
  FILE* const pipe = popen(("bash -c '" + line + "'").c_str(), "r");
  if (pipe == nullptr) return outcome;
  char chunk[4096];
  for (size_t got; (got = fread(chunk, 1, sizeof(chunk), pipe)) > 0;) outcome.output.append(chunk, got);
  const int status = pclose(pipe);
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

class Mutant : public testing::TestWithParam<Line> {};

TEST_P(Mutant, is_caught) {
  const Line& line = GetParam();
  const char* const what = what_is_broken(line.mutant);
  ASSERT_NE(what, nullptr) << "tests/mutants/mutants.list: no mutant '" << line.mutant << "' in lib/base/mutants.def";
  const Outcome without = run("", line.command);
  EXPECT_EQ(without.code, 0) << "fails without the mutant: " << line.command << "\n" << without.output;
  const Outcome with = run("ANYGIN_MUTANT=" + line.mutant, line.command);
  EXPECT_NE(with.code, 0) << "does not notice that " << what << ": " << line.command << "\n" << with.output;
  EXPECT_NE(with.code, 2) << "usage error, not a finding: " << line.command << "\n" << with.output;
  EXPECT_NE(with.code, 127) << "no such program: " << line.command << "\n" << with.output;
}

INSTANTIATE_TEST_SUITE_P(all, Mutant, testing::ValuesIn(read_list()), [](const auto& instance) {
  const Line& line = instance.param;
  return line.ordinal == 1 ? line.mutant : line.mutant + "_" + std::to_string(line.ordinal);
});

TEST(MutantsList, has_a_line_for_every_mutant) {
  const std::vector<Line> lines = read_list();
  for (const Site& site : kSites) {
    EXPECT_TRUE(std::any_of(lines.begin(), lines.end(), [&](const Line& line) { return line.mutant == site.name; }))
        << "tests/mutants/mutants.list names no test for " << site.name << ": " << site.what;
  }
}

}  // namespace
}  // namespace anygin
