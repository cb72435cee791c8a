// SPDX-License-Identifier: Apache-2.0
#include "conformance_arms.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "info_command.h"

namespace anygin::tools {
namespace {

namespace fs = std::filesystem;
#if defined(ANYGIN_RANKS_SHARE_GPU)
constexpr bool kSimulates = false;
constexpr const char* kTarget = "cuda";
#else
constexpr bool kSimulates = true;
constexpr const char* kTarget = "cpu";
#endif
constexpr double kDirectLimit = 30, kSimulatedLimit = 60;

bool applies(const ArmRule& rule, const ConformanceCase& one, const Arm& arm) {
  return std::regex_search(one.name, std::regex(rule.cases)) && std::regex_search(arm.name, std::regex(rule.arms));
}

std::vector<std::string> programs() {
  std::vector<std::string> paths;
  std::error_code none;
  for (const fs::directory_entry& entry : fs::directory_iterator(conformance_folder(), none)) {
    const std::string name = entry.path().filename();
    if (name.rfind("conformance_", 0) == 0 && name.find('.') == std::string::npos) paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace

std::string conformance_folder() {
  return own_prefix() + "/libexec/anygin/conformance";
}

std::vector<Arm> all_arms() {
  std::vector<Arm> arms;
  for (const char* profile : {"inorder", "cx7", "relaxed", "srd"}) {
    for (const bool processes : {false, true}) {
      arms.push_back({fmt::format("{}/proxy/emu/direct/{}/{}", kTarget, profile, processes ? "procs" : "threads"),
                      profile, false, processes});
    }
  }
  for (const char* profile : {"inorder", "cx7", "relaxed", "srd"}) {
    if (kSimulates)
      arms.push_back({fmt::format("{}/proxy/emu/sim/{}/threads", kTarget, profile), profile, true, false});
  }
  return arms;
}

std::vector<ConformanceCase> all_cases() {
  const std::vector<std::string> paths = programs();
  std::vector<Task> tasks;
  for (const std::string& path : paths) tasks.push_back({{path}, {}});
  std::vector<std::string> lists(paths.size());
  run_tasks(tasks, 1, [&](size_t index, const TaskEnd& end) {
    if (end.exit_code == 0) lists[index] = end.output;
    if (end.exit_code != 0)
      fmt::print(stderr, "anygin conformance: {}: exit code {}: {}\n", paths[index], end.exit_code, end.output);
  });
  std::vector<ConformanceCase> cases;
  for (size_t i = 0; i < paths.size(); ++i) {
    std::istringstream lines(lists[i]);
    for (std::string name; std::getline(lines, name);) cases.push_back({paths[i], name});
  }
  return cases;
}

std::vector<ArmRule> arm_rules() {
  static const std::regex kRule(R"(^(\S+) +(\S+) +(skip|check) +(.*)$)");
  std::vector<ArmRule> rules;
  std::ifstream list(conformance_folder() + "/arms.list");
  for (std::string line; std::getline(list, line);) {
    std::smatch match;
    if (line.rfind('#', 0) == 0 || !std::regex_match(line, match, kRule)) continue;
    rules.push_back({match[1], match[2], match[3] == "skip", match[4]});
  }
  return rules;
}

std::string why_not(const ConformanceCase& one, const Arm& arm, const std::vector<ArmRule>& rules) {
  for (const ArmRule& rule : rules) {
    if (rule.skips && applies(rule, one, arm)) return rule.text;
  }
  return "";
}

Task task_of(const ConformanceCase& one, const Arm& arm, const std::vector<ArmRule>& rules, uint64_t seed) {
  if (!arm.simulated) {
    Task task{{one.program}, {"ANYGIN_PROFILE=" + arm.profile, fmt::format("ANYGIN_SEED={}", seed)}, kDirectLimit};
    if (arm.processes) task.command.emplace_back("--procs");
    task.command.push_back(one.name);
    return task;
  }
  Task task{{own_prefix() + "/bin/anygin", "check", "--profile", arm.profile, "--timeout", "30", "--no-minimise",
             "--seed", std::to_string(seed)},
            {},
            kSimulatedLimit};
  bool counted = false;
  for (const ArmRule& rule : rules) {
    if (rule.skips || !applies(rule, one, arm)) continue;
    std::istringstream words(rule.text);
    for (std::string word; words >> word;) {
      counted |= word == "--seeds";
      task.command.push_back(word);
    }
  }
  if (!counted) task.command.insert(task.command.end(), {"--seeds", "3"});
  task.command.insert(task.command.end(), {"--", one.program, one.name});
  return task;
}

}  // namespace anygin::tools
