// SPDX-License-Identifier: Apache-2.0
// Data over load/store peers: the low-latency all-to-all (contract 8.4), reductions and copies (contract 9).
#include <cuda_fp16.h>

#include "conformance.h"

namespace {

using conformance::Outcome;
using conformance::Rank;
using conformance::Window;

// --- Low-latency all-to-all ------------------------------------------------------------------------------------------
constexpr int kMaxElts = 16;

struct Triple {
  uint64_t a, b, c;
};

struct Memory {
  ncclLLA2AHandle handle;
  ncclDevComm comm;
};

Memory a2a_memory(Rank& rank, int blocks, int bytes) {
  Memory memory;
  ncclDevResourceRequirements_t node;
  rank.must(ncclLLA2ACreateRequirement(blocks, ncclLLA2ACalcSlots(kMaxElts, bytes), &memory.handle, &node), "ncclLLA2ACreateRequirement");
  ncclDevCommRequirements_t reqs = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER;
  reqs.resourceRequirementsList = &node;
  memory.comm = rank.dev_comm(reqs);
  return memory;
}

// What rank `from` sends to rank `to` in an epoch.
__device__ uint64_t element(int from, int to, int epoch) { return 1000000ull * static_cast<uint64_t>(epoch) + 1000ull * static_cast<uint64_t>(from) + static_cast<uint64_t>(to); }

struct Seen {
  unsigned wrong, sum;
};

// Each block has memory of its own; thread p of a block serves rank p of the team.
__global__ void exchange(ncclDevComm comm, ncclLLA2AHandle handle, int epochs, Seen* seen) {
  const ncclTeam team = ncclTeamLsa(comm);
  ncclLLA2ASession<ncclCoopCta> session(ncclCoopCta{}, comm, team, handle, blockIdx.x, kMaxElts);
  for (int epoch = 0; epoch < epochs; ++epoch) {
    const int peer = static_cast<int>(threadIdx.x);
    if (peer < team.nRanks) {
      const uint64_t mine = element(team.rank, peer, epoch);
      session.send(peer, team.rank, Triple{mine, ~mine, mine * 3});
      const Triple got = session.recv<Triple>(peer);
      const uint64_t want = element(peer, team.rank, epoch);
      if (got.a != want || got.b != ~want || got.c != want * 3) atomicAdd(&seen->wrong, 1u);
    }
    session.endEpoch(ncclCoopCta{});
  }
}

CONFORMANCE_CASE(LLA2A_every_element_arrives_in_its_slot, 4) {
  Memory memory = a2a_memory(rank, 2, sizeof(Triple));
  Outcome<Seen> seen(rank);
  for (int kernel = 0; kernel < 2; ++kernel) {  // the second goes on where the first ended
    exchange<<<2, 64, 0, rank.stream>>>(memory.comm, memory.handle, conformance::shortened(25), seen.device());
    rank.finish();
  }
  rank.expect_eq(seen.get().wrong, 0u, "elements that differ");
}

// The block's saved epoch is the first word of its memory (contract 8.4): two epochs before the tags start again.
__global__ void age(ncclDevComm comm, ncclLLA2AHandle handle) { *static_cast<uint32_t*>(ncclGetResourceBufferLocalPointer(comm, handle.bufHandle)) = 0xfffffffbu; }

CONFORMANCE_CASE(LLA2A_tags_roll_over, 2) {
  Memory memory = a2a_memory(rank, 1, sizeof(Triple));
  Outcome<Seen> seen(rank);
  age<<<1, 1, 0, rank.stream>>>(memory.comm, memory.handle);
  rank.finish();
  exchange<<<1, 32, 0, rank.stream>>>(memory.comm, memory.handle, 7, seen.device());
  rank.finish();
  rank.expect_eq(seen.get().wrong, 0u, "elements that differ");
}

__global__ void gather_all(ncclDevComm comm, ncclLLA2AHandle handle, Seen* seen) {
  const ncclTeam team = ncclTeamLsa(comm);
  ncclLLA2ASession<ncclCoopWarp> session(ncclCoopWarp{}, comm, team, handle, 0, kMaxElts);
  if (threadIdx.x == 0) {
    session.bcast(2 * team.rank, static_cast<unsigned>(100 + team.rank));
    unsigned each[4] = {};
    session.recvUnrolled<1, 4>(0, team.nRanks, 2, each);
    for (int r = 0; r < team.nRanks; ++r) {
      if (each[r] != static_cast<unsigned>(100 + r)) atomicAdd(&seen->wrong, 1u);
    }
    // Not commutative, so that the order shows: 10 * (10 * (10 * 100 + 101) + 102) + 103 for four ranks.
    seen->sum = session.recvReduce<2, unsigned>(
        0, team.nRanks, 2, [](unsigned x) { return x; }, [](unsigned a, unsigned b) { return 10 * a + b; });
  }
  session.endEpoch(ncclCoopWarp{});
}

CONFORMANCE_CASE(LLA2A_bcast_reaches_all_and_recvReduce_folds_in_order, 4) {
  Memory memory = a2a_memory(rank, 1, sizeof(unsigned));
  Outcome<Seen> seen(rank);
  gather_all<<<1, 32, 0, rank.stream>>>(memory.comm, memory.handle, seen.device());
  rank.finish();
  rank.expect_eq(seen.get().wrong, 0u, "elements that differ");
  rank.expect_eq(seen.get().sum, 111223u, "the fold");
}

#if CONFORMANCE_SINCE_2_30
__global__ void send_to_slot(ncclDevComm comm, ncclLLA2AHandle handle, int slot, unsigned* passed) {
  ncclLLA2ASession<ncclCoopThread> session(ncclCoopThread{}, comm, ncclTeamLsa(comm), handle, 0, kMaxElts);
  session.send(0, slot, 1u);
  *passed = 1;
}

void run_slot(Rank& rank, int slot, bool good) {
  Memory memory = a2a_memory(rank, 1, sizeof(unsigned));
  const Outcome<unsigned> passed(rank, conformance::WhenDone::kKeep);
  send_to_slot<<<1, 1, 0, rank.stream>>>(memory.comm, memory.handle, slot, passed.device());
  conformance::expect_end(rank, passed, good, {"ncclLLA2ASession by rank 0", "slot 16 of 16"});
}

CONFORMANCE_CASE(M6_R_all_to_all_slot_in_range, 1) { run_slot(rank, kMaxElts - 1, true); }
CONFORMANCE_CASE(M6_R_all_to_all_slot_out_of_range, 1) { run_slot(rank, kMaxElts, false); }
#endif

#if CONFORMANCE_SINCE_2_30
// --- Reductions and copies -------------------------------------------------------------------------------------------
constexpr int kCounts[] = {0, 1, 7, 64, 1001};
constexpr size_t kPart = 8192;  // bytes of one buffer in the window
enum Part { kSource, kOut, kCopies, kParts };

template <typename T>
__device__ ncclSymPtr<T> part(ncclWindow_t window, int which) {
  return {window, static_cast<size_t>(which) * kPart};
}

// Values whose sums are exact in every type here.
template <typename T>
__device__ T value(int rank, int i) {
  return static_cast<T>((i % 13) + 2 * rank);
}
template <typename T>
__device__ T sum_of(int ranks, int i) {
  int sum = 0;
  for (int r = 0; r < ranks; ++r) sum += (i % 13) + 2 * r;
  return static_cast<T>(sum);
}

template <typename T>
__device__ void check(const T* got, int count, const T* beyond, T untouched, int ranks, unsigned* wrong) {
  for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x)) {
    if (got[i] != sum_of<T>(ranks, i)) atomicAdd(wrong, 1u);
  }
  if (threadIdx.x == 0 && *beyond != untouched) atomicAdd(wrong, 1u);
}

