// SPDX-License-Identifier: Apache-2.0
// Communicators made of the ranks of another one (docs/decisions/0030): over the parent's control plane the ranks find
// out who takes part and where they meet; then each joins the child as it would join any communicator.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "anygin/comm/communicator.h"

namespace anygin::comm {

struct SplitWish {
  int color = 0;  // negative: takes part in the call and in no child
  int key = 0;
};
// Collective over all ranks of `parent`. How to join the child of this rank's color, ranks ordered by key, then by
// their rank in the parent; nothing without a color. Works on a communicator that every rank has revoked.
Result<std::optional<CommunicatorOpening>> plan_split(Communicator& parent, const SplitWish& wish);

// Collective over all ranks of `parent` but `excluded` (ascending, this rank not among them), which may be dead. They
// keep their order. `parent` may have ended.
Result<std::optional<CommunicatorOpening>> plan_shrink(Communicator& parent, const std::vector<Rank>& excluded);

struct GrowWish {
  int size = 0;                // of the child
  std::optional<UniqueId> id;  // where all meet; at least one rank has it
};
// Collective over all ranks of `parent`, which keep their ranks.
Result<std::optional<CommunicatorOpening>> plan_grow(Communicator& parent, const GrowWish& wish);

// A place for a communicator to meet, served by this process whatever NCCL_COMM_ID says.
Result<UniqueId> open_own_place();

}  // namespace anygin::comm
