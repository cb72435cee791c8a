// SPDX-License-Identifier: Apache-2.0
// Reductions and copies of every element type and in every form over load/store peers (contract 9), addresses of
// resources, epochs of the low-latency all-to-all.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "conformance.h"

#if CONFORMANCE_SINCE_2_30

namespace {

using conformance::Outcome;
using conformance::Rank;
using conformance::Window;

constexpr size_t kPart = 8192;  // bytes of one buffer in the window
constexpr int kCounts[] = {0, 1, 13, 257};

template <typename T>
__device__ T of(int value) {
  return static_cast<T>(static_cast<float>(value));
}

struct Wrong {
  unsigned sums, folds, beyond;
};

template <typename T>
struct Larger {
  __device__ T operator()(T a, T b) const { return static_cast<float>(a) < static_cast<float>(b) ? b : a; }
};
template <typename T>
struct Smaller {
  __device__ T operator()(T a, T b) const { return static_cast<float>(b) < static_cast<float>(a) ? b : a; }
};
template <typename T>
struct Times {
  __device__ T operator()(T a, T b) const { return static_cast<T>(static_cast<float>(a) * static_cast<float>(b)); }
};

// Rank r holds i % 2 + r: sums, products and extremes of three ranks are exact in every type.
__device__ int value(int rank, int i) { return i % 2 + rank; }

// The sources of all ranks by sum, largest, smallest and product, each into a place of its own; `shift` elements off.
template <typename T>
__global__ void fold(ncclDevComm comm, ncclWindow_t window, int count, int shift, Wrong* wrong) {
  const ncclCoopCta cta;
  const ncclTeam team = ncclTeamLsa(comm);
  ncclLsaBarrierSession<ncclCoopCta> barrier(cta, comm, ncclTeamTagLsa{}, 0);
  const ncclSymPtr<T> source(window, 0);
  T* const out = ncclSymPtr<T>(window, kPart).localPtr() + shift;
  constexpr int kStride = 300;
  for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x)) source.localPtr()[i] = of<T>(value(team.rank, i));
  for (int i = static_cast<int>(threadIdx.x); i < 4 * kStride; i += static_cast<int>(blockDim.x)) out[i] = of<T>(7);
  barrier.sync(cta, cuda::memory_order_acq_rel);
  const auto from = [=](int r) { return source.lsaPtr(r); };
  const auto to = [=](int which) { return [=](int) { return out + which * kStride; }; };
  // covers: ncclLsaReduceSum(lambda)
  ncclLsaReduceSum<T>(cta, from, team.nRanks, out, count);
  ncclLsaReduceLsaCopy<T>(cta, from, team.nRanks, to(1), 1, Larger<T>(), count);
  ncclLsaReduceLsaCopy<T>(cta, from, team.nRanks, to(2), 1, Smaller<T>(), count);
  ncclLsaReduceLsaCopy<T>(cta, from, team.nRanks, to(3), 1, Times<T>(), count);
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < kStride; i += static_cast<int>(blockDim.x)) {
    int sum = 0, product = 1;
    for (int r = 0; r < team.nRanks; ++r) sum += value(r, i), product *= value(r, i);
    const int want[] = {sum, value(team.nRanks - 1, i), value(0, i), product};
    for (int which = 0; which < 4; ++which) {
      const int got = static_cast<int>(static_cast<float>(out[which * kStride + i]));
      if (i >= count) {
        if (got != 7) atomicAdd(&wrong->beyond, 1u);
      } else if (got != want[which]) {
        atomicAdd(which == 0 ? &wrong->sums : &wrong->folds, 1u);
      }
    }
  }
  barrier.sync(cta, cuda::memory_order_acq_rel);
}

template <typename T>
void folds_of(Rank& rank, const ncclDevComm& comm, const Window& window, const char* type) {
  Outcome<Wrong> outcome(rank);
  for (const int count : kCounts) {
    for (const int shift : {0, 1}) {
      fold<T><<<1, 96, 0, rank.stream>>>(comm, window.handle, count, shift, outcome.device());
      rank.finish();
      const Wrong wrong = outcome.get();
      const std::string what = std::string(type) + ", " + std::to_string(count) + " elements, shifted by " + std::to_string(shift);
      rank.expect_eq(wrong.sums, 0u, what + ": sums");
      rank.expect_eq(wrong.folds, 0u, what + ": extremes and products");
      rank.expect_eq(wrong.beyond, 0u, what + ": elements beyond that were written");
    }
  }
}