// Every rank sums the sources of all into its own `out`, `shift` elements off, and says how many are wrong.
template <typename T>
__global__ void sum_up(ncclDevComm comm, ncclWindow_t window, int count, int shift, unsigned* wrong) {
  const ncclCoopCta cta;
  const ncclTeam team = ncclTeamLsa(comm);
  ncclLsaBarrierSession<ncclCoopCta> barrier(cta, comm, ncclTeamTagLsa{}, 0);
  T* const source = part<T>(window, kSource).localPtr();
  T* const out = part<T>(window, kOut).localPtr() + shift;
  for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x)) source[i] = value<T>(team.rank, i);
  if (threadIdx.x == 0) out[count] = static_cast<T>(99);
  barrier.sync(cta, cuda::memory_order_acq_rel);
  // covers: ncclLsaReduceSum(ncclSymPtr, ncclTeam)
  ncclLsaReduceSum(cta, part<T>(window, kSource), out, count, team);
  __syncthreads();
  check(out, count, out + count, static_cast<T>(99), team.nRanks, wrong);
  barrier.sync(cta, cuda::memory_order_acq_rel);  // nobody writes the next sources while others read these
}

template <typename T>
void sums_of(Rank& rank, const char* type) {
  const Window window = rank.window(kParts * kPart);
  const ncclDevComm comm = rank.dev_comm();
  Outcome<unsigned> wrong(rank);
  for (int count : kCounts) {
    for (int shift : {0, 1}) {
      sum_up<T><<<1, 96, 0, rank.stream>>>(comm, window.handle, count, shift, wrong.device());
      rank.finish();
      rank.expect_eq(wrong.get(), 0u, std::string(type) + ": " + std::to_string(count) + " elements, shifted by " + std::to_string(shift));
    }
  }
}

