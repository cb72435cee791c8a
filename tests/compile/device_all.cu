// SPDX-License-Identifier: Apache-2.0
// Every member of ncclGin with all arguments, each action, each coop, every barrier: compiled for the cpu target and by
// nvcc (contract B.1).
#include <nccl.h>
#include <nccl_device.h>

template <typename Remote, typename Local, typename Coop>
__device__ void put_with(const ncclGin& gin, ncclWindow_t w, Remote remote, Local local, Coop coop) {
  gin.put(ncclTeamWorld(gin.comm), 0, w, 0, w, 0, 8, remote, local, coop);
}

__device__ void every_argument(const ncclGin& gin, ncclWindow_t w, ncclGinDescriptorSmem* scratch) {
  const ncclTeam team = ncclTeamWorld(gin.comm);
  const ncclCoopCta cta;
  const ncclGin_DescriptorSmem smem{scratch};
  const ncclSymPtr<float> p(w, 0);
  gin.put(team, 0, w, 0, w, 0, 8, ncclGin_WeakSignalInc{0}, ncclGin_WeakCounterInc{0}, cta, smem,
          cuda::thread_scope_thread, cuda::thread_scope_system, ncclGinOptFlagsAggregateRequests,
          ncclGin_SegmentDevice{});
  gin.put(team, 0, p, p, 4, ncclGin_None{}, ncclGin_None{}, cta, ncclGin_None{}, cuda::thread_scope_system,
          cuda::thread_scope_device, ncclGinOptFlagsMaySkipCreditCheck, ncclGin_SegmentMixed{});
  gin.put(team, 0, w, 0, w, 0, 8, ncclGin_None{}, ncclGin_None{}, cta, smem, cuda::thread_scope_thread,
          cuda::thread_scope_device, ncclGin_SegmentMixed{});
  gin.put(team, 0, p, p, 4, ncclGin_None{}, ncclGin_None{}, cta, smem, cuda::thread_scope_thread,
          cuda::thread_scope_device, ncclGin_SegmentHostNuma{});
  gin.putValue(team, 0, w, 0, 1.5, ncclGin_WeakSignalAdd{0, 2}, cta, smem, cuda::thread_scope_thread,
               cuda::thread_scope_device, ncclGinOptFlagsDefault);
  gin.putValue(team, 0, p, 1.5f, ncclGin_None{}, cta, ncclGin_None{}, cuda::thread_scope_thread,
               cuda::thread_scope_device, ncclGinOptFlagsDefault);
  gin.get(team, 0, w, 0, w, 0, 8, cta, smem, ncclGinOptFlagsDefault, ncclGin_SegmentHostNuma{});
  gin.signal(team, 0, ncclGin_StrongSignalInc{0}, cta, smem, cuda::thread_scope_thread, cuda::thread_scope_device,
             ncclGinOptFlagsDefault);
  gin.flush(cta, cuda::memory_order_acquire, smem);
  ncclGinRequest_t request;
  gin.flushAsync(team, 0, &request, cta, ncclGinOptFlagsDefault, smem);
  gin.wait(request, cta, smem, cuda::memory_order_acquire);
  uint64_t sum = gin.readCounter(0, 32, cuda::memory_order_relaxed);
  gin.waitCounter(cta, 0, 1, 56, cuda::memory_order_acquire);
  gin.resetCounter(0);
  sum += gin.readSignal(0u, 64, cuda::memory_order_acquire) + gin.readSignal(w, 8, 64, cuda::memory_order_acquire);
  gin.waitSignal(cta, 0u, sum, 32, cuda::memory_order_acquire);
  gin.waitSignal(cta, w, 8, sum, 64, cuda::memory_order_acquire);
  gin.increaseSignalShadow(0, *gin.getSignalShadowPtr(0));
  gin.waitSignalMeetShadow(cta, 0, 64, cuda::memory_order_acquire);
  uint32_t before, delta;
  gin.waitSignalFollowShadow(cta, 0, 1u, &before, &delta, 32, cuda::memory_order_acquire);
  gin.resetSignal(0u);
  gin.resetSignal(w, 8);
}

