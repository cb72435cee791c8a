// SPDX-License-Identifier: Apache-2.0
// The choices of one run, by name, and the file they are kept in. A line a choice; the first line says the format, the
// second what the run was.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "anygin/base/choices.h"
#include "anygin/base/status.h"

namespace anygin::sim {

struct ChoiceRecord {
  ChoiceKind kind = ChoiceKind::kEngineOrder;
  bool numbered = false;   // a number below a count; else an option of a list
  bool canonical = false;  // the canonical answer was given
  uint64_t name = 0;       // of the option, or the number

  friend bool operator==(const ChoiceRecord&, const ChoiceRecord&) = default;
};

struct ChoiceTrace {
  std::string about;  // one line: program, seed, profile
  std::vector<ChoiceRecord> choices;
};

std::string_view name_of(ChoiceKind kind);
// "17: engine order, 3f0a…": for messages.
std::string describe(const ChoiceRecord& record);

std::string to_text(const ChoiceTrace& trace);
Result<ChoiceTrace> from_text(std::string_view text);

}  // namespace anygin::sim
