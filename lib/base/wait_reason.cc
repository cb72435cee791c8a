// SPDX-License-Identifier: Apache-2.0
#include "anygin/base/wait_reason.h"

#include <fmt/format.h>

#include "anygin/base/code_site.h"
#include "anygin/base/order.h"
#include "anygin/base/seq.h"

namespace anygin {
namespace {

const char* name_of(WaitKind kind) {
  switch (kind) {
    case WaitKind::kNone:
      return "a wait";
    case WaitKind::kSignal:
      return "waitSignal";
    case WaitKind::kVaSignal:
      return "waitSignal on a window";
    case WaitKind::kCounter:
      return "waitCounter";
    case WaitKind::kFlush:
      return "flush";
    case WaitKind::kCredit:
      return "room in the queue";
    case WaitKind::kGinBarrier:
      return "GIN barrier";
    case WaitKind::kLsaBarrier:
      return "LSA barrier";
    case WaitKind::kReset:
      return "reset";
    case WaitKind::kElement:
      return "an element";
    case WaitKind::kSpin:
      return "a spin";
    case WaitKind::kKinds:
      break;
  }
  return "a wait";
}

// ": wants 4, is 3", and what would make it 4.
std::string describe_missing(const WaitReason& reason) {
  const uint64_t value = load_relaxed(reason.cell) - reason.offset;
  const uint64_t mask = ~uint64_t{0} >> (64 - reason.bits);
  const std::string text = fmt::format(": wants {}, is {}", reason.want, value);
  if (rolling_reached(reason.want, value, reason.bits)) return text;
  const uint64_t missing = (reason.want - value) & mask;
  if (reason.kind == WaitKind::kSignal)
    return text + fmt::format("; {} more signalled by any rank would end it", missing);
  if (reason.kind == WaitKind::kCounter)
    return text + fmt::format("; {} more puts with this counter would end it", missing);
  return text;
}

}  // namespace

std::string describe_reason(const WaitReason& reason) {
  std::string text = name_of(reason.kind);
  const bool indexed = reason.kind == WaitKind::kSignal || reason.kind == WaitKind::kCounter ||
                       reason.kind == WaitKind::kGinBarrier || reason.kind == WaitKind::kLsaBarrier;
  if (reason.rank >= 0) text += fmt::format(" of rank {}", reason.rank);
  if (reason.peer >= 0) text += fmt::format(" for rank {}", reason.peer);
  if (indexed) text += fmt::format(", context {} index {}", reason.context, reason.index);
  if (reason.cell) text += describe_missing(reason);
  if (reason.call_site) text += fmt::format(" (at {})", describe_line(reason.call_site));
  return text;
}

}  // namespace anygin
