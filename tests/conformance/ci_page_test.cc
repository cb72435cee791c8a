// SPDX-License-Identifier: Apache-2.0
// docs/ci.md works as it is written: the lines of its steps, run in a folder as a checkout leaves it, with an installed
// prefix.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "compile/command_runner.h"

namespace anygin {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Step {
  std::string name, script;
};

size_t indent_of(const std::string& line) {
  return line.find_first_not_of(' ');
}

// The steps of the page's workflow that run something: "- name:" and the block below "run: |".
std::vector<Step> steps_of(const std::string& page) {
  std::vector<Step> steps;
  std::ifstream file(page);
  std::string line, name;
  size_t block = 0;  // indentation of the block's "run:"; 0: outside
  while (std::getline(file, line)) {
    if (block != 0 && (line.empty() || indent_of(line) > block)) {
      if (!line.empty()) steps.back().script += line.substr(indent_of(line)) + "\n";
      continue;
    }
    block = 0;
    if (const size_t at = line.find("- name: "); at != std::string::npos) name = line.substr(at + 8);
    if (line.find("run: |") != std::string::npos) {
      block = indent_of(line);
      steps.push_back({name, ""});
    }
  }
  return steps;
}

std::string contents(const fs::path& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

class CiPage : public ::testing::Test {
 protected:
  CiPage() : folder_(fs::path(::testing::TempDir()) / ("anygin_ci" + std::to_string(getpid()))) {
    fs::create_directories(folder_ / "anygin/build");
    fs::create_directory_symlink(ANYGIN_BUILD_DIR, folder_ / "anygin/build/release");
    for (const char* source : {"ring.cu", "common.h", "launcher.h"})
      fs::copy_file(fs::path(ANYGIN_EXAMPLES_SOURCE) / source, folder_ / source);
  }
  ~CiPage() override { fs::remove_all(folder_); }

  CommandResult run(const Step& step) const {
    const fs::path script = folder_ / "step.sh";
    std::ofstream(script) << "set -e\ncd '" << folder_.string() << "'\nexport ANYGIN=\"$PWD/anygin-prefix\"\n"
                          << step.script;
    return run_command("bash " + script.string(), 100);
  }

  const fs::path folder_;
};

TEST_F(CiPage, every_step_succeeds_and_leaves_its_reports) {
  std::vector<std::string> names;
  for (const Step& step : steps_of(ANYGIN_CI_PAGE)) {
    names.push_back(step.name);
    if (step.name == "build AnyGIN") {
      EXPECT_EQ(step.script, "cd anygin && ./dev build\n");  // it is built: this test is part of it
      continue;
    }
    const CommandResult result = run(step);
    ASSERT_EQ(result.code, 0) << step.name << ":\n" << step.script << result.output;
  }
  EXPECT_THAT(names, ElementsAre("build AnyGIN", "install AnyGIN", "compile", "run", "every order",
                                 "what the semantics promise, here"));
  EXPECT_THAT(contents(folder_ / "reports/check.xml"), HasSubstr("failures=\"0\""));
  const std::string conformance = contents(folder_ / "reports/conformance.xml");
  EXPECT_THAT(conformance, HasSubstr("failures=\"0\" skipped=\"0\""));
  EXPECT_THAT(
      conformance,
      HasSubstr(
          "<testcase classname=\"cpu/proxy/emu/sim/relaxed/threads\" name=\"P2_a_strong_signal_covers_earlier_puts\""));
}

}  // namespace
}  // namespace anygin