CONFORMANCE_CASE(ReduceCopy_every_type_and_operator, 3) {
  const Window window = rank.window(4 * kPart);
  const ncclDevComm comm = rank.dev_comm();
  folds_of<signed char>(rank, comm, window, "signed char");
  folds_of<unsigned char>(rank, comm, window, "unsigned char");
  folds_of<int>(rank, comm, window, "int");
  folds_of<unsigned>(rank, comm, window, "unsigned");
  folds_of<long long>(rank, comm, window, "long long");
  folds_of<unsigned long long>(rank, comm, window, "unsigned long long");
  folds_of<float>(rank, comm, window, "float");
  folds_of<double>(rank, comm, window, "double");
  folds_of<__half>(rank, comm, window, "half");
  folds_of<__nv_bfloat16>(rank, comm, window, "bfloat16");
  folds_of<__nv_fp8_e4m3>(rank, comm, window, "fp8 e4m3");
  folds_of<__nv_fp8_e5m2>(rank, comm, window, "fp8 e5m2");
}

// What rounds after every addition loses the small terms; a wider sum rounds once, at the end.
struct Wide {
  float half, bfloat16, e4m3, e5m2;
};
template <typename T>
__device__ float sum_of_three(float large, float small) {
  T terms[3] = {static_cast<T>(large), static_cast<T>(small), static_cast<T>(small)};
  T result;
  // covers: ncclLocalReduceSum(lambda)
  ncclLocalReduceSum<T>(
      ncclCoopThread{}, [&](int i) { return terms + i; }, 3, &result, 1);
  return static_cast<float>(result);
}
__global__ void wide(Wide* out) {
  out->half = sum_of_three<__half>(2048, 1);
  out->bfloat16 = sum_of_three<__nv_bfloat16>(256, 1);
  out->e4m3 = sum_of_three<__nv_fp8_e4m3>(16, 1);
  out->e5m2 = sum_of_three<__nv_fp8_e5m2>(8, 1);
}

CONFORMANCE_CASE(ReduceCopy_narrow_types_round_once, 1) {
  Outcome<Wide> outcome(rank);
  wide<<<1, 1, 0, rank.stream>>>(outcome.device());
  rank.finish();
  const Wide got = outcome.get();
  rank.expect_eq(got.half, 2050.0f, "half");
  rank.expect_eq(got.bfloat16, 258.0f, "bfloat16");
  rank.expect_eq(got.e4m3, 18.0f, "fp8 e4m3");
  rank.expect_eq(got.e5m2, 10.0f, "fp8 e5m2");
}