CONFORMANCE_CASE(ReduceCopy_sums_of_every_width_and_alignment, 3) {
  sums_of<float>(rank, "float");
  sums_of<__half>(rank, "half");
  sums_of<unsigned char>(rank, "unsigned char");
  sums_of<double>(rank, "double");
}

// In half, 2048 + 1 + 1 is 2048; in float it is 2050, which is a half.
__global__ void wide(ncclWindow_t, __half* results) {
  __half terms[3] = {__float2half(2048.0f), __float2half(1.0f), __float2half(1.0f)};
  // covers: ncclLocalReduceSum(pointer)
  ncclLocalReduceSum(ncclCoopThread{}, 3, terms, 1, results, 1);
}

CONFORMANCE_CASE(ReduceCopy_halves_accumulate_in_float, 1) {
  Outcome<__half> result(rank);
  wide<<<1, 1, 0, rank.stream>>>(nullptr, result.device());
  rank.finish();
  rank.expect_eq(__half2float(result.get()), 2050.0f, "the sum");
}

template <typename T>
struct Minus {
  __device__ T operator()(T a, T b) const { return a - b; }
};

// All ranks' sources to all ranks' outputs by each of the forms that take both, each rank a slice of its own.
__global__ void all_reduce(ncclDevComm comm, ncclWindow_t window, int form, unsigned* wrong) {
  constexpr int kSlice = 100;
  const ncclCoopCta cta;
  const ncclTeam team = ncclTeamLsa(comm);
  ncclLsaBarrierSession<ncclCoopCta> barrier(cta, comm, ncclTeamTagLsa{}, 0);
  const ncclSymPtr<int> source = part<int>(window, kSource), out = part<int>(window, kOut);
  const int all = kSlice * team.nRanks;
  for (int i = static_cast<int>(threadIdx.x); i < all; i += static_cast<int>(blockDim.x)) source.localPtr()[i] = value<int>(team.rank, i);
  barrier.sync(cta, cuda::memory_order_acq_rel);
  const int first = kSlice * team.rank;
  const size_t offset = static_cast<size_t>(first) * sizeof(int);
  // covers: ncclLsaReduceSumCopy(ncclSymPtr, ncclTeam); ncclLsaReduceSumCopy(ncclSymPtr, ncclDevComm)
  // covers: ncclLsaReduceSumCopy(ncclWindow_t, ncclTeam); ncclLsaReduceSumCopy(ncclWindow_t, ncclDevComm)
  // covers: ncclLsaReduceSumCopy(two teams)
  if (form == 0) ncclLsaReduceSumCopy(cta, source + first, out + first, kSlice, team);
  if (form == 1) ncclLsaReduceSumCopy(cta, source + first, out + first, kSlice, comm);
  if (form == 2) ncclLsaReduceSumCopy<int>(cta, window, offset, window, kPart + offset, kSlice, team);
  if (form == 3) ncclLsaReduceSumCopy<int>(cta, window, offset, window, kPart + offset, kSlice, comm);
  if (form == 4) ncclLsaReduceSumCopy(cta, source + first, team, out + first, team, kSlice);
  if (form == 5) {
    const auto from = [=](int r) { return (source + first).lsaPtr(r); };
    const auto to = [=](int r) { return (out + first).lsaPtr(r); };
    ncclLsaReduceSumLsaCopy<int>(cta, from, team.nRanks, to, team.nRanks, kSlice);
  }
  if (form == 6) {
    // covers: ncclLsaReduceSum(ncclSymPtr, ncclDevComm); ncclLsaCopy(ncclSymPtr, ncclTeam)
    ncclLsaReduceSum(cta, source + first, (out + first).localPtr(), kSlice, comm);
    __syncthreads();
    ncclLsaCopy(cta, (out + first).localPtr(), out + first, kSlice, team);
  }
  if (form == 7) {
    // covers: ncclLsaReduceSum(ncclWindow_t, ncclTeam); ncclLsaCopy(ncclWindow_t, ncclDevComm)
    ncclLsaReduceSum<int>(cta, window, offset, (out + first).localPtr(), kSlice, team);
    __syncthreads();
    ncclLsaCopy<int>(cta, (out + first).localPtr(), window, kPart + offset, kSlice, comm);
  }
  barrier.sync(cta, cuda::memory_order_acq_rel);
  for (int i = static_cast<int>(threadIdx.x); i < all; i += static_cast<int>(blockDim.x)) {
    if (out.localPtr()[i] != sum_of<int>(team.nRanks, i)) atomicAdd(wrong, 1u);
    out.localPtr()[i] = -1;
  }
  barrier.sync(cta, cuda::memory_order_acq_rel);
}

