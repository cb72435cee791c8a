// SPDX-License-Identifier: Apache-2.0
// Device memory for windows, windows, and where their parts are mapped (contract 2.4, 2.7, 2.8.5).
#include <fmt/format.h>

#include "anygin/base/world.h"
#include "anygin/comm/c_api.h"
#include "anygin/comm/window.h"
#include "anygin/simt/device.h"

namespace anygin::comm {
namespace {

constexpr int kCftCounted = 0x08;  // NCCL_WIN_CFT_COUNTED, since 2.32

Status register_window(ncclComm_t comm, void* buff, size_t size, ncclWindow_t* win, int flags) {
  constexpr const char* kWhere = "ncclCommWindowRegister";
  ANYGIN_TRY(check_comm(kWhere, comm));
  if (win == nullptr) return Status(Cause::kNullArgument, kWhere, "win is NULL");
  *win = nullptr;
  if (buff == nullptr) return Status(Cause::kNullArgument, kWhere, "buff is NULL");
  if (size == 0) return Status(Cause::kNumberOutOfRange, kWhere, "size is 0");
  ANYGIN_TRY(check_idle(kWhere, comm));
  if ((flags & kCftCounted) != 0)
    return Status(Cause::kNotSupported, kWhere, "NCCL_WIN_CFT_COUNTED is not possible; do without it");
  Communicator* communicator = find(comm);
  if (!communicator->symmetric()) return Status();
  ANYGIN_TRY(check_ready(kWhere, comm));
  const WindowRequest request{static_cast<char*>(buff), size, flags, true};
  return group_submit({JobKind::kWindow, communicator, communicator->device(), [communicator, request, win] {
                         Result<Window*> window = communicator->windows().add(request);
                         if (!window.ok()) return window.status();
                         *win = (*window)->view;
                         return Status();
                       }});
}

// The window behind a handle, or null.
Window* window_of(ncclWindow_t window) {
  return window != nullptr ? ProcessState::get().window(window) : nullptr;
}

Status check_lookup(const char* where, ncclWindow_t window, const size_t* offset, void** out) {
  if (out == nullptr) return Status(Cause::kNullArgument, where, "outPtr is NULL");
  const Window* known = window_of(window);
  if (known == nullptr)
    return Status(Cause::kWindowUnknown, where, window == nullptr ? "window is NULL" : "this is no registered window");
  if (offset != nullptr && *offset >= known->request.bytes) {
    return Status(Cause::kWindowBounds, where,
                  fmt::format("offset {} is not inside the window of {} bytes", *offset, known->request.bytes));
  }
  return Status();
}

Status check_rank(const char* where, const char* what, int rank, int ranks) {
  if (rank >= 0 && rank < ranks) return Status();
  return Status(Cause::kRankOutOfRange, where, fmt::format("{} is {}; 0 to {} would be right", what, rank, ranks - 1));
}

Status lsa_pointer(ncclWindow_t window, size_t offset, int lsa_rank, void** out) {
  constexpr const char* kWhere = "ncclGetLsaDevicePointer";
  ANYGIN_TRY(check_lookup(kWhere, window, nullptr, out));
  const Window& known = *window_of(window);
  ANYGIN_TRY(check_rank(kWhere, "lsaRank", lsa_rank, static_cast<int>(known.lsa_bases.size())));
  ANYGIN_TRY(check_lookup(kWhere, window, &offset, out));
  *out = known.lsa_bases[static_cast<size_t>(lsa_rank)] + offset;
  return Status();
}

Status peer_pointer(ncclWindow_t window, size_t offset, int peer, void** out) {
  constexpr const char* kWhere = "ncclGetPeerDevicePointer";
  ANYGIN_TRY(check_lookup(kWhere, window, nullptr, out));
  const Window& known = *window_of(window);
  const Communicator& communicator = *known.communicator;
  ANYGIN_TRY(check_rank(kWhere, "peer", peer, communicator.size()));
  const Layout& layout = communicator.layout();
  *out = nullptr;
  if (layout.lsa_team(peer) != layout.lsa_team(communicator.rank())) return Status();
  ANYGIN_TRY(check_lookup(kWhere, window, &offset, out));
  *out = known.lsa_bases[static_cast<size_t>(layout.lsa_rank(peer))] + offset;
  return Status();
}

// NULL if the window has no multicast address.
void* multimem_pointer(const Window& window, char* space, size_t offset) {
  return window.mc_place != 0 ? Multicast::address(space, window) + offset : nullptr;
}

}  // namespace
}  // namespace anygin::comm

using namespace anygin;
using namespace anygin::comm;

