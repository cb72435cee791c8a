// SPDX-License-Identifier: Apache-2.0
#include "anygin/sim/strategy.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace anygin::sim {

Result<StrategyChoice> parse_strategy(std::string_view text) {
  StrategyChoice choice;
  if (text == "canonical") {
    choice.kind = StrategyChoice::Kind::kCanonical;
    return choice;
  }
  if (text == "random") return choice;
  if (text.substr(0, 3) == "pct") {
    choice.kind = StrategyChoice::Kind::kPct;
    if (text == "pct") return choice;
    const std::string_view depth = text.substr(std::min<size_t>(4, text.size()));
    const auto [end, error] = std::from_chars(depth.data(), depth.data() + depth.size(), choice.depth);
    const bool whole = error == std::errc() && end == depth.data() + depth.size();
    if (text[3] == ':' && whole && choice.depth >= 1 && choice.depth <= 100) return choice;
  }
  return Status(Cause::kEnvironment, "strategy",
                fmt::format("'{}'; canonical, random, pct or pct:DEPTH (1 to 100) would be right", text));
}

std::string describe(const StrategyChoice& choice) {
  switch (choice.kind) {
    case StrategyChoice::Kind::kCanonical:
      return "canonical";
    case StrategyChoice::Kind::kRandom:
      return "random";
    case StrategyChoice::Kind::kPct:
      break;
  }
  return fmt::format("pct:{}", choice.depth);
}

std::unique_ptr<Strategy> make_strategy(const StrategyChoice& choice, uint64_t seed) {
  switch (choice.kind) {
    case StrategyChoice::Kind::kCanonical:
      return std::make_unique<CanonicalStrategy>();
    case StrategyChoice::Kind::kRandom:
      return std::make_unique<RandomStrategy>(seed);
    case StrategyChoice::Kind::kPct:
      break;
  }
  return std::make_unique<PctStrategy>(seed, choice.depth, choice.expected_steps);
}

namespace {

// Priorities of actors that have not fallen lie above this.
constexpr uint64_t kFallen = uint64_t{1} << 32;

}  // namespace

PctStrategy::PctStrategy(uint64_t seed, uint32_t depth, uint64_t expected_steps)
    : draws_(seed), seed_(seed), lowest_(kFallen) {
  for (uint32_t i = 1; i < depth; ++i) {
    falls_.push_back(draws_.pick_below(ChoiceKind::kEngineOrder, std::max<uint64_t>(1, expected_steps)));
  }
  std::sort(falls_.begin(), falls_.end());
}

uint64_t PctStrategy::priority_of(uint64_t actor) {
  const auto found = priorities_.find(actor);
  if (found != priorities_.end()) return found->second;
  const uint64_t priority = mix_bits(seed_ ^ mix_bits(actor)) | kFallen << 1;
  priorities_.emplace(actor, priority);
  return priority;
}

size_t PctStrategy::step(const std::vector<StepOption>& options) {
  const auto highest = [&] {
    size_t best = 0;
    for (size_t i = 1; i < options.size(); ++i) {
      if (priority_of(options[i].actor) > priority_of(options[best].actor)) best = i;
    }
    return best;
  };
  size_t chosen = highest();
  const bool falls = !falls_.empty() && falls_.front() <= steps_;
  const bool too_long = options[chosen].actor == last_actor_ && in_a_row_ >= kPatience;
  if (falls || too_long) {
    if (falls) falls_.erase(falls_.begin());
    priorities_[options[chosen].actor] = --lowest_;
    chosen = highest();
  }
  ++steps_;
  in_a_row_ = options[chosen].actor == last_actor_ ? in_a_row_ + 1 : 1;
  last_actor_ = options[chosen].actor;
  return chosen;
}

}  // namespace anygin::sim
