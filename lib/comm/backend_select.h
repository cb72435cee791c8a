// SPDX-License-Identifier: Apache-2.0
// Which backend carries a communicator's one-sided operations, and why not another.
#pragma once

#include <memory>
#include <string>

#include "anygin/backends/backend.h"
#include "anygin/base/options.h"

namespace anygin::comm {

enum class GinKind : uint8_t { kNone, kProxy };

struct GinChoice {
  GinKind kind = GinKind::kNone;
  std::string why_none;  // when there is none: what is in the way, and what would be right
};

// Pure: the same options give the same choice on every rank.
GinChoice choose_gin(const Options& options);

// Collective. kInternalError if NCCL_GIN_ENABLE is 0.
Result<std::unique_ptr<Backend>> open_gin(const GinChoice& choice, const BackendOpening& opening);

}  // namespace anygin::comm
