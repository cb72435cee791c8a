// SPDX-License-Identifier: Apache-2.0
// Comparing sets of outcomes with what a file says.
#include "anygin/sim/litmus/litmus_program.h"

#include <fmt/format.h>

#include <algorithm>

namespace anygin::litmus {
namespace {

std::string text_of(uint64_t value) {
  return value < 100'000 ? fmt::format("{}", value) : fmt::format("{:#x}", value);
}

// Every combination of the pattern's values; it names every register.
void expand(const Pattern& pattern, size_t at, Outcome& outcome, std::set<Outcome>& out) {
  if (at == pattern.size()) {
    out.insert(outcome);
    return;
  }
  for (const uint64_t value : pattern[at].values) {
    outcome[pattern[at].reg] = value;
    expand(pattern, at + 1, outcome, out);
  }
}

bool speaks_of(const Statement& statement, Profile profile) {
  return statement.profiles[static_cast<int>(profile)];
}

class Judge {
 public:
  Judge(const Program& program, Profile profile, const std::set<Outcome>& seen, bool complete)
      : program_(program), profile_(profile), seen_(seen), complete_(complete) {}

  void allowed_or_forbidden(const Statement& statement) {
    const auto found = std::find_if(seen_.begin(), seen_.end(),
                                    [&](const Outcome& outcome) { return matches(statement.pattern, outcome); });
    if (statement.verdict == Verdict::kForbidden && found != seen_.end()) {
      say(statement.line, fmt::format("forbidden, but possible: {}", describe(program_, *found)));
    }
    if (statement.verdict == Verdict::kAllowed && found == seen_.end() && complete_) {
      say(statement.line, "allowed, but no outcome is like this");
    }
  }

  void exactly() {
    std::set<Outcome> listed;
    int line = 0;
    for (const Statement& statement : program_.statements) {
      if (statement.verdict != Verdict::kExactly || !speaks_of(statement, profile_)) continue;
      if (line == 0) line = statement.line;
      Outcome outcome(program_.registers.size());
      expand(statement.pattern, 0, outcome, listed);
    }
    if (line == 0) return;
    for (const Outcome& outcome : seen_) {
      if (listed.count(outcome) == 0)
        say(line, fmt::format("possible, but not listed: {}", describe(program_, outcome)));
    }
    for (const Outcome& outcome : listed) {
      if (complete_ && seen_.count(outcome) == 0) {
        say(line, fmt::format("listed, but impossible: {}", describe(program_, outcome)));
      }
    }
  }

  std::vector<std::string> said;

 private:
  void say(int line, const std::string& what) {
    said.push_back(fmt::format("{}:{}: {}: {}", program_.file, line, name_of(profile_), what));
  }

  const Program& program_;
  const Profile profile_;
  const std::set<Outcome>& seen_;
  const bool complete_;
};

}  // namespace

std::string describe(const Program& program, const Outcome& outcome) {
  if (outcome.empty()) return "finishes";
  std::string text;
  for (size_t i = 0; i < outcome.size(); ++i) {
    text += fmt::format("{}{}={}", i == 0 ? "" : " ", program.registers[i], text_of(outcome[i]));
  }
  return text;
}

bool matches(const Pattern& pattern, const Outcome& outcome) {
  return std::all_of(pattern.begin(), pattern.end(), [&](const Field& field) {
    return std::find(field.values.begin(), field.values.end(), outcome[field.reg]) != field.values.end();
  });
}

std::vector<std::string> disagreements(const Program& program, Profile profile, const std::set<Outcome>& outcomes,
                                       bool complete) {
  Judge judge(program, profile, outcomes, complete);
  judge.exactly();
  for (const Statement& statement : program.statements) {
    if (statement.verdict != Verdict::kExactly && speaks_of(statement, profile)) judge.allowed_or_forbidden(statement);
  }
  return judge.said;
}

}  // namespace anygin::litmus
