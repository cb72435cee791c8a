// SPDX-License-Identifier: Apache-2.0
#include "litmus_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <map>

#include "anygin/base/choices_seeded.h"
#include "anygin/sim/litmus/litmus_parser.h"
#include "anygin/sim/litmus/stack_runner.h"
#include "anygin/sim/litmus/tabular_explore.h"
#include "run_command.h"

namespace anygin::tools {
namespace {

namespace fs = std::filesystem;
using litmus::Outcome;
using litmus::Program;

constexpr int kExitFinding = 1;
constexpr int kExitHang = 4;
constexpr uint64_t kStackRuns = 20'000;

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
    return runs(request_.runs, [&](uint64_t seed, Outcome* outcome) {
      SeededChoices choices(seed);
      if (!runner.run(choices)) return machine.describe_hang(runner.state());
      *outcome = runner.outcome();
      return std::string();
    });
  }

  // What the stack did must be among what the tabular form may do.
  int stack() {
    Result<std::unique_ptr<litmus::StackRunner>> runner = litmus::StackRunner::create(program_.ranks, profile_);
    if (!runner.ok()) return usage(runner.status());
    return runs(request_.runs > 0 ? request_.runs : kStackRuns, [&](uint64_t seed, Outcome* outcome) {
      if ((*runner)->run(program_, seed) != litmus::StackRunner::End::kFinished) return (*runner)->why();
      *outcome = (*runner)->outcome();
      return std::string();
    });
  }

 private:
  // `run` fills the outcome, or says why there is none.
  template <typename Run>
  int runs(uint64_t count, const Run& run) {
    std::map<Outcome, uint64_t> seeds;  // the first seed of each
    std::string hang;
    const std::clock_t start = std::clock();  // of this processor: others may use it too
    Outcome outcome;
    for (uint64_t i = 0; i < count && hang.empty(); ++i) {
      const std::string why = run(request_.seed + i, &outcome);
      if (why.empty()) {
        seeds.emplace(outcome, request_.seed + i);
      } else {
        hang = fmt::format("seed {}: {}", request_.seed + i, why);
      }
    }
    const double took = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    std::set<Outcome> outcomes;
    for (const auto& [one, seed] : seeds) outcomes.insert(one);
    const std::set<Outcome> possible = litmus::explore(program_, profile_).outcomes;
    const double rate = static_cast<double>(count) / std::max(took, 1e-6);
    line(outcomes, hang, false, fmt::format("of {}, {} runs, {:.0f} a second and core", possible.size(), count, rate));
    if (count == 1 && hang.empty()) fmt::print("        {}\n", describe(program_, outcome));
    for (const auto& [one, seed] : seeds) {
      if (possible.count(one) > 0) continue;
      verdict_ = std::max(verdict_, kExitFinding);
      fmt::print("        outside the table, with --runs 1 --seed {}: {}\n", seed, describe(program_, one));
    }
    return verdict_;
  }

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
    fmt::print(stderr, "anygin {}\n", status.detail());
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
  anygin litmus tests/litmus --form stack                through the production stack: proxy, verbs, software HCA
A file says 'exactly', 'allowed' and 'forbidden' for the profiles; a difference is printed with file and line.
Random runs cannot show that something is impossible: they only look for what must not be.)";

int run_litmus(const LitmusRequest& request) {
  int worst = 0;
  for (const std::string& file : all_files(request.files)) {
    Result<Program> program = litmus::read_litmus(file);
    if (!program.ok()) {
      fmt::print(stderr, "anygin {}\n", program.status().detail());
      return kExitUsage;
    }
    for (int p = 0; p < litmus::kProfiles; ++p) {
      const auto profile = static_cast<Profile>(p);
      if (!wanted(request, profile)) continue;
      Report report(request, *program, profile);
      const int verdict = request.form == "stack" ? report.stack()
                          : request.runs > 0      ? report.random()
                                                  : report.every_way();
      worst = std::max(worst, verdict);
    }
  }
  return worst;
}

}  // namespace anygin::tools
