// SPDX-License-Identifier: Apache-2.0
// Small translations that both halves of a flow share.
#include "anygin/emulated/flow.h"

#include <algorithm>

#include "anygin/base/assert.h"

namespace anygin::emulated {

OrderClass order_class(WorkKind kind, bool may_pass) {
  switch (kind) {
    case WorkKind::kWrite:
      return may_pass ? OrderClass::kPut : OrderClass::kOrdered;
    case WorkKind::kFetchAdd:
      return may_pass ? OrderClass::kWeak : OrderClass::kStrong;
    case WorkKind::kRead:
      return OrderClass::kGet;
  }
  ANYGIN_ASSERT(false);
}

uint32_t access_needed(WorkKind kind) {
  switch (kind) {
    case WorkKind::kWrite:
      return kAccessRemoteWrite;
    case WorkKind::kFetchAdd:
      return kAccessRemoteAtomic;
    case WorkKind::kRead:
      return kAccessRemoteRead;
  }
  ANYGIN_ASSERT(false);
}

WorkStatus to_work_status(WireStatus status) {
  switch (status) {
    case WireStatus::kOk:
      return WorkStatus::kOk;
    case WireStatus::kRemoteAccess:
      return WorkStatus::kRemoteAccess;
    case WireStatus::kRemoteInvalid:
      return WorkStatus::kRemoteInvalid;
    case WireStatus::kRemoteOperation:
      return WorkStatus::kRemoteOperation;
  }
  ANYGIN_ASSERT(false);
}

uint32_t chunk_length(uint64_t address, uint32_t offset, uint32_t total) {
  const auto past_word = static_cast<uint32_t>((address + offset) % sizeof(uint64_t));
  return std::min(kChunkBytes - past_word, total - offset);
}

}  // namespace anygin::emulated