// Copies of every form from a rank's own buffer: into each rank's slot, or into local ones.
__global__ void copies(ncclDevComm comm, ncclWindow_t window, Wrong* wrong) {
  constexpr int kElts = 33;
  const ncclCoopCta cta;
  const ncclTeam team = ncclTeamLsa(comm);
  ncclLsaBarrierSession<ncclCoopCta> barrier(cta, comm, ncclTeamTagLsa{}, 0);
  const ncclSymPtr<int> out(window, kPart);
  int* const source = ncclSymPtr<int>(window, 0).localPtr();
  for (int i = static_cast<int>(threadIdx.x); i < kElts; i += static_cast<int>(blockDim.x)) source[i] = 1000 * (team.rank + 1) + i;
  barrier.sync(cta, cuda::memory_order_acq_rel);
  const int slot = 100 * team.rank;
  const size_t row = 400;  // elements of one form
  const auto place = [=](int form) { return out + (form * static_cast<int>(row) + slot); };
  // covers: ncclLsaCopy(lambda)
  ncclLsaCopy(cta, source, [=](int r) { return place(0).lsaPtr(r); }, team.nRanks, kElts);
  // covers: ncclLsaCopy(ncclSymPtr, ncclTeam); ncclLsaCopy(ncclSymPtr, ncclDevComm)
  ncclLsaCopy(cta, source, place(1), kElts, team);
  ncclLsaCopy(cta, source, place(2), kElts, comm);
  // covers: ncclLsaCopy(ncclWindow_t, ncclTeam); ncclLsaCopy(ncclWindow_t, ncclDevComm)
  ncclLsaCopy(cta, source, window, place(3).offset, kElts, team);
  ncclLsaCopy<int, ncclCoopCta, int, 2>(cta, source, window, place(4).offset, kElts, comm);
  barrier.sync(cta, cuda::memory_order_acq_rel);
  for (int form = 0; form < 5; ++form) {
    for (int r = 0; r < team.nRanks; ++r) {
      const int* const got = out.localPtr() + static_cast<size_t>(form) * row + 100 * r;
      for (int i = static_cast<int>(threadIdx.x); i < kElts; i += static_cast<int>(blockDim.x)) {
        if (got[i] != 1000 * (r + 1) + i) atomicAdd(&wrong->sums, 1u);
      }
      if (threadIdx.x == 0 && got[kElts] != 0) atomicAdd(&wrong->beyond, 1u);
    }
  }
  __syncthreads();
  int* const here = out.localPtr();
  // covers: ncclLocalCopy(lambda); ncclLocalCopy(pointer)
  ncclLocalCopy(cta, source, [=](int i) { return here + 50 * i; }, 2, kElts);
  ncclLocalCopy(cta, source, 2, here + 100, 50, kElts);
  __syncthreads();
  for (int copy = 0; copy < 4; ++copy) {
    for (int i = static_cast<int>(threadIdx.x); i < kElts; i += static_cast<int>(blockDim.x)) {
      if (here[50 * copy + i] != source[i]) atomicAdd(&wrong->folds, 1u);
    }
  }
  __syncthreads();
  // covers: ncclLsaReduceSum(ncclWindow_t, ncclDevComm); ncclLsaReduceSum(ncclWindow_t, ncclTeam)
  ncclLsaReduceSum(cta, window, 0, here, kElts, comm);
  ncclLsaReduceSum(cta, window, 0, here + 50, kElts, team);
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < kElts; i += static_cast<int>(blockDim.x)) {
    const int want = 1000 * team.nRanks * (team.nRanks + 1) / 2 + team.nRanks * i;
    if (here[i] != want || here[50 + i] != want) atomicAdd(&wrong->sums, 1u);
  }
  barrier.sync(cta, cuda::memory_order_acq_rel);
}

CONFORMANCE_CASE(ReduceCopy_every_form_of_a_copy, 4) {
  const Window window = rank.window(4 * kPart);
  const ncclDevComm comm = rank.dev_comm();
  Outcome<Wrong> outcome(rank);
  copies<<<1, 64, 0, rank.stream>>>(comm, window.handle, outcome.device());
  rank.finish();
  rank.expect_eq(outcome.get().sums, 0u, "elements at peers and sums that differ");
  rank.expect_eq(outcome.get().folds, 0u, "elements of local copies that differ");
  rank.expect_eq(outcome.get().beyond, 0u, "elements beyond that were written");
}

// --- Resources -------------------------------------------------------------------------------------------------------
// A buffer of the requirements' list: each way to it leads to the same place.
__global__ void resource(ncclDevComm comm, ncclDevResourceHandle_t handle, unsigned* wrong) {
  const ncclCoopThread thread;
  const ncclTeam team = ncclTeamLsa(comm);
  ncclLsaBarrierSession<ncclCoopThread> barrier(thread, comm, ncclTeamTagLsa{}, 0);
  const ncclSymPtr<char> buffer = ncclGetResourceBuffer(comm, handle);
  auto* const own = static_cast<uint64_t*>(ncclGetResourceBufferLocalPointer(comm, handle));
  *wrong += own[0] != 0 || own[127] != 0;  // zero-filled
  *wrong += static_cast<void*>(buffer.localPtr()) != own || buffer.offset != ncclGetResourceBufferOffset(handle) || buffer.window != comm.resourceWindow;
  barrier.sync(thread, cuda::memory_order_acq_rel);
  const int next = (team.rank + 1) % team.nRanks, last = (team.rank + team.nRanks - 1) % team.nRanks;
  static_cast<uint64_t*>(ncclGetResourceBufferLsaPointer(comm, handle, next))[0] = 10 + static_cast<uint64_t>(team.rank);
  static_cast<uint64_t*>(ncclGetResourceBufferPeerPointer(comm, handle, team, next))[1] = 20 + static_cast<uint64_t>(team.rank);
  // covers: ncclSymPtr.peerPtr(ncclTeam); ncclSymPtr.peerPtr(world)
  reinterpret_cast<uint64_t*>(buffer.peerPtr(team, next))[2] = 30 + static_cast<uint64_t>(team.rank);
  reinterpret_cast<uint64_t*>(buffer.peerPtr(ncclTeamRankToWorld(comm, team, next)))[3] = 40 + static_cast<uint64_t>(team.rank);
  barrier.sync(thread, cuda::memory_order_acq_rel);
  for (uint64_t i = 0; i < 4; ++i) *wrong += own[i] != 10 * (i + 1) + static_cast<uint64_t>(last);
  if (comm.lsaMultimem.mcBasePtr != nullptr) {
    auto* const by_handle = static_cast<uint64_t*>(ncclGetResourceBufferMultimemPointer(comm, handle, comm.lsaMultimem));
    *wrong += by_handle == nullptr || by_handle != ncclGetResourceBufferLsaMultimemPointer(comm, handle);
    if (team.rank == 0) ncclMultimemCopy(thread, own, by_handle + 64, 2);  // both words to all ranks
    barrier.sync(thread, cuda::memory_order_acq_rel);
    const auto first = static_cast<uint64_t>(team.nRanks - 1);
    *wrong += own[64] != 10 + first || own[65] != 20 + first;
  }
}

