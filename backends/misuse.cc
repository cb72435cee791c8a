// SPDX-License-Identifier: Apache-2.0
// The cpu target's reports of misuse: one line that names the call, the place, what is wrong, the limit and what would
// be right.
#include "anygin/backends/misuse.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <iterator>
#include <string>

#include "anygin/base/code_site.h"
#include "anygin/base/status.h"
#include "anygin/base/world.h"

namespace anygin {
namespace {

const char* name_of(DeviceCall call) {
  switch (call) {
    case DeviceCall::kConstructor:
      return "ncclGin";
    case DeviceCall::kPut:
      return "ncclGin::put";
    case DeviceCall::kPutValue:
      return "ncclGin::putValue";
    case DeviceCall::kGet:
      return "ncclGin::get";
    case DeviceCall::kSignal:
      return "ncclGin::signal";
    case DeviceCall::kFlush:
      return "ncclGin::flush";
    case DeviceCall::kFlushAsync:
      return "ncclGin::flushAsync";
    case DeviceCall::kWait:
      return "ncclGin::wait";
    case DeviceCall::kCounter:
      return "ncclGin's counter";
    case DeviceCall::kReadSignal:
      return "ncclGin::readSignal";
    case DeviceCall::kWaitSignal:
      return "ncclGin::waitSignal";
    case DeviceCall::kShadow:
      return "ncclGin's signal shadow";
    case DeviceCall::kResetSignal:
      return "ncclGin::resetSignal";
    case DeviceCall::kGinBarrier:
      return "ncclGinBarrierSession";
    case DeviceCall::kLsaBarrier:
      return "ncclLsaBarrierSession";
    case DeviceCall::kLlA2A:
      return "ncclLLA2ASession";
    case DeviceCall::kReduceCopy:
      return "a reduction or copy";
    case DeviceCall::kCalls:
      break;
  }
  return "the device API";
}

// In the order of MisuseKind.
constexpr Cause kCauses[] = {
    Cause::kKernelPeer,
    Cause::kKernelPeerOffRail,
    Cause::kKernelPeerUnconnected,
    Cause::kKernelPeerOffLsa,
    Cause::kKernelWindowNull,
    Cause::kKernelWindowDead,
    Cause::kKernelWindowForeign,
    Cause::kKernelDestination,
    Cause::kKernelSource,
    Cause::kKernelSignalIndex,
    Cause::kKernelSignalReserved,
    Cause::kKernelCounterIndex,
    Cause::kKernelSignalBounds,
    Cause::kKernelSignalMisaligned,
    Cause::kKernelSignalUnordered,
    Cause::kKernelSegmentTag,
    Cause::kKernelStrongSignal,
    Cause::kKernelVaSignal,
    Cause::kKernelNoContexts,
    Cause::kKernelDevCommDead,
    Cause::kKernelBits,
    Cause::kKernelBarrierIndex,
    Cause::kKernelSlot,
    Cause::kKernelNoResources,
    Cause::kKernelMulticastTeam,
    Cause::kKernelMulticastAddress,
    Cause::kKernelMulticastNarrow,
    Cause::kNone,  // kContextIndex
};
static_assert(std::size(kCauses) == static_cast<size_t>(MisuseKind::kKinds) &&
              kCauses[static_cast<size_t>(MisuseKind::kSegmentTag)] == Cause::kKernelSegmentTag &&
              kCauses[static_cast<size_t>(MisuseKind::kNarrowMultimem)] == Cause::kKernelMulticastNarrow);

constexpr const char* kBarrierCounts =
    "its count (barrierCount, lsaBarrierCount, railGinBarrierCount, "
    "worldGinBarrierCount of ncclDevCommRequirements, or nBarriers of the "
    "requirement)";

std::string range_text(const char* what, const char* whose, const Misuse& m) {
  return fmt::format("{} offset {} + {} bytes lies outside {} window of {} bytes; offset + bytes is at most {}", what,
                     m.value, m.bytes, whose, m.limit, m.limit);
}

// Counts are granted by ncclDevCommCreate: `field` says how many.
std::string index_text(const char* what, const char* field, const Misuse& m) {
  if (m.limit == 0) return fmt::format("{} {} of none; set {}", what, m.value, field);
  return fmt::format("{} {} is beyond the {} granted; ids are 0 to {}, or raise {}", what, m.value, m.limit,
                     m.limit - 1, field);
}

// The team has no such peer; or it has, and lies itself outside the communicator, as only one made by hand can.
std::string peer_text(const Misuse& m) {
  const auto peer = static_cast<int64_t>(m.value);
  const auto ranks = static_cast<int64_t>(m.limit);
  if (peer >= 0 && peer < ranks) {
    return fmt::format(
        "peer {} of the team's {} would be rank {} of the communicator, which has none; teams of "
        "ncclTeamWorld, ncclTeamLsa and ncclTeamRail lie within it",
        peer, ranks, m.peer);
  }
  const std::string right = ranks > 0 ? fmt::format("peers are 0 to {}", ranks - 1) : "the team has no ranks";
  return fmt::format("peer {} (communicator rank {}) is outside the team; {}", peer, m.peer, right);
}

std::string what_is_wrong(const Misuse& m) {
  const auto signed_value = static_cast<int64_t>(m.value);
  switch (m.kind) {
    case MisuseKind::kPeer:
      return peer_text(m);
    case MisuseKind::kPeerOffRail:
      return fmt::format(
          "rank {} is not on the caller's rail, and only the rail is connected; ranks congruent to the caller's modulo "
          "{} are, or ask for NCCL_GIN_CONNECTION_FULL",
          signed_value, m.limit);
    case MisuseKind::kPeerUnconnected:
      return fmt::format(
          "rank {} is not connected: the device communicator was created with connections to some ranks only; let "
          "ginCustomStride or ginCustomArray reach it, or ask for NCCL_GIN_CONNECTION_FULL",
          signed_value);
    case MisuseKind::kPeerOffLsa:
      return fmt::format("the team reaches LSA rank {}, outside the LSA team; its ranks are 0 to {}", signed_value,
                         static_cast<int64_t>(m.limit) - 1);
    case MisuseKind::kNullWindow:
      return "the window is NULL; pass one of ncclCommWindowRegister, after its group has ended";
    case MisuseKind::kDeadWindow:
      return "the window is not registered (any more); deregister after the last kernel that uses it";
    case MisuseKind::kForeignWindow:
      return "the window belongs to another communicator; register the buffer with this one";
    case MisuseKind::kDestinationRange:
      return range_text("destination", "the", m);
    case MisuseKind::kSourceRange:
      return range_text("source", "the", m);
    case MisuseKind::kSignalRange:
      return range_text("signal", "the", m);
    case MisuseKind::kSignalIndex:
      return index_text("signal", "ncclDevCommRequirements::ginSignalCount", m);
    case MisuseKind::kSignalReserved:
      return index_text("signal", "ncclDevCommRequirements::ginSignalCount", m) +
             "; this one belongs to a barrier of the library";
    case MisuseKind::kCounterIndex:
      return index_text("counter", "ncclDevCommRequirements::ginCounterCount", m);
    case MisuseKind::kSignalMisaligned:
      return fmt::format("signal offset {} is not a multiple of 8", m.value);
    case MisuseKind::kSignalNotOrdered:
      return "a signal by address lies in a window without strict ordering; register it with NCCL_WIN_STRICT_ORDERING";
    case MisuseKind::kSegmentTag:
      return "the window has host memory on some rank, and the call says device memory only; pass ncclGin_SegmentMixed "
             "or "
             "ncclGin_SegmentHostNuma";
    case MisuseKind::kStrongNotGranted:
      return "a strong signal on a device communicator made without; set "
             "ncclDevCommRequirements::ginStrongSignalsRequired";
    case MisuseKind::kVaNotGranted:
      return "a signal by address on a device communicator made without; set "
             "ncclDevCommRequirements::ginVaSignalsRequired";
    case MisuseKind::kNoGin:
      return "the device communicator has no GIN contexts; set ncclDevCommRequirements::ginConnectionType";
    case MisuseKind::kDeadCommunicator:
      return "the device communicator is destroyed, or was not made by ncclDevCommCreate";
    case MisuseKind::kBits:
      return fmt::format("a comparison of {} bits; bits are 1 to 64", signed_value);
    case MisuseKind::kBarrierIndex:
      return index_text("barrier index", kBarrierCounts, m);
    case MisuseKind::kSlot:
      return fmt::format(
          "slot {} of {}; slots are below maxElts, and the handle needs nSlots >= ncclLLA2ACalcSlots(maxElts, "
          "sizeof(T))",
          signed_value, static_cast<int64_t>(m.limit));
    case MisuseKind::kNoResources:
      return m.call == DeviceCall::kLlA2A
                 ? "the device communicator has no memory for it; add ncclLLA2ACreateRequirement's node to "
                   "ncclDevCommRequirements::resourceRequirementsList"
                 : "the device communicator has no barriers; set ncclDevCommRequirements::lsaBarrierCount or "
                   "barrierCount";
    case MisuseKind::kNoMultimem:
      return fmt::format(
          "multimem with a handle that reaches {} of the team's {} ranks; pass ncclDevComm::lsaMultimem of a device "
          "communicator made with ncclDevCommRequirements::lsaMultimem, or the team's own outMultimemHandle",
          m.value, m.limit);
    case MisuseKind::kNotMultimem:
      return fmt::format(
          "{} bytes at what is no multicast address of this rank, or reaches beyond the smallest part of its window; "
          "ncclGetMultimemPointer gives one, for a window in device memory",
          m.value);
    case MisuseKind::kNarrowMultimem:
      return fmt::format(
          "{} elements of fewer than 4 bytes would move alone, which multicast cannot; align pointers and count to 16 "
          "bytes, or define NCCL_DEVICE_PERMIT_EXPERIMENTAL_CODE",
          m.value);
    case MisuseKind::kContextIndex:
      return fmt::format(
          "context index {} is beyond the {} granted and is taken modulo; other libraries do not: use "
          "ncclDevComm::ginContextCount",
          signed_value, m.limit);
    case MisuseKind::kKinds:
      break;
  }
  return "misuse";
}

std::string place_of(const Misuse& m) {
  if (m.call_site != nullptr) return describe_line(m.call_site);
  return fmt::format("block ({}), thread ({})", fmt::join(m.block, ","), fmt::join(m.thread, ","));
}

std::string report_of(const Misuse& m) {
  std::string text = name_of(m.call);
  if (m.rank >= 0) text += fmt::format(" by rank {}", m.rank);
  if (m.rank >= 0 && m.kind != MisuseKind::kContextIndex) text += fmt::format(", context {}", m.context);
  if (m.peer >= 0) text += fmt::format(", to rank {}", m.peer);
  return fmt::format("{}: {} [at {}]", text, what_is_wrong(m), place_of(m));
}

void print_line(const std::string& text) {
  const std::string line = text + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace

Cause cause_of(MisuseKind kind) {
  return kCauses[static_cast<size_t>(kind)];
}

// On its own, so that the text is gone before the lane leaves: nothing on the lane's stack is unwound.
void tell_misuse(const Misuse& misuse, MisuseListener* listener) {
  const std::string text = report_of(misuse);
  if (listener == nullptr || listener->on_misuse(misuse, text.c_str())) {
    print_line(fmt::format("anygin: misuse: {}: {}", info_of(cause_of(misuse.kind)).name, text));
  }
}

extern "C" void anygin_report_misuse(const Misuse* misuse) {
  tell_misuse(*misuse, static_cast<MisuseListener*>(misuse->sink));
  if (misuse->abort_word && load_relaxed(misuse->abort_word) == 0) {
    publish(misuse->abort_word, static_cast<uint32_t>(AbortCause::kMisuse));
  }
  ring_everybody(world().executor);
  anygin_leave_kernel(AbortCause::kMisuse);
}

extern "C" void anygin_report_nonportable(const Misuse* misuse) {
  print_line("anygin: not portable: " + report_of(*misuse));
}

}  // namespace anygin