CONFORMANCE_CASE(ReduceCopy_every_form_of_an_all_reduce, 4) {
  const Window window = rank.window(kParts * kPart);
  const ncclDevComm comm = rank.dev_comm();
  Outcome<unsigned> wrong(rank);
  for (int form = 0; form < 8; ++form) {
    all_reduce<<<1, 64, 0, rank.stream>>>(comm, window.handle, form, wrong.device());
    rank.finish();
    rank.expect_eq(wrong.get(), 0u, "form " + std::to_string(form));
  }
}

struct Locals {
  int difference[4];  // two destinations of two
  int copies[6];
  int sums[4];
};

__global__ void locals(Locals* locals) {
  const ncclCoopThread thread;
  int terms[6] = {100, 200, 10, 20, 1, 2};  // three sources of two
  ncclLsaReduceLsaCopy<int>(
      thread, [&](int i) { return terms + 2 * i; }, 3, [&](int i) { return locals->difference + 2 * i; }, 2, Minus<int>(), 2);
  // covers: ncclLocalCopy(pointer)
  ncclLocalCopy(thread, terms, 3, locals->copies, 2, 2);
  ncclLocalReduceSumCopy(thread, 3, terms, 2, 2, locals->sums, 2, 2);
}

CONFORMANCE_CASE(ReduceCopy_operators_fold_in_order_and_strides_count_elements, 1) {
  Outcome<Locals> outcome(rank);
  locals<<<1, 1, 0, rank.stream>>>(outcome.device());
  rank.finish();
  const Locals got = outcome.get();
  const int differences[] = {89, 178, 89, 178}, copies[] = {100, 200, 100, 200, 100, 200}, sums[] = {111, 222, 111, 222};
  for (size_t i = 0; i < 4; ++i) rank.expect_eq(got.difference[i], differences[i], "difference " + std::to_string(i));
  for (size_t i = 0; i < 6; ++i) rank.expect_eq(got.copies[i], copies[i], "copy " + std::to_string(i));
  for (size_t i = 0; i < 4; ++i) rank.expect_eq(got.sums[i], sums[i], "sum " + std::to_string(i));
}
#endif


}  // namespace

int main(int argc, char** argv) { return conformance::conformance_main(argc, argv); }
