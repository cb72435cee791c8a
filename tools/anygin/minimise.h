// SPDX-License-Identifier: Apache-2.0
// Makes a failing run simpler: choices that deviate from the canonical ones are put back, span by span, as long as the
// program still fails in the same way. The outcome is 1-minimal for the spans tried, not minimal.
#pragma once

#include <functional>
#include <vector>

#include "anygin/sim/choice_trace.h"

namespace anygin::tools {

// Does a tolerant replay of these choices fail in the same way?
using StillFails = std::function<bool(const std::vector<sim::ChoiceRecord>&)>;

// At most `runs_max` calls of `still_fails`.
std::vector<sim::ChoiceRecord> minimise(std::vector<sim::ChoiceRecord> choices, const StillFails& still_fails,
                                        size_t runs_max);
size_t deviations_in(const std::vector<sim::ChoiceRecord>& choices);

}  // namespace anygin::tools