ANYGIN_NCCL_FUNCTION(ncclResult_t, ncclMemAlloc, (void** ptr, size_t size)) {
  ANYGIN_NCCL_CALL("ncclMemAlloc");
  if (ptr == nullptr) return refuse(Cause::kNullArgument, "ncclMemAlloc", "ptr is NULL");
  Result<char*> memory = world().heap.allocate(size, simt::current_device());
  ANYGIN_NCCL_TRY(memory.status());
  *ptr = *memory;
  return ncclSuccess;
}

ANYGIN_NCCL_FUNCTION(ncclResult_t, ncclMemFree, (void* ptr)) {
  ANYGIN_NCCL_CALL("ncclMemFree");
  if (ptr == nullptr) return ncclSuccess;
  return report(world().heap.free(ptr));
}

ANYGIN_NCCL_FUNCTION(ncclResult_t, ncclCommWindowRegister,
                     (ncclComm_t comm, void* buff, size_t size, ncclWindow_t* win, int winFlags)) {
  ANYGIN_NCCL_CALL("ncclCommWindowRegister");
  return report(register_window(comm, buff, size, win, winFlags));
}

ANYGIN_NCCL_FUNCTION(ncclResult_t, ncclCommWindowDeregister, (ncclComm_t comm, ncclWindow_t win)) {
  ANYGIN_NCCL_CALL("ncclCommWindowDeregister");
  ANYGIN_NCCL_TRY(check_idle("ncclCommWindowDeregister", comm));
  if (win == nullptr) return ncclSuccess;
  return report(find(comm)->windows().remove(win));
}

ANYGIN_NCCL_FUNCTION(ncclResult_t, ncclWinGetUserPtr, (ncclComm_t comm, ncclWindow_t win, void** outUserPtr)) {
  ANYGIN_NCCL_CALL("ncclWinGetUserPtr");
  ANYGIN_NCCL_TRY(check_idle("ncclWinGetUserPtr", comm));
  if (outUserPtr == nullptr) return refuse(Cause::kNullArgument, "ncclWinGetUserPtr", "outUserPtr is NULL");
  *outUserPtr = nullptr;
  if (!find(comm)->symmetric()) return ncclSuccess;
  if (win == nullptr) return refuse(Cause::kWindowUnknown, "ncclWinGetUserPtr", "win is NULL");
  const Window* window = find(comm)->windows().find(win);
  if (window == nullptr)
    return refuse(Cause::kWindowUnknown, "ncclWinGetUserPtr", "win is no window of this communicator");
  *outUserPtr = window->request.base;
  return ncclSuccess;
}

ANYGIN_NCCL_FUNCTION(ncclResult_t, ncclGetLsaDevicePointer,
                     (ncclWindow_t window, size_t offset, int lsaRank, void** outPtr)) {
  ANYGIN_NCCL_CALL("ncclGetLsaDevicePointer");
  return report(lsa_pointer(window, offset, lsaRank, outPtr));
}

ANYGIN_NCCL_FUNCTION(ncclResult_t, ncclGetPeerDevicePointer,
                     (ncclWindow_t window, size_t offset, int peer, void** outPtr)) {
  ANYGIN_NCCL_CALL("ncclGetPeerDevicePointer");
  return report(peer_pointer(window, offset, peer, outPtr));
}

ANYGIN_NCCL_FUNCTION(ncclResult_t, ncclGetMultimemDevicePointer,
                     (ncclWindow_t window, size_t offset, ncclMultimemHandle_t multimem, void** outPtr)) {
  ANYGIN_NCCL_CALL("ncclGetMultimemDevicePointer");
  ANYGIN_NCCL_TRY(check_lookup("ncclGetMultimemDevicePointer", window, nullptr, outPtr));
  if (multimem.mcBasePtr == nullptr)
    return refuse(Cause::kNullArgument, "ncclGetMultimemDevicePointer", "multimem.mcBasePtr is NULL");
  *outPtr = multimem_pointer(*window_of(window), static_cast<char*>(multimem.mcBasePtr), offset);
  return ncclSuccess;
}

ANYGIN_NCCL_FUNCTION(ncclResult_t, ncclGetLsaMultimemDevicePointer,
                     (ncclWindow_t window, size_t offset, void** outPtr)) {
  ANYGIN_NCCL_CALL("ncclGetLsaMultimemDevicePointer");
  ANYGIN_NCCL_TRY(check_lookup("ncclGetLsaMultimemDevicePointer", window, nullptr, outPtr));
  *outPtr = nullptr;
  Communicator& communicator = *window_of(window)->communicator;
  if (!communicator.multicast()) return ncclSuccess;
  Result<char*> space = communicator.windows().multicast().lsa_space();
  ANYGIN_NCCL_TRY(space.status());
  *outPtr = multimem_pointer(*window_of(window), *space, offset);
  return ncclSuccess;
}