CONFORMANCE_CASE(Resources_are_reached_by_every_address, 3) {
  ncclCommProperties_t properties = NCCL_COMM_PROPERTIES_INITIALIZER;
  rank.must(ncclCommQueryProperties(rank.comm, &properties), "ncclCommQueryProperties");
  ncclDevResourceHandle_t handle = 0;
  ncclDevResourceRequirements_t node{};
  node.bufferSize = 1024;
  node.bufferAlign = 4096;
  node.outBufferHandle = &handle;
  ncclDevCommRequirements_t reqs = Rank::requirements();
  reqs.resourceRequirementsList = &node;
  reqs.lsaMultimem = properties.multimemSupport;
  const ncclDevComm comm = rank.dev_comm(reqs);
  rank.expect_eq(ncclGetResourceBufferOffset(handle) % 4096, 0u, "the buffer's offset modulo its alignment");
  Outcome<unsigned> wrong(rank);
  resource<<<1, 1, 0, rank.stream>>>(comm, handle, wrong.device());
  rank.finish();
  rank.expect_eq(wrong.get(), 0u, "places that differ");
}

// --- Epochs ----------------------------------------------------------------------------------------------------------
struct Epochs {
  uint32_t first, second, later;
};
__global__ void epochs(ncclDevComm comm, ncclLLA2AHandle handle, bool again, Epochs* out) {
  ncclLLA2ASession<ncclCoopThread> session(ncclCoopThread{}, comm, ncclTeamLsa(comm), handle, 0, 4);
  (again ? out->later : out->first) = session.epoch;
  for (int peer = 0; peer < comm.lsaSize; ++peer) session.send(peer, comm.lsaRank, 5u);
  for (int peer = 0; peer < comm.lsaSize; ++peer) (void)session.recv<unsigned>(peer);
  session.endEpoch(ncclCoopThread{});
  if (!again) out->second = session.epoch;
}

CONFORMANCE_CASE(LLA2A_epochs_begin_at_two_and_go_on, 2) {
  ncclLLA2AHandle handle;
  ncclDevResourceRequirements_t node;
  rank.must(ncclLLA2ACreateRequirement(1, ncclLLA2ACalcSlots(4, sizeof(unsigned)), &handle, &node), "ncclLLA2ACreateRequirement");
  rank.expect_eq(handle.nSlots, 4u, "slots");
  ncclDevCommRequirements_t reqs = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER;
  reqs.resourceRequirementsList = &node;
  const ncclDevComm comm = rank.dev_comm(reqs);
  Outcome<Epochs> outcome(rank);
  epochs<<<1, 1, 0, rank.stream>>>(comm, handle, false, outcome.device());
  epochs<<<1, 1, 0, rank.stream>>>(comm, handle, true, outcome.device());
  rank.finish();
  rank.expect_eq(outcome.get().first, 2u, "the first epoch");
  rank.expect_eq(outcome.get().second, 3u, "the second epoch");
  rank.expect_eq(outcome.get().later, 3u, "where the next session goes on");
}

