// SPDX-License-Identifier: Apache-2.0
// The choice source of the simulated world: asks the strategy, or repeats a trace; writes down what was chosen.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "anygin/base/choices.h"
#include "anygin/sim/choice_trace.h"
#include "anygin/sim/digest.h"
#include "anygin/sim/strategy.h"

namespace anygin::sim {

enum class ReplayMode : uint8_t {
  kStrict,    // the run must offer what the trace names, in its order; the first difference stops the run
  kTolerant,  // what is not offered is passed over; the canonical answer takes its place
};

class SimChoices final : public ChoiceSource {
 public:
  explicit SimChoices(std::unique_ptr<Strategy> strategy) : strategy_(std::move(strategy)) {}
  // Repeats `trace`; after its end, and where it does not fit, the answers are canonical.
  SimChoices(ChoiceTrace trace, ReplayMode mode);

  size_t pick(ChoiceKind kind, ArrayView<const ChoiceOption> options) override;
  uint64_t pick_below(ChoiceKind kind, uint64_t count) override;
  // The scheduler's own choice. options[0] is the canonical one.
  size_t pick_step(const std::vector<StepOption>& options);

  // What was chosen, without choices that left no choice.
  const std::vector<ChoiceRecord>& chosen() const { return chosen_; }
  const Digest& digest() const { return digest_; }
  // Strict replay: set at the first difference, and names it.
  const std::optional<std::string>& divergence() const { return divergence_; }
  size_t deviations() const { return deviations_; }  // from the canonical answers

 private:
  using Kind = ChoiceKind;
  bool replaying() const { return mode_.has_value(); }
  // The record that answers the next choice of this kind; null if there is none. `fits` says whether it can.
  template <typename Fits>
  const ChoiceRecord* next_record(Kind kind, bool numbered, const Fits& fits);
  void note(const ChoiceRecord& record);

  std::unique_ptr<Strategy> strategy_;
  std::optional<ReplayMode> mode_;
  // Strict: one sequence. Tolerant: one a kind, so that one that does not fit shifts only its own kind.
  std::vector<ChoiceRecord> sequence_;
  std::array<std::vector<size_t>, static_cast<size_t>(Kind::kKinds)> by_kind_;
  std::array<size_t, static_cast<size_t>(Kind::kKinds)> place_of_kind_{};
  size_t place_ = 0;

  std::vector<ChoiceRecord> chosen_;
  Digest digest_;
  size_t deviations_ = 0;
  std::optional<std::string> divergence_;
};

}  // namespace anygin::sim
