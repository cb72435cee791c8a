// SPDX-License-Identifier: Apache-2.0
// What is refused on the cpu target, and how it shows: each file of refused/ says in its head what it uses and what the
// user sees, at which stage. docs/cuda-on-cpu.md lists exactly these.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "compile/command_runner.h"

namespace anygin {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

struct Refused {
  std::string name;
  std::string what;   // as docs/cuda-on-cpu.md calls it
  std::string stage;  // Compiler, Compiler with -option, Program
  std::string sees;   // a regular expression
};

void PrintTo(const Refused& refused, std::ostream* out) {
  *out << refused.name;
}

Refused read_refused(const fs::path& path) {
  static const std::regex head("// SPDX[^\n]*\n// Refused: ([^\n]*)\n// (Compiler[^:]*|Program): ([^\n]*)\n[\\s\\S]*");
  const std::string text = text_of(path);
  std::smatch match;
  if (!std::regex_match(text, match, head)) return {path.stem(), "", "", ""};
  return {path.stem(), match[1], match[2], match[3]};
}

std::vector<Refused> all_refused() {
  std::vector<Refused> all;
  for (const auto& entry : fs::directory_iterator(ANYGIN_REFUSED)) all.push_back(read_refused(entry.path()));
  std::sort(all.begin(), all.end(), [](const Refused& a, const Refused& b) { return a.name < b.name; });
  return all;
}

class RefusedFeature : public ::testing::TestWithParam<Refused> {};

TEST_P(RefusedFeature, says_so) {
  const Refused& refused = GetParam();
  ASSERT_NE(refused.sees, "") << "the head of the file names what is refused, the stage and what the user sees";
  const fs::path source = fs::path(ANYGIN_REFUSED) / (refused.name + ".cu");
  const fs::path program =
      fs::path(::testing::TempDir()) / ("refused_" + refused.name + "_" + std::to_string(getpid()));
  const size_t option = refused.stage.find(" -");
  const std::string more = option == std::string::npos ? "" : refused.stage.substr(option);
  CommandResult run = run_command(std::string(ANYGIN_BIN) + "/nvcc -o " + program.string() + more + " " +
                                  source.string() + " -lcuda -lnvrtc");
  const bool compiles = refused.stage == "Program";
  EXPECT_EQ(run.code == 0, compiles) << run.output;
  if (compiles && run.code == 0) run = run_command(program.string());
  EXPECT_TRUE(std::regex_search(run.output, std::regex(refused.sees))) << run.output;
  fs::remove(program);
}

INSTANTIATE_TEST_SUITE_P(All, RefusedFeature, ::testing::ValuesIn(all_refused()),
                         [](const auto& one) { return one.param.name; });

// The table's first column.
TEST(RefusedFeatures, are_those_that_the_documentation_lists) {
  std::vector<std::string> listed, tested;
  const std::string text = text_of(ANYGIN_DOCUMENT);
  const size_t begin = text.find("\n## Refused"), end = text.find("\n## ", begin + 1);
  ASSERT_NE(begin, std::string::npos);
  const std::string section = text.substr(begin, end - begin);
  static const std::regex row("\n\\| ([^|\n]*) \\| (?!what)[^|\n]* \\|");
  for (std::sregex_iterator at(section.begin(), section.end(), row), last; at != last; ++at) {
    if ((*at)[1] != "---" && (*at)[1] != "what") listed.push_back((*at)[1]);
  }
  for (const Refused& refused : all_refused()) tested.push_back(refused.what);
  std::sort(listed.begin(), listed.end());
  std::sort(tested.begin(), tested.end());
  EXPECT_EQ(listed, tested);
}

}  // namespace
}  // namespace anygin