// --- Sessions --------------------------------------------------------------------------------------------------------
// What a session was made of can be read from it (contract 8.1, 8.2, 8.3, 8.4).
__global__ void members(ncclDevComm comm, ncclLLA2AHandle a2a, unsigned* wrong) {
  const ncclCoopThread thread;
  const ncclGin gin(comm, 1);
  const ncclTeam lsa = ncclTeamLsa(comm), world = ncclTeamWorld(comm), rail = ncclTeamRail(comm);
  {
    ncclLsaBarrierSession<ncclCoopThread> session(thread, comm, lsa, comm.lsaBarrier, 1, false, comm.lsaMultimem);
    *wrong += session.coop.size() != 1 || &session.comm != &comm || session.team.nRanks != lsa.nRanks;
    *wrong += session.handle.bufHandle != comm.lsaBarrier.bufHandle || session.index != 1 || session.multimem;
    *wrong += session.mmHandle.mcBasePtr != comm.lsaMultimem.mcBasePtr || session.epoch != 0;
  }
  {
    ncclGinBarrierSession<ncclCoopThread> session(thread, gin, world, comm.worldGinBarrier, 1);
    *wrong += session.coop.size() != 1 || session.net.contextId != gin.contextId || session.team.stride != world.stride;
    *wrong += session.handle.signal0 != comm.worldGinBarrier.signal0 || session.index != 1 || session.fenceAllContexts;
    *wrong += session.signal != comm.worldGinBarrier.signal0 + static_cast<uint32_t>(world.nRanks);
    ncclGinBarrierSession<ncclCoopThread> all(thread, ncclGinAllContexts(comm), ncclTeamTagWorld{}, 0);
    *wrong += !all.fenceAllContexts || all.signal != comm.worldGinBarrier.signal0;
  }
  {
    ncclBarrierSession<ncclCoopThread> session(thread, ncclTeamTagWorld{}, gin, 0);
    *wrong += session.coop.size() != 1 || !session.gin.present() || &session.gin.value().comm != &comm;
    *wrong += !session.innerLsaBar.present() || session.innerLsaBar.value().team.nRanks != lsa.nRanks;
    *wrong += !session.outerRailGinBar.present() || session.outerRailGinBar.value().team.nRanks != rail.nRanks;
    *wrong += !session.outerWorldGinBar.present() || session.outerWorldGinBar.value().team.nRanks != world.nRanks;
  }
  {
    ncclBarrierSession<ncclCoopThread> session(thread, ncclTeamTagLsa{}, comm, 0);
    *wrong += session.gin.present() || !session.innerLsaBar.present() || session.outerRailGinBar.present() || session.outerWorldGinBar.present();
  }
  ncclLLA2ASession<ncclCoopThread> session(thread, comm, lsa, a2a, 1, 4, false, comm.lsaMultimem);
  *wrong += session.coop.size() != 1 || &session.comm != &comm || session.team.nRanks != lsa.nRanks || session.handle.nSlots != a2a.nSlots;
  *wrong += session.block != 1 || session.pitch != 4 || session.multimem || session.mmHandle.mcBasePtr != comm.lsaMultimem.mcBasePtr;
  // Block 1 of 1 + 2 * nSlots lines each: behind its first line the half of an even epoch.
  *wrong += session.slotsOffset != (1 + 2 * a2a.nSlots) + 1;
}

CONFORMANCE_CASE(Sessions_show_what_they_were_made_of, 2) {
  ncclLLA2AHandle handle;
  ncclDevResourceRequirements_t node;
  rank.must(ncclLLA2ACreateRequirement(2, ncclLLA2ACalcSlots(4, sizeof(unsigned)), &handle, &node), "ncclLLA2ACreateRequirement");
  ncclDevCommRequirements_t reqs = Rank::requirements();
  reqs.barrierCount = 1;
  reqs.resourceRequirementsList = &node;
  const ncclDevComm comm = rank.dev_comm(reqs);
  Outcome<unsigned> wrong(rank);
  members<<<1, 1, 0, rank.stream>>>(comm, handle, wrong.device());
  rank.finish();
  rank.expect_eq(wrong.get(), 0u, "members that differ");
}

}  // namespace

#endif  // CONFORMANCE_SINCE_2_30

int main(int argc, char** argv) { return conformance::conformance_main(argc, argv); }
