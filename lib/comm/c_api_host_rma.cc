// SPDX-License-Identifier: Apache-2.0
// The host's one-sided operations: what is wrong with a call, in the order of contract 3.1.
#include <fmt/format.h>

#include "anygin/base/mutant.h"
#include "anygin/comm/c_api.h"
#include "anygin/comm/host_rma.h"
#include "anygin/comm/window.h"
#include "anygin/simt/device.h"

namespace anygin::comm {
namespace {

struct Selectors {
  int signal = 0, context = 0;
  unsigned int flags = 0;
};

uint64_t bytes_of(ncclDataType_t type) {
  static constexpr uint64_t kBytes[ncclNumTypes] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
  return kBytes[type];
}

Status check_peer(const char* where, const char* what, int peer, const Communicator& communicator) {
  if (peer >= 0 && peer < communicator.size()) return Status();
  return Status(Cause::kRankOutOfRange, where,
                fmt::format("{} is {}; 0 to {} would be right", what, peer, communicator.size() - 1));
}

Status check_zero(const char* where, const char* what, int64_t value) {
  if (value == 0) return Status();
  return Status(Cause::kRmaSelector, where, fmt::format("{} is {}; only 0 is possible", what, value));
}

Status check_supported(const char* where, const Communicator& communicator) {
  const std::string why = communicator.why_no_host_rma();
  return why.empty() ? Status() : Status(Cause::kNoHostRma, where, "host one-sided operations are not there: " + why);
}

// More than one of each is there for communicators of 2.31's ncclConfig_t (numRmaCtx, numRmaSig).
Status check_below(const char* where, const char* what, int value, int limit) {
  if (limit == 1) return check_zero(where, what, value);
  if (value >= 0 && value < limit) return Status();
  return Status(Cause::kRmaSelector, where, fmt::format("{} is {}; 0 to {} would be right", what, value, limit - 1));
}

Status check_selectors(const char* where, const Communicator& communicator, const Selectors& selectors) {
  const RmaSelectors& there = communicator.settings().rma;
  ANYGIN_TRY(check_below(where, "ctx", selectors.context, there.contexts));
  ANYGIN_TRY(check_below(where, "sigIdx", selectors.signal, there.signals));
  return check_zero(where, "flags", selectors.flags);
}

uint32_t selector_of(const Communicator& communicator, int context, int signal) {
  if (MUTANT(rma_selector_ignored)) return 0;
  return static_cast<uint32_t>(context * communicator.settings().rma.signals + signal);
}

Status check_pieces(const char* where, const char* what, const Window& window) {
  if (window.several_segments) {
    return Status(Cause::kRmaMemory, where,
                  fmt::format("{} spans several pieces of physical memory on some rank; one would be right", what));
  }
  if (window.host_memory)
    return Status(Cause::kRmaMemory, where,
                  fmt::format("{} has host memory on some rank; device memory would be right", what));
  return Status();
}

Status check_range(const char* where, const char* what, uint64_t offset, uint64_t bytes, uint64_t size) {
  if (bytes <= size && offset <= size - bytes) return Status();
  return Status(Cause::kWindowBounds, where,
                fmt::format("{}: {} bytes from byte {} on reach beyond its {} bytes", what, bytes, offset, size));
}

// What puts and signals have in common, behind the communicator's own checks.
Status check_call(const char* where, ncclComm_t comm, int peer, ncclDataType_t type, const Selectors& selectors) {
  ANYGIN_TRY(check_ready(where, comm));
  const Communicator& communicator = *find(comm);
  ANYGIN_TRY(check_peer(where, "peer", peer, communicator));
  if (static_cast<int>(type) < 0 || type >= ncclNumTypes) {
    return Status(Cause::kDataTypeUnknown, where,
                  fmt::format("datatype is {}; 0 to {} would be right", static_cast<int>(type), ncclNumTypes - 1));
  }
  ANYGIN_TRY(check_supported(where, communicator));
  return check_selectors(where, communicator, selectors);
}

Status submit(const char* where, ncclComm_t comm, std::variant<HostPut, HostWait> what, cudaStream_t handle) {
  simt::Stream* stream = simt::resolve_stream(handle);
  if (stream == nullptr) return Status(Cause::kStreamUnknown, where, "stream is no stream, or was destroyed before");
  return submit_host_rma(*find(comm), {where, stream, std::move(what)});
}

struct PutCall {
  const char* source = nullptr;
  size_t count = 0;
  ncclDataType_t type = ncclInt8;
  int peer = 0;
  ncclWindow_t window = nullptr;
  size_t offset = 0;
  Selectors selectors;
};

Status put_signal(const PutCall& call, ncclComm_t comm, cudaStream_t handle) {
  constexpr const char* kWhere = "ncclPutSignal";
  ANYGIN_TRY(check_call(kWhere, comm, call.peer, call.type, call.selectors));
  Communicator& communicator = *find(comm);
  if (call.window == nullptr) return Status(Cause::kNullArgument, kWhere, "peerWin is NULL");
  const Window* target = communicator.windows().find(call.window);
  if (target == nullptr || !target->in_host_queue)
    return Status(Cause::kWindowForeign, kWhere,
                  "peerWin is no window of this communicator, or was deregistered before");
  if (call.source == nullptr) return Status(Cause::kNullArgument, kWhere, "localbuff is NULL");
  const Window* own = communicator.windows().find(call.source, NCCL_WIN_COLL_SYMMETRIC);
  if (own == nullptr) {
    return Status(Cause::kRmaSource, kWhere,
                  fmt::format("localbuff {} lies in no window of this communicator that was registered with "
                              "NCCL_WIN_COLL_SYMMETRIC, which would be right",
                              static_cast<const void*>(call.source)));
  }
  ANYGIN_TRY(check_pieces(kWhere, "the window of localbuff", *own));
  ANYGIN_TRY(check_pieces(kWhere, "peerWin", *target));
  const auto from = static_cast<uint64_t>(call.source - own->request.base);
  if (call.count > (~uint64_t{0} >> 4))
    return Status(Cause::kNumberOutOfRange, kWhere, fmt::format("count is {}, beyond any window", call.count));
  const uint64_t bytes = call.count * bytes_of(call.type);
  ANYGIN_TRY(check_range(kWhere, "the window of localbuff", from, bytes, own->request.bytes));
  ANYGIN_TRY(
      check_range(kWhere, "the peer's window", call.offset, bytes, target->sizes[static_cast<size_t>(call.peer)]));
  const HostQueue& queue = *communicator.host_queue();
  const HostPut put{call.peer,
                    {queue.region_of(own->id), from},
                    {queue.region_of(target->id), call.offset},
                    bytes,
                    selector_of(communicator, call.selectors.context, call.selectors.signal)};
  return submit(kWhere, comm, put, handle);
}

Status signal(int peer, const Selectors& selectors, ncclComm_t comm, cudaStream_t handle) {
  constexpr const char* kWhere = "ncclSignal";
  ANYGIN_TRY(check_call(kWhere, comm, peer, ncclInt8, selectors));
  return submit(kWhere, comm, HostPut{peer, {}, {}, 0, selector_of(*find(comm), selectors.context, selectors.signal)},
                handle);
}

Status check_descriptors(const char* where, const Communicator& communicator, int count,
                         const ncclWaitSignalDesc_t* descriptors) {
  if (descriptors == nullptr) return Status(Cause::kNullArgument, where, "signalDescs is NULL");
  if (count <= 0)
    return Status(Cause::kNumberOutOfRange, where, fmt::format("nDesc is {}; 1 or more would be right", count));
  for (int i = 0; i < count; ++i) {
    const auto name = [i](const char* field) { return fmt::format("signalDescs[{}].{}", i, field); };
    const ncclWaitSignalDesc_t& one = descriptors[i];
    if (one.opCnt <= 0)
      return Status(Cause::kNumberOutOfRange, where,
                    fmt::format("{} is {}; 1 or more would be right", name("opCnt"), one.opCnt));
    const RmaSelectors& there = communicator.settings().rma;
    ANYGIN_TRY(check_below(where, name("sigIdx").c_str(), one.sigIdx, there.signals));
    ANYGIN_TRY(check_below(where, name("ctx").c_str(), one.ctx, there.contexts));
    ANYGIN_TRY(check_peer(where, name("peer").c_str(), one.peer, communicator));
  }
  return Status();
}

Status wait_signal(int count, const ncclWaitSignalDesc_t* descriptors, ncclComm_t comm, cudaStream_t handle) {
  constexpr const char* kWhere = "ncclWaitSignal";
  ANYGIN_TRY(check_ready(kWhere, comm));
  const Communicator& communicator = *find(comm);
  ANYGIN_TRY(check_supported(kWhere, communicator));
  ANYGIN_TRY(check_descriptors(kWhere, communicator, count, descriptors));
  HostWait wait;
  for (int i = 0; i < count; ++i) {
    wait.counts.push_back({descriptors[i].peer, static_cast<uint64_t>(descriptors[i].opCnt),
                           selector_of(communicator, descriptors[i].ctx, descriptors[i].sigIdx)});
  }
  return submit(kWhere, comm, std::move(wait), handle);
}

}  // namespace
}  // namespace anygin::comm

