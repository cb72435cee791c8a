// SPDX-License-Identifier: Apache-2.0
// Who answers the choices of a run. Option 0 of a list is the canonical one; of numbers below a count the highest is:
// what asks by number treats low numbers as the exception.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "anygin/base/choices.h"
#include "anygin/base/choices_seeded.h"
#include "anygin/base/status.h"

namespace anygin::sim {

// A step that the scheduler could take next.
struct StepOption {
  uint64_t name = 0;   // of the action, stable between runs
  uint64_t actor = 0;  // who would do it: a block, a queue, a host thread
};

class Strategy {
 public:
  virtual ~Strategy() = default;
  virtual size_t step(const std::vector<StepOption>& options) = 0;
  virtual size_t pick(ChoiceKind kind, ArrayView<const ChoiceOption> options) = 0;
  virtual uint64_t below(ChoiceKind kind, uint64_t count) = 0;
};

// How a strategy is written: canonical | random | pct:<depth>.
struct StrategyChoice {
  enum class Kind : uint8_t { kCanonical, kRandom, kPct };
  Kind kind = Kind::kRandom;
  uint32_t depth = 3;              // of pct
  uint64_t expected_steps = 1000;  // of pct: how long a run is, about
};
Result<StrategyChoice> parse_strategy(std::string_view text);
std::string describe(const StrategyChoice& choice);

std::unique_ptr<Strategy> make_strategy(const StrategyChoice& choice, uint64_t seed);

class CanonicalStrategy final : public Strategy {
 public:
  size_t step(const std::vector<StepOption>&) override { return 0; }
  size_t pick(ChoiceKind, ArrayView<const ChoiceOption>) override { return 0; }
  uint64_t below(ChoiceKind, uint64_t count) override { return count - 1; }
};

// A uniform walk.
class RandomStrategy final : public Strategy {
 public:
  explicit RandomStrategy(uint64_t seed) : draws_(seed) {}
  size_t step(const std::vector<StepOption>& options) override {
    return draws_.pick_below(ChoiceKind::kEngineOrder, options.size());
  }
  size_t pick(ChoiceKind kind, ArrayView<const ChoiceOption> options) override { return draws_.pick(kind, options); }
  uint64_t below(ChoiceKind kind, uint64_t count) override { return draws_.pick_below(kind, count); }

 private:
  SeededChoices draws_;
};

// Probabilistic concurrency testing: every actor has a random priority, the highest goes; at depth-1 random steps the
// actor that would go falls below all. A fault that needs `depth` ordered events is met with probability of at least
// 1/(n k^(depth-1)) a run, for n actors and k steps. An actor that goes kPatience times in a row while others could
// falls too, so that one that polls cannot starve them; runs where that happens are outside the bound.
class PctStrategy final : public Strategy {
 public:
  static constexpr uint64_t kPatience = 256;

  PctStrategy(uint64_t seed, uint32_t depth, uint64_t expected_steps);
  size_t step(const std::vector<StepOption>& options) override;
  size_t pick(ChoiceKind kind, ArrayView<const ChoiceOption> options) override { return draws_.pick(kind, options); }
  uint64_t below(ChoiceKind kind, uint64_t count) override { return draws_.pick_below(kind, count); }

  size_t actors() const { return priorities_.size(); }

 private:
  uint64_t priority_of(uint64_t actor);

  SeededChoices draws_;
  const uint64_t seed_;
  std::map<uint64_t, uint64_t> priorities_;  // by actor; higher goes first
  std::vector<uint64_t> falls_;              // steps at which the one that would go falls, ascending
  uint64_t steps_ = 0;
  uint64_t lowest_;  // the next priority below all others
  uint64_t last_actor_ = 0;
  uint64_t in_a_row_ = 0;
};

}  // namespace anygin::sim