#if NCCL_VERSION_CODE >= 23100
__device__ void every_timed_wait(const ncclGin& gin, ncclWindow_t w) {
  const ncclCoopCta cta;
  const auto order = cuda::memory_order_acquire;
  ncclGinRequest_t request{};
  if (gin.wait(request, cta, ncclGin_None{}, order, 1000) == ncclTimeout) return;
  if (gin.flush(cta, order, ncclGin_None{}, 1000) == ncclTimeout) return;
  if (gin.waitCounter(cta, 0, 1, 56, order, 1000) == ncclTimeout) return;
  if (gin.waitSignal(cta, 0u, 1, 64, order, 1000) == ncclTimeout) return;
  (void)gin.waitSignal(cta, w, 8, 1, 64, order, 1000);
}
#endif

__device__ void every_action(const ncclGin& gin, ncclWindow_t w) {
  const ncclGin_None none;
  put_with(gin, w, ncclGin_StrongSignalInc{0}, none, ncclCoopThread{});
  put_with(gin, w, ncclGin_WeakSignalInc{0}, ncclGin_WeakCounterInc{0}, ncclCoopWarp{});
  put_with(gin, w, ncclGin_SignalInc{0}, ncclGin_CounterInc{0}, ncclCoopTile<8>{});
  put_with(gin, w, ncclGin_StrongSignalAdd{0, 1}, none, ncclCoopLanes{});
  put_with(gin, w, ncclGin_WeakSignalAdd{0, 1}, none, ncclCoopWarpSpan(0, 2, 0));
  put_with(gin, w, ncclGin_SignalAdd{0, 1}, none, ncclCoopCta{});
  put_with(gin, w, ncclGin_StrongVASignalInc{w, 0}, none, ncclCoopAny(ncclCoopCta{}));
  put_with(gin, w, ncclGin_WeakVASignalInc{w, 0}, none, ncclCoopThread{});
  put_with(gin, w, ncclGin_VASignalInc{w, 0}, none, ncclCoopThread{});
  put_with(gin, w, ncclGin_StrongVASignalAdd{w, 0, 1}, none, ncclCoopThread{});
  put_with(gin, w, ncclGin_WeakVASignalAdd{w, 0, 1}, none, ncclCoopThread{});
  put_with(gin, w, ncclGin_VASignalAdd{w, 0, 1}, none, ncclCoopThread{});
}

template <typename Coop>
__device__ void every_barrier(Coop coop, const ncclDevComm& comm, const ncclGin& gin) {
  const auto order = cuda::memory_order_acq_rel;
  const ncclTeam world = ncclTeamWorld(comm);
  ncclGinBarrier(coop, gin, world, comm.worldGinBarrier, 0);
  ncclGinBarrier(coop, gin, ncclTeamTagRail{}, 0, order, ncclGinFenceLevel::None);
  ncclGinBarrier(coop, gin, ncclTeamTagWorld{}, 0, order, ncclGinFenceLevel::Relaxed);
  ncclGinBarrier(coop, ncclGinAllContexts(comm), world, comm.worldGinBarrier, 0, order, Put | Get);
  ncclGinBarrier(coop, ncclGinAllContexts(comm), ncclTeamTagRail{}, 0);
  ncclGinBarrier(coop, ncclGinAllContexts(comm), ncclTeamTagWorld{}, 0);
  ncclGinBarrierSession<Coop> timed(coop, gin, ncclTeamTagWorld{}, 1);
  if (timed.sync(coop, order, ncclGinFenceLevel::Put, 1000000) == ncclTimeout) return;
  ncclLsaBarrierSession<Coop> lsa(coop, comm, ncclTeamTagLsa{}, 0);
  lsa.arrive(coop, cuda::memory_order_release);
  lsa.wait(coop, cuda::memory_order_acquire);
  lsa.sync(coop, order);
  if (lsa.sync(coop, order, 1000000) == ncclTimeout) return;
  ncclLsaBarrierSession<Coop> custom(coop, comm, ncclTeamLsa(comm), comm.lsaBarrier, 1, false, comm.lsaMultimem);
  ncclBarrier(coop, ncclTeamTagWorld{}, gin, 0, order, ncclGinFenceLevel::None, false);
  ncclBarrier(coop, ncclTeamTagRail{}, gin, 0);
  ncclBarrierSession<Coop> node(coop, ncclTeamTagLsa{}, comm, 0);
  node.sync(coop, order);
  node.lsaBarrier().sync(coop, order);
  ncclBarrierSession<Coop> both(coop, ncclTeamLsa(comm), ncclTeamRail(comm), gin, comm.lsaBarrier, comm.railGinBarrier,
                                0);
  (void)both.sync(coop, order, ncclGinFenceLevel::Get, 1000000);
  both.ginBarrier().sync(coop, order);
}

