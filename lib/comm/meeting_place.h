// SPDX-License-Identifier: Apache-2.0
// Ids of new communicators: with a root of this process behind them, or with NCCL_COMM_ID as the agreed place.
#pragma once

#include "anygin/base/options.h"
#include "anygin/comm/unique_id.h"

namespace anygin::comm {

// Starts a root, unless NCCL_COMM_ID names the place: then every rank that asks gets the same id. Without
// ANYGIN_COMM_TOKEN such a place is guarded by its own name only: loopback addresses only, with a warning.
Result<UniqueId> open_meeting_place(const Options& options);

// Called by every rank before it joins: rank 0 starts the root if the id says so.
Status prepare_meeting(const UniqueId& id, int rank, const Options& options);

}  // namespace anygin::comm