using namespace anygin;
using namespace anygin::comm;

ANYGIN_NCCL_FUNCTION(ncclResult_t, ncclPutSignal,
                     (const void* localbuff, size_t count, ncclDataType_t datatype, int peer, ncclWindow_t peerWin,
                      size_t peerWinOffset, int sigIdx, int ctx, unsigned int flags, ncclComm_t comm,
                      cudaStream_t stream)) {
  ANYGIN_NCCL_CALL("ncclPutSignal");
  const PutCall call{
      static_cast<const char*>(localbuff), count, datatype, peer, peerWin, peerWinOffset, {sigIdx, ctx, flags}};
  return report_on(comm, put_signal(call, comm, stream));
}

ANYGIN_NCCL_FUNCTION(ncclResult_t, ncclSignal,
                     (int peer, int sigIdx, int ctx, unsigned int flags, ncclComm_t comm, cudaStream_t stream)) {
  ANYGIN_NCCL_CALL("ncclSignal");
  return report_on(comm, signal(peer, {sigIdx, ctx, flags}, comm, stream));
}

ANYGIN_NCCL_FUNCTION(ncclResult_t, ncclWaitSignal,
                     (int nDesc, ncclWaitSignalDesc_t* signalDescs, ncclComm_t comm, cudaStream_t stream)) {
  ANYGIN_NCCL_CALL("ncclWaitSignal");
  return report_on(comm, wait_signal(nDesc, signalDescs, comm, stream));
}
