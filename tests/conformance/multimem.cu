// SPDX-License-Identifier: Apache-2.0
// Multicast addresses: what instructions on them reach, barriers and broadcasts by them (contract 2.8, 6.2, 8.1, 8.4).
// Where there is no multicast each case says nothing.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "conformance.h"

#if CONFORMANCE_SINCE_2_30

namespace {

using conformance::Outcome;
using conformance::Rank;
using conformance::Window;

bool has_multimem(Rank& rank) {
  ncclCommProperties_t properties = NCCL_COMM_PROPERTIES_INITIALIZER;
  rank.must(ncclCommQueryProperties(rank.comm, &properties), "ncclCommQueryProperties");
  return properties.multimemSupport;
}

ncclDevCommRequirements_t with_multimem() {
  ncclDevCommRequirements_t reqs = Rank::requirements();
  reqs.lsaMultimem = true;
  return reqs;
}

__device__ unsigned load_sum([[maybe_unused]] const unsigned* place) {
  unsigned sum = 0;
#if __CUDA_ARCH__ >= 900
  asm volatile("multimem.ld_reduce.relaxed.sys.global.add.u32 %0, [%1];" : "=r"(sum) : "l"(place) : "memory");
#endif
  return sum;
}
__device__ void store_all([[maybe_unused]] unsigned* place, [[maybe_unused]] unsigned value) {
#if __CUDA_ARCH__ >= 900
  asm volatile("multimem.st.relaxed.sys.global.u32 [%0], %1;" ::"l"(place), "r"(value) : "memory");
#endif
}
__device__ void add_all([[maybe_unused]] unsigned* place, [[maybe_unused]] unsigned value) {
#if __CUDA_ARCH__ >= 900
  asm volatile("multimem.red.relaxed.sys.global.add.u32 [%0], %1;" ::"l"(place), "r"(value) : "memory");
#endif
}

// Word 0: each rank's own. Word 1: what the first rank of the team stores. Word 2: what all have added.
struct Words {
  unsigned sum, stored, added;
};

__global__ void load_store_add(ncclDevComm comm, ncclTeam team, ncclMultimemHandle mm, ncclWindow_t window, size_t offset, Words* out) {
  const ncclCoopThread thread;
  ncclLsaBarrierSession<ncclCoopThread> barrier(thread, comm, ncclTeamTagLsa{}, 0);
  const ncclSymPtr<unsigned> words(window, offset);
  unsigned* const own = words.localPtr();
  unsigned* const all = words.multimemPtr(mm);
  own[0] = 1u << comm.rank;
  own[1] = own[2] = 0;
  barrier.sync(thread, cuda::memory_order_acq_rel);
  out->sum = load_sum(all);
  if (team.rank == 0) store_all(all + 1, 100u + static_cast<unsigned>(comm.rank));
  add_all(all + 2, 1u << comm.rank);
  barrier.sync(thread, cuda::memory_order_acq_rel);
  out->stored = own[1];
  out->added = own[2];
}

// Every member of a team sees the sums and stores of its members and of nobody else.
void expect_team(Rank& rank, const ncclDevComm& comm, ncclTeam team, ncclMultimemHandle mm, const Window& window, size_t offset, const char* what) {
  unsigned members = 0;
  for (int i = 0; i < team.nRanks; ++i) members |= 1u << ncclTeamRankToWorld(comm, team, i);
  Outcome<Words> words(rank);
  load_store_add<<<1, 1, 0, rank.stream>>>(comm, team, mm, window.handle, offset, words.device());
  rank.finish();
  const Words got = words.get();
  rank.expect_eq(got.sum, members, std::string(what) + ": the sum over the ranks");
  rank.expect_eq(got.stored, 100u + static_cast<unsigned>(ncclTeamRankToWorld(comm, team, 0)), std::string(what) + ": the word stored");
  rank.expect_eq(got.added, members, std::string(what) + ": what was added");
}

CONFORMANCE_CASE(Multimem_reaches_all_lsa_ranks_in_windows_of_before_and_after, 4) {
  if (!has_multimem(rank)) return;
  const Window before = rank.window(8192);
  const ncclDevComm comm = rank.dev_comm(with_multimem());
  const Window after = rank.window(3 * 4096 + 4);
  const ncclTeam lsa = ncclTeamLsa(comm);
  expect_team(rank, comm, lsa, comm.lsaMultimem, before, 4096, "a window of before");
  expect_team(rank, comm, lsa, comm.lsaMultimem, after, 3 * 4096 - 8, "a window of after");
  const ncclDevComm second = rank.dev_comm(with_multimem());
  expect_team(rank, second, lsa, second.lsaMultimem, before, 0, "a second device communicator");
}

CONFORMANCE_CASE(Multimem_of_a_team_reaches_its_members_only, 4) {
  if (!has_multimem(rank)) return;
  const Window window = rank.window(8192);
  const ncclTeam lsa = ncclTeamLsa(rank.comm);
  const ncclTeam pair = ncclTeamInnerFactor(lsa, 2), stride = ncclTeamOuterFactor(lsa, 2);
  ncclMultimemHandle_t of_pair{}, of_stride{}, unwanted{&of_pair};
  ncclTeamRequirements_t third{nullptr, lsa, false, &unwanted};
  ncclTeamRequirements_t second{&third, stride, true, &of_stride};
  ncclTeamRequirements_t first{&second, pair, true, &of_pair};
  ncclDevCommRequirements_t reqs = Rank::requirements();
  reqs.teamRequirementsList = &first;
  const ncclDevComm comm = rank.dev_comm(reqs);
  rank.expect_eq(comm.lsaMultimem.mcBasePtr == nullptr, true, "no handle of the LSA team, which was not asked for");
  rank.expect_eq(unwanted.mcBasePtr == nullptr, true, "no handle of a team without multimem");
  expect_team(rank, comm, pair, of_pair, window, 0, "neighbours");
  expect_team(rank, comm, stride, of_stride, window, 4096, "every second rank");
}

// As far as the smallest part: the last rank registers more.
CONFORMANCE_CASE(Multimem_pointers_of_the_host_are_those_of_kernels, 3) {
  if (!has_multimem(rank)) return;
  const Window window = rank.window(rank.rank == 2 ? 16384 : 4096);
  void* early = nullptr;  // before any device communicator wants it
  rank.must(ncclGetLsaMultimemDevicePointer(window.handle, 64, &early), "ncclGetLsaMultimemDevicePointer");
  const ncclDevComm comm = rank.dev_comm(with_multimem());
  void* same = nullptr;
  rank.must(ncclGetMultimemDevicePointer(window.handle, 64, comm.lsaMultimem, &same), "ncclGetMultimemDevicePointer");
  rank.expect_eq(early != nullptr && early == same, true, "one address of a place");
  expect_team(rank, comm, ncclTeamLsa(comm), comm.lsaMultimem, window, 4096 - sizeof(Words), "the last words");
}

// --- Barriers by multicast -------------------------------------------------------------------------------------------
// Of barrier 0: the saved epoch and the inbox (contract 8.1), just below where they roll over.
__global__ void age(ncclDevComm comm) {
  auto* const words = static_cast<unsigned*>(ncclGetResourceBufferLocalPointer(comm, comm.lsaBarrier.bufHandle));
  words[0] = words[2 * comm.lsaBarrier.nBarriers] = 0xfffffffau;
}

// Both ways of index 0 are barriers of their own; the inbox holds all arrivals when the last barrier has ended.
__global__ void both_ways(ncclDevComm comm, int turns, unsigned* arrivals) {
  const ncclCoopWarp warp;
  ncclLsaBarrierSession<ncclCoopWarp> unicast(warp, comm, ncclTeamTagLsa{}, 0);
  unicast.sync(warp, cuda::memory_order_acq_rel);  // all inboxes are aged
  {
    ncclLsaBarrierSession<ncclCoopWarp> barrier(warp, comm, ncclTeamTagLsa{}, 0, true);
    for (int turn = 0; turn < turns; ++turn) barrier.sync(warp, cuda::memory_order_acq_rel);
  }
  unicast.sync(warp, cuda::memory_order_acq_rel);
  const auto* const words = static_cast<const unsigned*>(ncclGetResourceBufferLocalPointer(comm, comm.lsaBarrier.bufHandle));
  if (threadIdx.x == 0) *arrivals = words[2 * comm.lsaBarrier.nBarriers] - words[0];
  unicast.sync(warp, cuda::memory_order_acq_rel);
}

CONFORMANCE_CASE(P22_a_barrier_by_multicast_rolls_over, 3) {
  if (!has_multimem(rank)) return;
  const ncclDevComm comm = rank.dev_comm(with_multimem());
  Outcome<unsigned> arrivals(rank);
  age<<<1, 1, 0, rank.stream>>>(comm);
  for (int kernel = 0; kernel < 3; ++kernel) {  // later kernels go on where the last one ended
    both_ways<<<1, 32, 0, rank.stream>>>(comm, 5, arrivals.device());
    rank.finish();
    rank.expect_eq(arrivals.get(), 0u, "arrivals beyond the saved epoch");
  }
}

__global__ void timed(ncclDevComm comm, unsigned* result) {
  if (comm.rank != 0) return;  // missing
  ncclLsaBarrierSession<ncclCoopThread> barrier(ncclCoopThread{}, comm, ncclTeamTagLsa{}, 1, true);
  *result = static_cast<unsigned>(barrier.sync(ncclCoopThread{}, cuda::memory_order_acq_rel, 20'000'000));
}

CONFORMANCE_CASE(P21_a_timed_barrier_by_multicast_says_when_a_member_is_missing, 2) {
  if (!has_multimem(rank)) return;
  const ncclDevComm comm = rank.dev_comm(with_multimem());
  Outcome<unsigned> result(rank);
  timed<<<1, 1, 0, rank.stream>>>(comm, result.device());
  rank.finish();
  if (rank.rank == 0) rank.expect_eq(result.get(), static_cast<unsigned>(ncclTimeout), "the barrier's result");
}

// --- Broadcast by the low-latency all-to-all -------------------------------------------------------------------------
constexpr int kMaxElts = 8;

__global__ void broadcast(ncclDevComm comm, ncclLLA2AHandle handle, int epochs, unsigned* wrong) {
  const ncclTeam team = ncclTeamLsa(comm);
  ncclLLA2ASession<ncclCoopWarp> session(ncclCoopWarp{}, comm, team, handle, 0, kMaxElts, true, comm.lsaMultimem);
  for (int epoch = 0; epoch < epochs; ++epoch) {
    const uint64_t base = 1000ull * static_cast<uint64_t>(epoch);
    if (threadIdx.x == 0) session.bcast(team.rank, base + static_cast<uint64_t>(team.rank));
    if (static_cast<int>(threadIdx.x) < team.nRanks) {
      const auto got = session.recv<uint64_t>(static_cast<int>(threadIdx.x));
      if (got != base + threadIdx.x) atomicAdd(wrong, 1u);
    }
    session.endEpoch(ncclCoopWarp{});
  }
}

CONFORMANCE_CASE(LLA2A_bcast_by_multicast_reaches_all, 4) {
  if (!has_multimem(rank)) return;
  ncclLLA2AHandle handle;
  ncclDevResourceRequirements_t node;
  rank.must(ncclLLA2ACreateRequirement(1, ncclLLA2ACalcSlots(kMaxElts, sizeof(uint64_t)), &handle, &node), "ncclLLA2ACreateRequirement");
  ncclDevCommRequirements_t reqs = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER;
  reqs.resourceRequirementsList = &node;
  reqs.lsaMultimem = true;
  const ncclDevComm comm = rank.dev_comm(reqs);
  Outcome<unsigned> wrong(rank);
  broadcast<<<1, 32, 0, rank.stream>>>(comm, handle, conformance::shortened(50), wrong.device());
  rank.finish();
  rank.expect_eq(wrong.get(), 0u, "elements that differ");
}

// --- Reductions and copies -------------------------------------------------------------------------------------------
constexpr size_t kPart = 8192;  // bytes of each half of the window: sources, results
constexpr int kSlice = 96;      // elements a rank takes care of: whole packs in every type

// Values whose sums are exact in every type here.
template <typename T>
__device__ T value(int rank, int i) {
  return static_cast<T>(static_cast<float>(i % 5 + rank));
}
template <typename T>
__device__ T sum_of(int ranks, int i) {
  int sum = 0;
  for (int r = 0; r < ranks; ++r) sum += i % 5 + r;
  return static_cast<T>(static_cast<float>(sum));
}

template <typename T>
struct Plus {
  __device__ T operator()(T a, T b) const { return static_cast<T>(a + b); }
};

template <typename T>
struct AllReduce {
  const ncclCoopCta& cta;
  const ncclDevComm& comm;
  ncclWindow_t window;
  int first, count;

