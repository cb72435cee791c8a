// SPDX-License-Identifier: Apache-2.0
// `anygin conformance --mutants`: each deliberate fault that a conformance case is listed for, switched on.
#include <fmt/format.h>

#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "conformance_arms.h"
#include "conformance_command.h"
#include "run_command.h"

namespace anygin::tools {
namespace {

#if defined(ANYGIN_MUTANTS)
constexpr bool kHasFaults = true;
#else
constexpr bool kHasFaults = false;
#endif
constexpr double kLimit = 12;  // a fault may well hang

// "name: [VARIABLE=value...] conformance/conformance_x [--procs] CASE"
struct Line {
  std::string mutant, text;
  Task task;
};

// Lines of other kinds of tests are counted in `others`.
std::vector<Line> read_lines(std::map<std::string, int>* others) {
  static const std::regex kLine(R"(^(\w+): ((?:\w+=\S+ )*)conformance/(conformance_\w+)((?: \S+)+)$)"),
      kOther(R"(^(\w+): )");
  std::vector<Line> lines;
  std::ifstream list(conformance_folder() + "/mutants.list");
  for (std::string text; std::getline(list, text);) {
    std::smatch match;
    if (!std::regex_match(text, match, kLine)) {
      if (std::regex_search(text, match, kOther)) ++(*others)[match[1]];
      continue;
    }
    Line line{match[1], text, {{conformance_folder() + "/" + match[3].str()}, {}, kLimit}};
    std::istringstream variables(match[2]), arguments(match[4]);
    for (std::string word; variables >> word;) line.task.environment.push_back(word);
    for (std::string word; arguments >> word;) line.task.command.push_back(word);
    lines.push_back(line);
  }
  return lines;
}

}  // namespace

int run_conformance_mutants(const ConformanceRequest& request) {
  if (!kHasFaults) {
    fmt::print(
        stderr,
        "anygin conformance: --mutants: the library here has no deliberate faults; build one with them, `./dev build "
        "--preset mutants`, and use build/mutants/prefix/cpu/bin/anygin\n");
    return kExitEnvironment;
  }
  std::map<std::string, int> others;
  std::vector<Line> lines = read_lines(&others);
  std::erase_if(lines, [&](const Line& line) { return !matches_case(request.cases, line.task.command.back()); });
  std::vector<Task> tasks;
  for (const Line& line : lines) {
    tasks.push_back(line.task);
    tasks.push_back(line.task);
    tasks.back().environment.push_back("ANYGIN_MUTANT=" + line.mutant);
  }
  std::vector<int> codes(tasks.size(), -1);
  run_tasks(tasks, request.jobs > 0 ? request.jobs : 2,
            [&](size_t index, const TaskEnd& end) { codes[index] = end.exit_code; });
  int caught = 0;
  for (size_t i = 0; i < lines.size(); ++i) {
    const bool sound = codes[2 * i] == 0,
               noticed = codes[2 * i + 1] != 0 && codes[2 * i + 1] != kExitUsage && codes[2 * i + 1] != 127;
    caught += sound && noticed;
    others.erase(lines[i].mutant);
    if (!sound) {
      fmt::print("{}: {}\n", codes[2 * i] == 127 ? "NOT BUILT" : "FAILED without the fault", lines[i].text);
    }
    if (sound && !noticed) fmt::print("NOT CAUGHT: {}\n", lines[i].text);
  }
  fmt::print("{} of {} caught; {} faults more are for unit, model and litmus tests: ctest -L mutants\n", caught,
             lines.size(), others.size());
  return static_cast<size_t>(caught) == lines.size() && !lines.empty() ? 0 : 1;
}

}  // namespace anygin::tools
