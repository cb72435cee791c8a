// SPDX-License-Identifier: Apache-2.0
#include "litmus_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>

#include "anygin/base/choices_seeded.h"
#include "anygin/sim/litmus/litmus_parser.h"
#include "anygin/sim/litmus/tabular_explore.h"
#include "run_command.h"

namespace anygin::tools {
namespace {

namespace fs = std::filesystem;
using litmus::Outcome;
using litmus::Program;

constexpr int kExitFinding = 1;
constexpr int kExitHang = 4;

// Files of folders, in the order of their names.
std::vector<std::string> all_files(const std::vector<std::string>& named) {
  std::vector<std::string> files;
  for (const std::string& name : named) {
    if (!fs::is_directory(name)) {
      files.push_back(name);
      continue;
    }
    const size_t first = files.size();
    for (const fs::directory_entry& entry : fs::directory_iterator(name)) {
      if (entry.path().extension() == ".litmus") files.push_back(entry.path().string());
    }
    std::sort(files.begin() + static_cast<ptrdiff_t>(first), files.end());
  }
  return files;
}

class Report {
 public:
  Report(const LitmusRequest& request, const Program& program, Profile profile)
      : request_(request), program_(program), profile_(profile) {}

  int every_way() {
    litmus::ExploreOptions options;
    if (!request_.why.empty()) {
      Result<litmus::Pattern> pattern = litmus::parse_pattern(program_, request_.why);
      if (!pattern.ok()) return usage(pattern.status());
      options.find = *pattern;
    }
    const litmus::Exploration found = litmus::explore(program_, profile_, options);
    line(found.outcomes, found.hang, found.complete,
         fmt::format("{} states{}", found.states, found.complete ? "" : ", and more"));
    if (options.find) explain(found);
    return verdict_;
  }

  int random() {
    const litmus::TabularMachine machine(program_, profile_);
    litmus::TabularRunner runner(machine);
    std::set<Outcome> outcomes;
    std::string hang;
    const auto start = std::chrono::steady_clock::now();
    for (uint64_t run = 0; run < request_.runs && hang.empty(); ++run) {
      SeededChoices choices(request_.seed + run);
      if (runner.run(choices)) {
        outcomes.insert(runner.outcome());
      } else {
        hang = fmt::format("seed {}: {}", request_.seed + run, machine.describe_hang(runner.state()));
      }
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    line(outcomes, hang, false,
         fmt::format("{} runs, {:.0f} a second", request_.runs, double(request_.runs) / took.count()));
    return verdict_;
  }

 private:
  void line(const std::set<Outcome>& outcomes, const std::string& hang, bool complete, const std::string& effort) {
    std::vector<std::string> findings = litmus::disagreements(program_, profile_, outcomes, complete);
    if (!findings.empty()) verdict_ = kExitFinding;
    if (!hang.empty()) {
      findings.push_back(fmt::format("{}: {}: hangs: {}", program_.file, name_of(profile_), hang));
      verdict_ = kExitHang;
    }
    fmt::print("{:<7} {:<48} {:<8} {} outcomes, {}{}\n", findings.empty() ? "agrees" : "DIFFERS", program_.name,
               name_of(profile_), outcomes.size(), effort, program_.race.empty() ? "" : "  (race)");
    for (const std::string& finding : findings) fmt::print("        {}\n", finding);
  }
  void explain(const litmus::Exploration& found) {
    if (found.path.empty()) fmt::print("        no outcome is like '{}'\n", request_.why);
    for (const std::string& step : found.path) fmt::print("        {}\n", step);
  }
  static int usage(const Status& status) {
    fmt::print(stderr, "anygin {}\n", status.message());
    return kExitUsage;
  }

  const LitmusRequest& request_;
  const Program& program_;
  const Profile profile_;
  int verdict_ = 0;
};

bool wanted(const LitmusRequest& request, Profile profile) {
  return request.profiles.empty() ||
         std::find(request.profiles.begin(), request.profiles.end(), name_of(profile)) != request.profiles.end();
}

}  // namespace

const char* const kLitmusHelp =
    R"(A litmus program is a few puts, signals, waits and loads, and the outcomes that are possible: docs/litmus.md.
  anygin litmus tests/litmus                             every way through every file, all profiles
  anygin litmus P1.litmus --profile relaxed              one profile
  anygin litmus F1.litmus --profile relaxed --why d0=0   the shortest way to an outcome
  anygin litmus F1.litmus --runs 1000000 --seed 7        random ways, a seed each, from 7 on
A file says 'exactly', 'allowed' and 'forbidden' for the profiles; a difference is printed with file and line.
Random runs cannot show that something is impossible: they only look for what must not be.)";

int run_litmus(const LitmusRequest& request) {
  int worst = 0;
  for (const std::string& file : all_files(request.files)) {
    Result<Program> program = litmus::read_litmus(file);
    if (!program.ok()) {
      fmt::print(stderr, "anygin {}\n", program.status().message());
      return kExitUsage;
    }
    for (int p = 0; p < litmus::kProfiles; ++p) {
      const auto profile = static_cast<Profile>(p);
      if (!wanted(request, profile)) continue;
      Report report(request, *program, profile);
      worst = std::max(worst, request.runs > 0 ? report.random() : report.every_way());
    }
  }
  return worst;
}

}  // namespace anygin::tools
