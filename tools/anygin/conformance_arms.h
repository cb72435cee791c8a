// SPDX-License-Identifier: Apache-2.0
// What there is to run: the cases of the installed conformance programs, the arms of this prefix, and what arms.list
// says of a case on an arm.
#pragma once

#include <string>
#include <vector>

#include "task_runner.h"

namespace anygin::tools {

struct ConformanceCase {
  std::string program, name;
  // The lines that it shows, by its name: "P5" and "P6" of P5_P6_a_put, "M6·R" of M6_R_offset, "scenario O1", else its
  // first word.
  std::vector<std::string> lines() const;
};

struct Arm {
  std::string name;  // cpu/proxy/emu/direct/relaxed/procs
  std::string profile;
  bool simulated = false, processes = false;
};

struct ArmRule {
  std::string cases, arms;  // regular expressions
  bool skips = false;
  std::string text;  // the reason, or options of `anygin check`
};

// Where the programs are: <prefix>/libexec/anygin/conformance.
std::string conformance_folder();
std::vector<Arm> all_arms();
// By asking each program; empty if there is none.
std::vector<ConformanceCase> all_cases();
// Of arms.list beside the programs.
std::vector<ArmRule> arm_rules();

// Why the case does not run on the arm; empty: it does.
std::string why_not(const ConformanceCase& one, const Arm& arm, const std::vector<ArmRule>& rules);
// How it runs.
Task task_of(const ConformanceCase& one, const Arm& arm, const std::vector<ArmRule>& rules, uint64_t seed);

}  // namespace anygin::tools
