// SPDX-License-Identifier: Apache-2.0
#include "minimise.h"

#include <algorithm>

namespace anygin::tools {
namespace {

using sim::ChoiceRecord;

std::vector<size_t> deviating(const std::vector<ChoiceRecord>& choices) {
  std::vector<size_t> places;
  for (size_t i = 0; i < choices.size(); ++i) {
    if (!choices[i].canonical) places.push_back(i);
  }
  return places;
}

// With the deviations at places[from, to) put back.
std::vector<ChoiceRecord> put_back(std::vector<ChoiceRecord> choices, const std::vector<size_t>& places, size_t from,
                                   size_t to) {
  for (size_t i = from; i < to; ++i) choices[places[i]].canonical = true;
  return choices;
}

}  // namespace

size_t deviations_in(const std::vector<ChoiceRecord>& choices) {
  return deviating(choices).size();
}

std::vector<ChoiceRecord> minimise(std::vector<ChoiceRecord> choices, const StillFails& still_fails, size_t runs_max) {
  size_t runs = 0;
  const auto fails = [&](const std::vector<ChoiceRecord>& candidate) {
    return runs < runs_max && ++runs != 0 && still_fails(candidate);
  };
  // Spans of half of what deviates, then quarters, down to single choices; from the end, as late choices matter least.
  for (size_t parts = 1; runs < runs_max;) {
    std::vector<size_t> places = deviating(choices);
    if (places.empty()) break;
    parts = std::min(parts, places.size());
    bool any = false;
    for (size_t part = parts; part-- > 0 && runs < runs_max;) {
      const size_t from = places.size() * part / parts, to = places.size() * (part + 1) / parts;
      std::vector<ChoiceRecord> candidate = put_back(choices, places, from, to);
      if (!fails(candidate)) continue;
      choices = std::move(candidate);
      any = true;
    }
    if (parts >= places.size() && !any) break;
    if (!any || parts == 1) parts *= 2;
  }
  return choices;
}

}  // namespace anygin::tools