  // By each of the forms: what a form leaves to the caller is done by another one.
  __device__ void by(int form) const {
    const ncclMultimemHandle mm = comm.lsaMultimem;
    const ncclTeam team = ncclTeamLsa(comm);
    const ncclSymPtr<T> from = ncclSymPtr<T>(window, 0) + first, to = ncclSymPtr<T>(window, kPart) + first;
    const auto source = [=](int r) { return from.lsaPtr(r); };
    const auto mc_source = [=](int) { return from.multimemPtr(mm); };
    const auto destination = [=](int r) { return to.lsaPtr(r); };
    const auto mc_destination = [=](int) { return to.multimemPtr(mm); };
    // covers: ncclMultimemReduceSumCopy(ncclSymPtr); ncclMultimemReduceSumCopy(pointer)
    // covers: ncclMultimemReduceSumCopy(ncclWindow_t); ncclLsaReduceSumMultimemCopy(ncclSymPtr)
    // covers: ncclLsaReduceSumMultimemCopy(pointer)
    if (form == 0) ncclMultimemReduceSumCopy(cta, from, mm, to, mm, count);
    if (form == 1) ncclMultimemReduceSumCopy(cta, from.multimemPtr(mm), to.multimemPtr(mm), count);
    if (form == 2) ncclMultimemReduceSumCopy<T>(cta, window, from.offset, mm, window, to.offset, mm, count);
    if (form == 3) ncclLsaReduceSumMultimemCopy(cta, from, team, to, mm, count);
    if (form == 4) ncclLsaReduceSumMultimemCopy(cta, from, team, to.multimemPtr(mm), count);
    // covers: ncclMultimemReduceSumLsaCopy(ncclSymPtr); ncclMultimemReduceSumLsaCopy(pointer)
    // covers: ncclLsaReduceSumMultimemCopy(lambda); ncclMultimemReduceSumLsaCopy(lambda)
    if (form == 5) ncclMultimemReduceSumLsaCopy(cta, from, mm, to, team, count);
    if (form == 6) ncclMultimemReduceSumLsaCopy(cta, from.multimemPtr(mm), to, team, count);
    if (form == 7) ncclLsaReduceSumMultimemCopy<T>(cta, source, team.nRanks, mc_destination, 1, count);
    if (form == 8) ncclMultimemReduceSumLsaCopy<T>(cta, mc_source, 1, destination, team.nRanks, count);
    if (form == 9) ncclMultimemReduceSumMultimemCopy<T>(cta, mc_source, 1, mc_destination, 1, count);
    if (form == 10) ncclLsaReduceMultimemCopy<T>(cta, source, team.nRanks, mc_destination, 1, Plus<T>(), count);
    if (form >= 11) in_two_steps(form, from, to, mm);
  }
  __device__ void in_two_steps(int form, ncclSymPtr<T> from, ncclSymPtr<T> to, ncclMultimemHandle mm) const {
    // covers: ncclMultimemReduceSum(ncclSymPtr); ncclMultimemReduceSum(pointer); ncclMultimemReduceSum(ncclWindow_t)
    if (form == 11) ncclMultimemReduceSum(cta, from, to.localPtr(), count, mm);
    if (form == 12) ncclMultimemReduceSum(cta, from.multimemPtr(mm), to.localPtr(), count);
    if (form == 13) ncclMultimemReduceSum<T>(cta, window, from.offset, to.localPtr(), count, mm);
    __syncthreads();
    // covers: ncclMultimemCopy(ncclSymPtr); ncclMultimemCopy(pointer); ncclMultimemCopy(ncclWindow_t)
    if (form == 11) ncclMultimemCopy(cta, to.localPtr(), to, count, mm);
    if (form == 12) ncclMultimemCopy(cta, to.localPtr(), to.multimemPtr(mm), count);
    if (form == 13) ncclMultimemCopy<T>(cta, to.localPtr(), window, to.offset, count, mm);
  }
};
constexpr int kForms = 14;

template <typename T>
__global__ void all_reduce(ncclDevComm comm, ncclWindow_t window, int form, unsigned* wrong) {
  const ncclCoopCta cta;
  const ncclTeam team = ncclTeamLsa(comm);
  ncclLsaBarrierSession<ncclCoopCta> barrier(cta, comm, ncclTeamTagLsa{}, 0, true);
  T* const source = ncclSymPtr<T>(window, 0).localPtr();
  T* const result = ncclSymPtr<T>(window, kPart).localPtr();
  const int all = kSlice * team.nRanks;
  for (int i = static_cast<int>(threadIdx.x); i < all; i += static_cast<int>(blockDim.x)) source[i] = value<T>(team.rank, i);
  barrier.sync(cta, cuda::memory_order_acq_rel);
  AllReduce<T>{cta, comm, window, kSlice * team.rank, kSlice}.by(form);
  barrier.sync(cta, cuda::memory_order_acq_rel);
  for (int i = static_cast<int>(threadIdx.x); i < all; i += static_cast<int>(blockDim.x)) {
    if (static_cast<float>(result[i]) != static_cast<float>(sum_of<T>(team.nRanks, i))) atomicAdd(wrong, 1u);
    result[i] = static_cast<T>(0.0f);
  }
  barrier.sync(cta, cuda::memory_order_acq_rel);
}

template <typename T>
void all_reduces_of(Rank& rank, const ncclDevComm& comm, const Window& window, int forms, const char* type) {
  Outcome<unsigned> wrong(rank);
  for (int form = 0; form < forms; ++form) {
    all_reduce<T><<<1, 64, 0, rank.stream>>>(comm, window.handle, form, wrong.device());
    rank.finish();
    rank.expect_eq(wrong.get(), 0u, std::string(type) + ", form " + std::to_string(form));
  }
}

CONFORMANCE_CASE(ReduceCopy_every_form_by_multicast, 4) {
  if (!has_multimem(rank)) return;
  const Window window = rank.window(2 * kPart);
  const ncclDevComm comm = rank.dev_comm(with_multimem());
  all_reduces_of<float>(rank, comm, window, kForms, "float");
  all_reduces_of<int>(rank, comm, window, kForms, "int");
  all_reduces_of<unsigned long long>(rank, comm, window, 1, "unsigned long long");
  all_reduces_of<double>(rank, comm, window, 1, "double");
  all_reduces_of<__half>(rank, comm, window, 1, "half");
  all_reduces_of<__nv_bfloat16>(rank, comm, window, 1, "bfloat16");
}

// --- Misuse ----------------------------------------------------------------------------------------------------------
__global__ void enter_by_multicast(ncclDevComm comm, unsigned* passed) {
  ncclLsaBarrierSession<ncclCoopThread> barrier(ncclCoopThread{}, comm, ncclTeamTagLsa{}, 0, true);
  barrier.sync(ncclCoopThread{}, cuda::memory_order_acq_rel);
  *passed = 1;
}

void run_barrier(Rank& rank, bool good) {
  if (good && !has_multimem(rank)) return;
  const ncclDevComm comm = rank.dev_comm(good ? with_multimem() : Rank::requirements());
  const Outcome<unsigned> passed(rank, conformance::WhenDone::kKeep);
  enter_by_multicast<<<1, 1, 0, rank.stream>>>(comm, passed.device());
  conformance::expect_end(rank, passed, good, {"ncclLsaBarrierSession by rank 0", "reaches 0 of the team's 1 ranks"});
}

CONFORMANCE_CASE(M6_R_barrier_with_a_multicast_handle, 1) { run_barrier(rank, true); }
CONFORMANCE_CASE(M6_R_barrier_without_a_multicast_handle, 1) { run_barrier(rank, false); }

// One half too many moves alone; a pack of eight does not.
__global__ void copy_halves(ncclDevComm comm, ncclWindow_t window, int count, unsigned* passed) {
  const ncclSymPtr<__half> halves(window, 0);
  ncclMultimemCopy(ncclCoopThread{}, (halves + 64).localPtr(), halves, count, comm.lsaMultimem);
  *passed = 1;
}

void run_halves(Rank& rank, bool good) {
  if (!has_multimem(rank)) return;
  const Window window = rank.window(4096);
  const ncclDevComm comm = rank.dev_comm(with_multimem());
  const Outcome<unsigned> passed(rank, conformance::WhenDone::kKeep);
  copy_halves<<<1, 1, 0, rank.stream>>>(comm, window.handle, good ? 8 : 9, passed.device());
  const cudaError_t error = cudaStreamSynchronize(rank.stream);
  good ? rank.must(error, "cudaStreamSynchronize") : rank.expect_lost(error, "the stream's error");
  rank.expect_eq(*passed.device(), good ? 1u : 0u, "kernels that went on");
  rank.abandon();  // the copy knows no communicator: only the stream tells
}

CONFORMANCE_CASE(M6_R_multicast_of_whole_packs, 1) { run_halves(rank, true); }
CONFORMANCE_CASE(M6_R_multicast_of_a_single_half, 1) { run_halves(rank, false); }

}  // namespace

#endif  // CONFORMANCE_SINCE_2_30

int main(int argc, char** argv) { return conformance::conformance_main(argc, argv); }