__device__ void every_address(const ncclDevComm& comm, ncclWindow_t w, void** out) {
  const ncclTeam world = ncclTeamWorld(comm);
  const ncclSymPtr<int> p(w, 64);
  out[0] = ncclGetLocalPointer(w, 0);
  out[1] = ncclGetLsaPointer(w, 0, 0);
  out[2] = ncclGetPeerPointer(w, 0, 0);
  out[3] = ncclGetPeerPointer(w, 0, world, 0);
  out[4] = ncclGetMultimemPointer(w, 0, comm.lsaMultimem);
  out[5] = ncclGetLsaMultimemPointer(w, 0, comm);
  out[6] = (ncclGetResourceBuffer(comm, 0) + 4).localPtr();
  out[7] = ncclGetResourceBufferLocalPointer(comm, 0);
  out[8] = ncclGetResourceBufferLsaPointer(comm, 0, 0);
  out[9] = ncclGetResourceBufferPeerPointer(comm, 0, world, 0);
  out[10] = ncclGetResourceBufferMultimemPointer(comm, 0, comm.lsaMultimem);
  out[11] = ncclGetResourceBufferLsaMultimemPointer(comm, 0);
  out[12] = ncclFindWindow(ncclCoopCta{}, comm, out);
  out[13] = (p + 1).localPtr();
  out[14] = (p - 1).lsaPtr(0);
  out[15] = p.peerPtr(0);
  out[16] = p.peerPtr(world, 0);
  out[17] = p.multimemPtr(comm.lsaMultimem);
  out[18] = p.lsaMultimemPtr(comm);
  out[19] = ncclCoopBcast_WarpSpan_stash();
  out[20] = ncclCoopBcast_Cta_stash();
}

template <typename T>
struct Largest {
  __device__ T operator()(T a, T b) const { return a < b ? b : a; }
};

__device__ void every_element(const ncclDevComm& comm) {
  ncclLLA2ASession<ncclCoopWarp> session(ncclCoopWarp{}, comm, ncclTeamLsa(comm), ncclLLA2AHandle{}, 0, 4, false,
                                         comm.lsaMultimem);
  session.send(0, 0, 1.5);
  session.bcast(1, 2);
  float some[4] = {};
  session.recvUnrolled<1, 4>(0, 2, 1, some);
  some[0] += static_cast<float>(session.recv<double>(0));
  some[1] = session.recvReduce<2, float>(
      0, 2, 1, [](float x) { return x; }, [](float a, float b) { return a + b; });
  session.endEpoch(ncclCoopWarp{});
}

