// SPDX-License-Identifier: Apache-2.0
// Do the tests bite? For each mutant of base/mutants.def the command that mutants.list names passes without it and
// fails with it. Run by hand: ANYGIN_MUTANT=<name> build/mutants/<command>.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <string>

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

// "name: command", the command relative to the build folder; variables may stand in front of it.
std::map<std::string, std::string> read_list() {
  std::map<std::string, std::string> commands;
  std::ifstream stream(ANYGIN_MUTANTS_LIST);
  for (std::string line; std::getline(stream, line);) {
    const size_t colon = line.find(": ");
    if (line.empty() || line[0] == '#' || colon == std::string::npos) continue;
    commands[line.substr(0, colon)] = line.substr(colon + 2);
  }
  return commands;
}

// The command's exit code; 124 if it did not end in time. `setting` stands in front of it.
int run(const std::string& setting, const std::string& command) {
  std::string variables, program = command;
  while (program.find('=') < program.find(' ')) {  // leading NAME=value words
    variables += program.substr(0, program.find(' ') + 1);
    program.erase(0, program.find(' ') + 1);
  }
  const std::string line =
      "cd " ANYGIN_BUILD_DIR " && " + setting + " " + variables + "timeout -k 1 8 ./" + program + " >/dev/null 2>&1";
  const int status = std::system(line.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

class Mutant : public testing::TestWithParam<Site> {};

TEST_P(Mutant, is_caught) {
  const std::map<std::string, std::string> commands = read_list();
  const auto found = commands.find(GetParam().name);
  ASSERT_NE(found, commands.end()) << "tests/mutants/mutants.list names no test for '" << GetParam().what << "'";
  EXPECT_EQ(run("", found->second), 0) << "fails without the mutant: " << found->second;
  const int with = run(std::string("ANYGIN_MUTANT=") + GetParam().name, found->second);
  EXPECT_NE(with, 0) << "does not notice that " << GetParam().what << ": " << found->second;
  EXPECT_NE(with, 2) << "usage error, not a finding: " << found->second;
  EXPECT_NE(with, 127) << "no such program: " << found->second;
}

INSTANTIATE_TEST_SUITE_P(all, Mutant, testing::ValuesIn(kSites),
                         [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace anygin
