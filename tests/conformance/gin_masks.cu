// SPDX-License-Identifier: Apache-2.0
// Masks of backends, chosen by macro and by type, and the layer of templates below ncclGin (contract 1.3, 7.2, 7.11).
#define NCCL_GIN_PROXY_ENABLE 1
#define NCCL_GIN_GDAKI_ENABLE 0
#define NCCL_GIN_GPI_ENABLE 1
#include "conformance.h"

#if CONFORMANCE_SINCE_2_30

namespace {

using conformance::local;
using conformance::Outcome;
using conformance::Rank;
using conformance::Window;

constexpr unsigned kProxy = 1u << NCCL_NET_DEVICE_GIN_PROXY, kGdaki = 1u << NCCL_NET_DEVICE_GIN_GDAKI, kGpi = 1u << NCCL_NET_DEVICE_GIN_GPI;

struct Seen {
  unsigned wrong, methods;
};

// Every method of the class, on the right neighbour and back. Signals 0 and 1, counter 0, cell 0 of `cells`.
template <unsigned mask>
__device__ void every_method(const ncclDevComm& comm, int context, ncclWindow_t d, ncclWindow_t source, ncclWindow_t cells, uint64_t turn, Seen* seen) {
  const ncclGin_BackendMask<mask> gin(comm, context);
  const ncclCoopThread thread;
  const ncclTeam world = ncclTeamWorld(comm);
  const int right = (world.rank + 1) % world.nRanks, left = (world.rank + world.nRanks - 1) % world.nRanks;
  const auto expect = [seen](uint64_t got, uint64_t want) {
    seen->wrong += got != want;
    seen->methods += 1;
  };
  for (int i = 0; i < 4; ++i) local(source)[i] = 1000 * turn + 10 * static_cast<uint64_t>(world.rank) + static_cast<uint64_t>(i);
  gin.put(world, right, d, 0, source, 0, 16, ncclGin_WeakSignalAdd{1, 2}, ncclGin_CounterInc{0});
  gin.putValue(world, right, d, 16, turn);
  gin.signal(world, right, ncclGin_StrongVASignalInc{cells, 0});
  gin.waitSignal(thread, 1u, 2 * turn);
  gin.waitSignal(thread, cells, 8 * static_cast<size_t>(0), turn);
  gin.waitCounter(thread, 0, turn);
  expect(local(d)[0], 1000 * turn + 10 * static_cast<uint64_t>(left));
  expect(local(d)[1], 1000 * turn + 10 * static_cast<uint64_t>(left) + 1);
  expect(local(d)[2], turn);
  expect(gin.readSignal(1u), 2 * turn);
  expect(gin.readSignal(cells, 0), turn);
  expect(gin.readCounter(0), turn);
  gin.get(world, left, source, 24, d, 64, 8);
  ncclGinRequest_t request{};
  gin.flushAsync(world, static_cast<uint32_t>(left), &request);
  gin.wait(request);
  expect(local(d)[8], 1000 * turn + 10 * static_cast<uint64_t>(left) + 3);
  gin.increaseSignalShadow(1, 2 * turn);
  gin.waitSignalMeetShadow(thread, 1);
  expect(*gin.getSignalShadowPtr(1), 2 * turn);
  uint64_t before = 0, delta = 0;
  gin.waitSignalFollowShadow(thread, 1, uint64_t{0}, &before, &delta);
  expect(before, 2 * turn);
  expect(delta, 0);
  *gin.getSignalShadowPtr(1) = 0;
  gin.flush(thread);
  ncclGinBarrier(thread, ncclGin(comm, context), ncclTeamTagWorld{}, 0);
}

// Resets, when nothing is under way.
template <unsigned mask>
__device__ void every_reset(const ncclDevComm& comm, int context, ncclWindow_t cells, Seen* seen) {
  const ncclGin_BackendMask<mask> gin(comm, context);
  gin.resetSignal(1u);
  gin.resetSignal(cells, 0);
  gin.resetCounter(0);
  seen->wrong += gin.readSignal(1u) + gin.readSignal(cells, 0) + gin.readCounter(0) != 0;
  ncclGinBarrier(ncclCoopThread{}, ncclGin(comm, context), ncclTeamTagWorld{}, 0);
}

template <unsigned mask>
__device__ void whole_class(const ncclDevComm& comm, int context, ncclWindow_t d, ncclWindow_t source, ncclWindow_t cells, Seen* seen) {
  every_method<mask>(comm, context, d, source, cells, 1, seen);
  every_method<mask>(comm, context, d, source, cells, 2, seen);
  every_reset<mask>(comm, context, cells, seen);
}

__global__ void every_mask(ncclDevComm comm, ncclWindow_t d, ncclWindow_t source, ncclWindow_t cells, Seen* seen) {
  whole_class<kProxy>(comm, 0, d, source, cells, seen);
  whole_class<kProxy | kGdaki>(comm, 1, d, source, cells, seen);
  whole_class<kProxy | kGdaki | kGpi>(comm, 2, d, source, cells, seen);
  whole_class<NCCL_GIN_BACKEND_MASK_ALL>(comm, 3, d, source, cells, seen);
  const ncclGin_BackendOne<NCCL_NET_DEVICE_GIN_PROXY> one(comm, 0);
  one.signal(ncclTeamWorld(comm), comm.rank, ncclGin_StrongSignalInc{0});
  one.waitSignal(ncclCoopThread{}, 0u, 1);
  seen->wrong += one.readSignal(0u) != 1;
}

CONFORMANCE_CASE(Forms_every_method_with_every_mask, 2) {
  rank.expect_eq(NCCL_GIN_BACKEND_MASK_ALL, kProxy | kGpi, "the mask that the macros choose");
  const Window d = rank.window(1024), source = rank.window(1024), cells = rank.window(1024, NCCL_WIN_COLL_SYMMETRIC | NCCL_WIN_STRICT_ORDERING);
  const ncclDevComm comm = rank.dev_comm();
  Outcome<Seen> seen(rank);
  every_mask<<<1, 1, 0, rank.stream>>>(comm, d.handle, source.handle, cells.handle, seen.device());
  rank.finish();
  rank.expect_eq(seen.get().wrong, 0u, "results that differ");
  rank.expect_eq(seen.get().methods, 4u * 2 * 10, "results that were looked at");
}

// --- The layer below -------------------------------------------------------------------------------------------------
struct Below {
  uint64_t word, value, got, signal, place, counter, signal_reset, place_reset, counter_reset;
  unsigned wrong;
};

// What actions, scratch and tags say of themselves.
__device__ unsigned wrong_answers(const ncclGin& gin, ncclWindow_t cells) {
  unsigned wrong = 0;
  const ncclGinSignalDescriptor none = ncclGin_getSignalDescriptor(gin, ncclGin_None{});
  const ncclGinSignalDescriptor indexed = ncclGin_getSignalDescriptor(gin, ncclGin_WeakSignalAdd{5, 9});
  const ncclGinSignalDescriptor place = ncclGin_getSignalDescriptor(gin, ncclGin_StrongVASignalInc{cells, 24});
  wrong += none.type != NCCL_GIN_SIGNAL_TYPE_NONE;
  wrong += indexed.type != NCCL_GIN_SIGNAL_TYPE_INDEXED || indexed.indexedSignal.signalId != 5 || indexed.isStrong;
  wrong += place.type != NCCL_GIN_SIGNAL_TYPE_VA || place.vaSignal.ncclWindow != cells || place.vaSignal.signalOffset != 24 || !place.isStrong;
  wrong += ncclGin_getSignalOp(ncclGin_WeakSignalAdd{5, 9}) != ncclGinSignalAdd || ncclGin_getSignalOpArg(ncclGin_WeakSignalAdd{5, 9}) != 9;
  wrong += ncclGin_getSignalOp(ncclGin_SignalInc{5}) != ncclGinSignalInc || ncclGin_getSignalOpArg(ncclGin_SignalInc{5}) != 1;
  wrong += ncclGin_isCounter(ncclGin_None{}) || !ncclGin_isCounter(ncclGin_WeakCounterInc{3}) || !ncclGin_isCounter(ncclGin_CounterInc{3});
  wrong += ncclGin_getCounterId(gin, ncclGin_WeakCounterInc{3}) != 3;
  ncclGinDescriptorSmem scratch;
  wrong += ncclGin_isDescriptor(ncclGin_None{}) || !ncclGin_isDescriptor(ncclGin_DescriptorSmem{&scratch});
  wrong += ncclGin_getDescriptor(ncclGin_None{}) != nullptr || ncclGin_getDescriptor(ncclGin_DescriptorSmem{&scratch}) != &scratch;
  wrong += !ncclGin_isDeviceOnly(ncclGin_SegmentDevice{}) || ncclGin_isDeviceOnly(ncclGin_SegmentMixed{}) || ncclGin_isDeviceOnly(ncclGin_SegmentHostNuma{});
  return wrong;
}

__device__ unsigned wrong_context(const ncclGin& gin) {
  const ncclGinCtx_M<NCCL_GIN_BACKEND_MASK_ALL> made = gin._makeCtx();
  const ncclGinCtx& ctx = made;
  unsigned wrong = ctx.backendMask != NCCL_GIN_BACKEND_MASK_ALL || ctx.backend != NCCL_NET_DEVICE_GIN_PROXY;
  wrong += ctx.rank != gin.comm.rank || ctx.nRanks != gin.comm.nRanks;
  wrong += ctx.handle != gin.comm.ginHandles[gin.connectionId] || ctx.resourceSharingMode != gin.resourceSharingMode;
  wrong += static_cast<uint32_t>(ctx.contextId) * gin.nConnections + gin.connectionId != 2;
  return wrong;
}

// The places of windows as operations of the layer name them.
__device__ ncclGinWindow_t handle_of(const ncclGin& gin, ncclWindow_t window);

__global__ void below(ncclDevComm comm, ncclWindow_t d, ncclWindow_t source, ncclWindow_t cells, Below* got) {
  const ncclGin gin(comm, 2);
  const ncclCoopThread thread;
  const auto ctx = gin._makeCtx();
  const int right = (comm.rank + 1) % comm.nRanks, left = (comm.rank + comm.nRanks - 1) % comm.nRanks;
  got->wrong = wrong_answers(gin, cells) + wrong_context(gin);
  local(source)[0] = 500 + static_cast<uint64_t>(comm.rank);
  const ncclGinSignalDescriptor none{};
  const ncclGinSignalDescriptor signal = ncclGin_getSignalDescriptor(gin, ncclGin_StrongSignalInc{3});
  const auto given = cuda::thread_scope_thread, required = cuda::thread_scope_device;
  const auto acquire = cuda::memory_order_acquire;  // the layer takes references
  const ncclGinWindow_t to = handle_of(gin, d), from = handle_of(gin, source);
  ncclGinCall<ncclGinApi_Put>(ctx, thread, right, true, to, size_t{0}, from, size_t{0}, size_t{8}, none, ncclGinSignalInc, uint64_t{0}, true, 4u, false,
                              static_cast<ncclGinDescriptorSmem*>(nullptr), required, given, 0u);
  ncclGinCall<ncclGinApi_PutValue>(ctx, thread, right, to, size_t{8}, uint64_t{900} + static_cast<uint64_t>(comm.rank), signal, ncclGinSignalAdd, uint64_t{6},
                                   false, static_cast<ncclGinDescriptorSmem*>(nullptr), required, given, 0u);
  const ncclGinOffsetPtr cell = ncclGinCall<ncclGinApi_GetSignalPtr>(ctx, 3u);
  gin.waitSignal(thread, 3u, 6);
  got->signal = *cell.ptr - cell.offset;
  got->word = local(d)[0];
  got->value = local(d)[1];
  gin.waitCounter(thread, 4, 1);
  const ncclGinOffsetPtr counter = ncclGinCall<ncclGinApi_GetCounterPtr>(ctx, 4u);
  got->counter = *counter.ptr - counter.offset;
  ncclGinCall<ncclGinApi_Get>(ctx, thread, left, from, size_t{0}, to, size_t{64}, size_t{8}, false, static_cast<ncclGinDescriptorSmem*>(nullptr), 0u);
  ncclGinRequest_t request{};
  ncclGinCall<ncclGinApi_FlushAsync>(ctx, left, &request, false, static_cast<ncclGinDescriptorSmem*>(nullptr), 0u);
  ncclGinCall<ncclGinApi_Wait>(ctx, request, false, static_cast<ncclGinDescriptorSmem*>(nullptr), acquire, comm.abortFlag);
  got->got = local(d)[8];
  ncclGinCall<ncclGinApi_Flush>(ctx, thread, false, static_cast<ncclGinDescriptorSmem*>(nullptr), acquire, comm.abortFlag);
  ncclGinCall<ncclGinApi_ResetSignal>(ctx, signal);
  got->signal_reset = gin.readSignal(3u);
  local(cells)[1] = 8;
  ncclGinCall<ncclGinApi_ResetSignal>(ctx, ncclGin_getSignalDescriptor(gin, ncclGin_StrongVASignalInc{cells, 8}));
  got->place_reset = local(cells)[1];
  ncclGinCall<ncclGinApi_ResetCounter>(ctx, 4u);
  got->counter_reset = gin.readCounter(4);
  ncclGinBarrier(thread, gin, ncclTeamTagWorld{}, 0);
}

// A window's handle is what a signal's descriptor by address has.
__device__ ncclGinWindow_t handle_of(const ncclGin& gin, ncclWindow_t window) {
  return ncclGin_getSignalDescriptor(gin, ncclGin_StrongVASignalInc{window, 0}).vaSignal.signalWindow;
}

CONFORMANCE_CASE(Forms_the_layer_below_reaches_the_same, 3) {
  const Window d = rank.window(1024), source = rank.window(1024), cells = rank.window(1024, NCCL_WIN_COLL_SYMMETRIC | NCCL_WIN_STRICT_ORDERING);
  const ncclDevComm comm = rank.dev_comm();
  Outcome<Below> outcome(rank);
  below<<<1, 1, 0, rank.stream>>>(comm, d.handle, source.handle, cells.handle, outcome.device());
  rank.finish();
  const Below got = outcome.get();
  const auto left = static_cast<uint64_t>((rank.rank + rank.ranks - 1) % rank.ranks);
  rank.expect_eq(got.wrong, 0u, "wrong answers of helpers and context");
  rank.expect_eq(got.word, 500 + left, "the word put");
  rank.expect_eq(got.value, 900 + left, "the value put");
  rank.expect_eq(got.signal, 6u, "the signal's cell");
  rank.expect_eq(got.counter, 1u, "the counter's cell");
  rank.expect_eq(got.got, 500 + left, "the word that a get brought");
  rank.expect_eq(got.signal_reset + got.place_reset + got.counter_reset, 0u, "cells after their reset");
}

}  // namespace

#endif  // CONFORMANCE_SINCE_2_30

int main(int argc, char** argv) { return conformance::conformance_main(argc, argv); }