template <typename T>
__device__ void every_reduction(const ncclDevComm& comm, ncclWindow_t w, T* here) {
  const ncclCoopCta cta;
  const ncclTeam team = ncclTeamLsa(comm);
  const ncclSymPtr<T> p(w, 0);
  const auto at = [=](int i) { return here + i; };
  ncclLsaReduceLsaCopy<T>(cta, at, 2, at, 2, Largest<T>(), 4);
  ncclLsaReduceSumLsaCopy<T>(cta, at, 2, at, 2, size_t{4});
  ncclLsaReduceSumCopy(cta, p, p, 4, team);
  ncclLsaReduceSumCopy(cta, p, p, 4, comm);
  ncclLsaReduceSumCopy<T>(cta, w, 0, w, 0, 4, team);
  ncclLsaReduceSumCopy<T>(cta, w, 0, w, 0, 4, comm);
  ncclLsaReduceSumCopy(cta, p, team, p, team, 4);
  ncclLocalReduceSumCopy(cta, 2, here, 4, 2, here, 4, 4);
  ncclLsaReduceSum<T>(cta, at, 2, here, 4);
  ncclLsaReduceSum(cta, p, here, 4, team);
  ncclLsaReduceSum(cta, p, here, 4, comm);
  ncclLsaReduceSum(cta, w, 0, here, 4, team);
  ncclLsaReduceSum(cta, w, 0, here, 4, comm);
  ncclLocalReduceSum(cta, at, 2, here, 4);
  ncclLocalReduceSum(cta, 2, here, 4, here, 4);
  ncclLsaCopy(cta, here, at, 2, 4);
  ncclLsaCopy(cta, here, p, 4, team);
  ncclLsaCopy(cta, here, p, 4, comm);
  ncclLsaCopy(cta, here, w, 0, 4, team);
  ncclLsaCopy(cta, here, w, 0, 4, comm);
  ncclLocalCopy(cta, here, at, 2, 4);
  ncclLocalCopy(cta, here, 2, here, 4, 4);
  const ncclMultimemHandle mm = comm.lsaMultimem;
  ncclLsaReduceMultimemCopy<T>(cta, at, 2, at, 1, Largest<T>(), 4);
  ncclLsaReduceSumMultimemCopy<T>(cta, at, 2, at, 1, 4);
  ncclLsaReduceSumMultimemCopy(cta, p, team, p, mm, size_t{4});
  ncclLsaReduceSumMultimemCopy(cta, p, team, here, 4);
  ncclMultimemReduceSumLsaCopy<T>(cta, at, 1, at, 2, 4);
  ncclMultimemReduceSumLsaCopy(cta, p, mm, p, team, 4);
  ncclMultimemReduceSumLsaCopy(cta, here, p, team, 4);
  ncclMultimemReduceSumMultimemCopy<T>(cta, at, 1, at, 1, 4);
  ncclMultimemReduceSum(cta, p, here, 4, mm);
  ncclMultimemReduceSum(cta, here, here, 4);
  ncclMultimemReduceSum(cta, w, 0, here, 4, mm);
  ncclMultimemCopy(cta, here, p, 4, mm);
  ncclMultimemCopy(cta, here, here, 4);
  ncclMultimemCopy(cta, here, w, 0, 4, mm);
  ncclMultimemReduceSumCopy(cta, p, mm, p, mm, 4);
  ncclMultimemReduceSumCopy(cta, here, here, 4);
  ncclMultimemReduceSumCopy<T>(cta, w, 0, mm, w, 0, mm, 4);
}

__global__ void everything(ncclDevComm comm, ncclWindow_t w, void** out) {
  const ncclGin gin(comm, 0, NCCL_GIN_RESOURCE_SHARING_CTA);
  const ncclGin_BackendOne<NCCL_NET_DEVICE_GIN_PROXY> proxy(comm, 1);
  proxy.signal(ncclTeamWorld(comm), 0, ncclGin_SignalInc{0});
  every_argument(gin, w, nullptr);
#if NCCL_VERSION_CODE >= 23100
  every_timed_wait(gin, w);
#endif
  every_action(gin, w);
  every_barrier(ncclCoopCta{}, comm, gin);
  every_barrier(ncclCoopAny(ncclCoopWarp{}), comm, gin);
  every_address(comm, w, out);
  every_element(comm);
  every_reduction(comm, w, static_cast<double*>(*out));
  every_reduction(comm, w, static_cast<__nv_bfloat16*>(*out));
  every_reduction(comm, w, static_cast<__half*>(*out));
}
