// SPDX-License-Identifier: Apache-2.0
// The only door to nondeterminism (docs/decisions/0001): whoever has several legal ways to go on asks here.
// Two draws never stand in one full expression: evaluation order would decide which comes first.
#pragma once

#include <cstddef>
#include <cstdint>

#include "anygin/base/array_view.h"
#include "anygin/base/ids.h"

namespace anygin {

// What is being chosen; a random stream each, so that adding a draw to one does not shift the others.
enum class ChoiceKind : uint8_t { kEngineOrder, kLaneOrder, kSourceRead, kGranules, kOverlap, kDelay, kFault, kKinds };

// One way to go on. Recorded by name, so that a trace survives small edits of the code.
struct ChoiceOption {
  uint64_t name = 0;    // stable: an operation's id, a granule's offset
  MemName footprint{};  // what the option reads or writes, if it is one range
  uint64_t bytes = 0;
};

class ChoiceSource {
 public:
  virtual ~ChoiceSource() = default;
  // Index of the option taken. `options` is not empty. Called by the holder of an engine's owner token.
  virtual size_t pick(ChoiceKind kind, ArrayView<const ChoiceOption> options) = 0;
  // A number in [0, count), for choices too many to list (a granule of a megabyte). count > 0.
  virtual uint64_t pick_below(ChoiceKind kind, uint64_t count) = 0;
};

}  // namespace anygin
