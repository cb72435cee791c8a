// SPDX-License-Identifier: Apache-2.0
// Communicators of communicators, their ends, and what kernels may still do then (contract 2.4, P32).
#include "conformance.h"

#if CONFORMANCE_SINCE_2_30

namespace {

using conformance::Outcome;
using conformance::Rank;
using conformance::WhenDone;

constexpr int kThreads = 32;

// --- What a communicator has to be able to do ---------------------------------------------------------------------------
__host__ __device__ inline uint64_t word_for(int from, int to) { return 1000 + 100 * static_cast<uint64_t>(from) + static_cast<uint64_t>(to); }

// Each rank, named by its place in `members`, sends a word to every one, itself included; wrong words are counted.
struct Members {
  int ids[8];
};
__global__ void all_to_all(ncclDevComm comm, ncclWindow_t window, Members members, unsigned* wrong) {
  const ncclGin gin(comm, 0);
  const ncclTeam world = ncclTeamWorld(comm);
  const int own = members.ids[comm.rank];
  for (int peer = static_cast<int>(threadIdx.x); peer < comm.nRanks; peer += static_cast<int>(blockDim.x)) {
    gin.putValue(world, peer, window, static_cast<size_t>(comm.rank) * 8, word_for(own, members.ids[peer]), ncclGin_StrongSignalInc{0});
  }
  gin.waitSignal(ncclCoopCta{}, 0, static_cast<uint64_t>(comm.nRanks));
  const auto* const words = static_cast<const uint64_t*>(ncclGetLocalPointer(window, 0));
  for (int from = static_cast<int>(threadIdx.x); from < comm.nRanks; from += static_cast<int>(blockDim.x)) {
    if (words[from] != word_for(members.ids[from], own)) atomicAdd(wrong, 1u);
  }
  ncclGinBarrierSession<ncclCoopCta>(ncclCoopCta{}, gin, ncclTeamTagWorld{}, 0).sync(ncclCoopCta{}, cuda::memory_order_relaxed, ncclGinFenceLevel::Put);
}

#if defined(ANYGIN_TARGET_CPU)  // host transfers are not on the cuda target yet
void use_host_transfers(Rank& rank, ncclComm_t comm, ncclWindow_t window, char* buffer, const std::vector<int>& members) {
  const int size = static_cast<int>(members.size());
  int own = -1;
  rank.must(ncclCommUserRank(comm, &own), "ncclCommUserRank");
  const Outcome<int64_t> mine(rank, WhenDone::kKeep), sum(rank, WhenDone::kKeep);
  *mine.device() = members[static_cast<size_t>(own)];
  rank.must(ncclAllReduce(mine.device(), sum.device(), 1, ncclInt64, ncclSum, comm, rank.stream), "ncclAllReduce");
  rank.finish();
  int64_t wanted = 0;
  for (const int id : members) wanted += id;
  rank.expect_eq(*sum.device(), wanted, "the sum of the ranks' names");
  auto* const words = reinterpret_cast<uint64_t*>(buffer + 1024);
  words[0] = word_for(members[static_cast<size_t>(own)], 77);
  const int next = (own + 1) % size, last = (own + size - 1) % size;
  rank.must(ncclPutSignal(words, 1, ncclUint64, next, window, 1024 + 8, 0, 0, 0, comm, rank.stream), "ncclPutSignal");
  const ncclWaitSignalDesc_t from{1, last, 0, 0};
  rank.must(ncclWaitSignal(1, const_cast<ncclWaitSignalDesc_t*>(&from), comm, rank.stream), "ncclWaitSignal");
  rank.finish();
  rank.expect_eq(words[1], word_for(members[static_cast<size_t>(last)], 77), "what the last rank's host put");
}
#endif

// What a call on a non-blocking communicator comes to; of a blocking one, the result itself.
void settle(Rank& rank, ncclComm_t comm, ncclResult_t result, const char* what) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (result == ncclInProgress && std::chrono::steady_clock::now() < until) rank.must(ncclCommGetAsyncError(comm, &result), what);
  rank.must(result, what);
}

// Windows, a device communicator, an all-to-all in a kernel, and the host's transfers. `members`: who the ranks are.
void exercise(Rank& rank, ncclComm_t comm, const std::vector<int>& members, int lsa_size) {
  int size = 0, own = -1;
  rank.must(ncclCommCount(comm, &size), "ncclCommCount");
  rank.must(ncclCommUserRank(comm, &own), "ncclCommUserRank");
  rank.expect_eq(size, static_cast<int>(members.size()), "ranks of the communicator");
  const auto place = std::find(members.begin(), members.end(), rank.rank) - members.begin();
  rank.expect_eq(own, static_cast<int>(place), "own rank in the communicator");
  void* buffer = nullptr;
  ncclWindow_t window = nullptr;
  rank.must(ncclMemAlloc(&buffer, 4096), "ncclMemAlloc");
  settle(rank, comm, ncclCommWindowRegister(comm, buffer, 4096, &window, NCCL_WIN_COLL_SYMMETRIC), "ncclCommWindowRegister");
  ncclDevCommRequirements_t reqs = Rank::requirements();
  ncclDevComm dev_comm;
  settle(rank, comm, ncclDevCommCreate(comm, &reqs, &dev_comm), "ncclDevCommCreate");
  rank.expect_eq(dev_comm.lsaSize, lsa_size, "ranks of an LSA team");
  Members names{};
  std::copy(members.begin(), members.end(), names.ids);
  Outcome<unsigned> wrong(rank);
  all_to_all<<<1, kThreads, 0, rank.stream>>>(dev_comm, window, names, wrong.device());
  rank.finish();
  rank.expect_eq(wrong.get(), 0u, "wrong words of the all-to-all");
#if defined(ANYGIN_TARGET_CPU)
  use_host_transfers(rank, comm, window, static_cast<char*>(buffer), members);
#endif
  rank.must(ncclDevCommDestroy(comm, &dev_comm), "ncclDevCommDestroy");
  rank.must(ncclCommWindowDeregister(comm, window), "ncclCommWindowDeregister");
  rank.must(ncclMemFree(buffer), "ncclMemFree");
}

// --- Split ---------------------------------------------------------------------------------------------------------------
// Two halves of each node make a child each that spans the nodes; the parent goes on.
CONFORMANCE_CASE_WITH(split_by_color_makes_whole_communicators, 4, {"ANYGIN_TOPOLOGY=2x2"}) {
  ncclComm_t child = nullptr;
  rank.must(ncclCommSplit(rank.comm, rank.rank % 2, rank.rank, &child, nullptr), "ncclCommSplit");
  exercise(rank, child, rank.rank % 2 == 0 ? std::vector<int>{0, 2} : std::vector<int>{1, 3}, 1);
  exercise(rank, rank.comm, {0, 1, 2, 3}, 2);
  rank.must(ncclCommDestroy(child), "ncclCommDestroy");
}

// A node each, the ranks the other way round; one rank takes no part; children of children.
CONFORMANCE_CASE_WITH(split_orders_by_key_and_leaves_out_who_has_no_color, 5, {"ANYGIN_TOPOLOGY=3,2"}) {
  const bool out = rank.rank == 2;
  ncclComm_t child = rank.comm;
  rank.must(ncclCommSplit(rank.comm, out ? NCCL_SPLIT_NOCOLOR : 7, -rank.rank, &child, nullptr), "ncclCommSplit");
  if (out) {
    if (child != nullptr) rank.fail("a rank without a color got a communicator");
    return;
  }
  exercise(rank, child, {4, 3, 1, 0}, 2);
  ncclComm_t grandchild = nullptr;
  const bool far = rank.rank >= 3;
  rank.must(ncclCommSplit(child, far ? 1 : 0, 0, &grandchild, nullptr), "ncclCommSplit of a child");
  exercise(rank, grandchild, far ? std::vector<int>{4, 3} : std::vector<int>{1, 0}, 2);
  rank.must(ncclCommDestroy(grandchild), "ncclCommDestroy");
  rank.must(ncclCommDestroy(child), "ncclCommDestroy");
}

// --- Shrink --------------------------------------------------------------------------------------------------------------
CONFORMANCE_CASE_WITH(shrink_without_some_ranks_keeps_the_order_of_the_others, 4, {"ANYGIN_TOPOLOGY=2x2"}) {
  if (rank.rank == 1) return;
  ncclComm_t child = nullptr;
  int excluded[] = {1};
  rank.must(ncclCommShrink(rank.comm, excluded, 1, &child, nullptr, NCCL_SHRINK_DEFAULT), "ncclCommShrink");
  exercise(rank, child, {0, 2, 3}, 1);
  rank.must(ncclCommDestroy(child), "ncclCommDestroy");
}

// --- Non-blocking --------------------------------------------------------------------------------------------------------
// Whatever may wait for other ranks says ncclInProgress and goes on; the communicator refuses calls meanwhile.
CONFORMANCE_CASE_WITH(a_non_blocking_communicator_is_asked_for_its_results, 3, {"ANYGIN_TOPOLOGY=2,1"}) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  ncclComm_t child = nullptr, grandchild = nullptr;
  rank.must(ncclCommSplit(rank.comm, 0, 0, &child, &config), "ncclCommSplit of a blocking communicator");
  exercise(rank, child, {0, 1, 2}, 1);
  // Rank 2 comes later: until then nobody can be through.
  if (rank.rank == 2) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  rank.expect_eq(static_cast<int>(ncclCommSplit(child, 0, -rank.rank, &grandchild, nullptr)), static_cast<int>(ncclInProgress), "a split in the background");
  if (grandchild == nullptr) return rank.fail("the handle is not there at once");
  if (rank.rank != 2) {
    int count = 0;
    rank.expect_eq(static_cast<int>(ncclCommCount(grandchild, &count)), static_cast<int>(ncclInvalidArgument), "a question to a communicator in progress");
    ncclResult_t state = ncclSuccess;
    rank.must(ncclCommGetAsyncError(child, &state), "ncclCommGetAsyncError");
    rank.expect_eq(static_cast<int>(state), static_cast<int>(ncclInProgress), "the parent's state");
  }
  settle(rank, child, ncclInProgress, "the parent");
  settle(rank, grandchild, ncclInProgress, "the child");
  exercise(rank, grandchild, {2, 1, 0}, 1);
  for (const ncclComm_t comm : {grandchild, child}) {
    rank.expect_eq(static_cast<int>(ncclCommFinalize(comm)), static_cast<int>(ncclInProgress), "finalize");
    settle(rank, comm, ncclInProgress, "finalize");
    rank.must(ncclCommDestroy(comm), "ncclCommDestroy");
  }
}

// --- Revoke --------------------------------------------------------------------------------------------------------------
__global__ void wait_for_ever(ncclDevComm comm, unsigned* passed) {
  const ncclGin gin(comm, 0);
  gin.waitSignal(ncclCoopCta{}, 1, 1);
  *passed += 1;
}

void expect_refused(Rank& rank, ncclResult_t result, ncclResult_t wanted, const char* what) {
  rank.expect_eq(static_cast<int>(result), static_cast<int>(wanted), what);
}

// One rank revokes: all waits of all ranks end, and what is left is to ask, to end, or to make another one.
CONFORMANCE_CASE_WITH(P32_revoke_ends_every_wait_and_leaves_questions, 3, {"ANYGIN_TOPOLOGY=2,1"}) {
  using Clock = std::chrono::steady_clock;
  const ncclDevComm comm = rank.dev_comm();
  const Outcome<unsigned> passed(rank, WhenDone::kKeep);
  expect_refused(rank, ncclCommRevoke(rank.comm, 1), ncclInvalidArgument, "revoke with a flag");
  wait_for_ever<<<1, kThreads, 0, rank.stream>>>(comm, passed.device());
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  if (rank.rank == 2) rank.must(ncclCommRevoke(rank.comm, NCCL_REVOKE_DEFAULT), "ncclCommRevoke");
  const auto since = Clock::now();
  rank.expect_lost(cudaStreamSynchronize(rank.stream), "the stream's error after the revoke");
  (void)cudaGetLastError();  // the stream has told it
  if (Clock::now() - since > std::chrono::milliseconds(1000)) rank.fail("the wait outlived the revoke by more than 1 s");
  rank.expect_eq(*passed.device(), 0u, "waits that passed");
  ncclResult_t async_error = ncclInternalError;
  rank.must(ncclCommGetAsyncError(rank.comm, &async_error), "ncclCommGetAsyncError");
  rank.expect_eq(static_cast<int>(async_error), static_cast<int>(rank.rank == 2 ? ncclSuccess : ncclRemoteError), "async error");
  if (rank.rank != 2) {
    if (std::string(ncclGetLastError(rank.comm)).find("rank 2") == std::string::npos) rank.fail(std::string("the last error does not name rank 2: ") + ncclGetLastError(rank.comm));
    rank.must(ncclCommRevoke(rank.comm, NCCL_REVOKE_DEFAULT), "ncclCommRevoke of one that was told");
  }
  expect_refused(rank, ncclCommRevoke(rank.comm, NCCL_REVOKE_DEFAULT), ncclInvalidArgument, "a second revoke");
  expect_refused(rank, ncclCommFinalize(rank.comm), ncclInvalidUsage, "finalize");
  ncclDevCommRequirements_t reqs = Rank::requirements();
  ncclDevComm never;
  expect_refused(rank, ncclDevCommCreate(rank.comm, &reqs, &never), ncclInvalidUsage, "a device communicator");
#if defined(ANYGIN_TARGET_CPU)
  const Outcome<int> word(rank, WhenDone::kKeep);
  expect_refused(rank, ncclAllReduce(word.device(), word.device(), 1, ncclInt32, ncclSum, rank.comm, rank.stream), ncclInvalidUsage, "a collective");
  expect_refused(rank, ncclSignal(99, 0, 0, 0, rank.comm, rank.stream), ncclInvalidUsage, "a signal to a rank that does not exist");
#endif
  int count = 0;
  rank.must(ncclCommCount(rank.comm, &count), "ncclCommCount");
  rank.expect_eq(count, 3, "ranks");
  // All three make one that works.
  ncclComm_t child = nullptr;
  rank.must(ncclCommSplit(rank.comm, 0, 0, &child, nullptr), "ncclCommSplit of a revoked communicator");
  exercise(rank, child, {0, 1, 2}, 1);
  rank.must(ncclCommDestroy(child), "ncclCommDestroy");
  rank.must(ncclCommDestroy(rank.comm), "ncclCommDestroy of the revoked one");
  rank.comm = nullptr;
}

// A host call that waits for the others ends with the revoke of one of them.
CONFORMANCE_CASE(P32_revoke_ends_a_host_call, 3) {
  void* buffer = nullptr;
  rank.must(ncclMemAlloc(&buffer, 4096), "ncclMemAlloc");
  if (rank.rank == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    rank.must(ncclCommRevoke(rank.comm, NCCL_REVOKE_DEFAULT), "ncclCommRevoke");
  } else {
    const auto since = std::chrono::steady_clock::now();
    ncclWindow_t never = nullptr;
    expect_refused(rank, ncclCommWindowRegister(rank.comm, buffer, 4096, &never, NCCL_WIN_COLL_SYMMETRIC), ncclRemoteError, "a collective call without the one that revoked");
    if (std::chrono::steady_clock::now() - since > std::chrono::milliseconds(1100)) rank.fail("the call outlived the revoke by more than 1 s");
    expect_refused(rank, ncclCommWindowRegister(rank.comm, buffer, 4096, &never, NCCL_WIN_COLL_SYMMETRIC), ncclRemoteError, "the next one");
  }
  rank.abandon();
}

#if defined(ANYGIN_TARGET_CPU)
// A stream that waits for a peer's host signal is let go, too.
CONFORMANCE_CASE(P32_revoke_ends_a_wait_of_a_stream, 2) {
  const ncclWaitSignalDesc_t from{1, 1 - rank.rank, 0, 0};
  rank.must(ncclWaitSignal(1, const_cast<ncclWaitSignalDesc_t*>(&from), rank.comm, rank.stream), "ncclWaitSignal");
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  if (rank.rank == 1) rank.must(ncclCommRevoke(rank.comm, NCCL_REVOKE_DEFAULT), "ncclCommRevoke");
  const auto since = std::chrono::steady_clock::now();
  rank.expect_lost(cudaStreamSynchronize(rank.stream), "the stream's error after the revoke");
  if (std::chrono::steady_clock::now() - since > std::chrono::milliseconds(1000)) rank.fail("the stream's wait outlived the revoke by more than 1 s");
  (void)cudaGetLastError();  // the stream has told it
  if (rank.rank == 0) rank.must(ncclCommRevoke(rank.comm, NCCL_REVOKE_DEFAULT), "ncclCommRevoke of one that was told");
  ncclComm_t child = nullptr;
  rank.must(ncclCommSplit(rank.comm, 0, 0, &child, nullptr), "ncclCommSplit of a revoked communicator");
  exercise(rank, child, {0, 1}, 2);
  rank.must(ncclCommDestroy(child), "ncclCommDestroy");
  rank.abandon();
}

// --- Grow ----------------------------------------------------------------------------------------------------------------
// Two ranks of four become a communicator, and take the others in again; these learn the id over the parent.
CONFORMANCE_CASE_WITH(grow_takes_new_ranks_in, 4, {"ANYGIN_TOPOLOGY=2x2"}) {
  const bool old = rank.rank < 2;
  ncclComm_t small = nullptr, grown = nullptr;
  rank.must(ncclCommSplit(rank.comm, old ? 0 : NCCL_SPLIT_NOCOLOR, 0, &small, nullptr), "ncclCommSplit");
  const Outcome<ncclUniqueId> id(rank, WhenDone::kKeep);
  if (rank.rank == 0) rank.must(ncclCommGetUniqueId(small, id.device()), "ncclCommGetUniqueId");
  rank.must(ncclBroadcast(id.device(), id.device(), sizeof(ncclUniqueId), ncclChar, 0, rank.comm, rank.stream), "ncclBroadcast");
  rank.finish();
  if (old) {
    rank.must(ncclCommGrow(small, 4, rank.rank == 0 ? id.device() : nullptr, -1, &grown, nullptr), "ncclCommGrow");
    exercise(rank, small, {0, 1}, 2);
    rank.must(ncclCommDestroy(small), "ncclCommDestroy");
  } else {
    rank.must(ncclCommGrow(nullptr, 4, id.device(), rank.rank, &grown, nullptr), "ncclCommGrow of a new rank");
  }
  exercise(rank, grown, {0, 1, 2, 3}, 2);
  rank.must(ncclCommDestroy(grown), "ncclCommDestroy");
}
#endif

// --- Recovery ------------------------------------------------------------------------------------------------------------
// Rank 1 is lost while the others wait for it in a kernel. They see the error, revoke, shrink, and finish with right data.
CONFORMANCE_CASE_WITH(P32_survivors_of_a_lost_rank_shrink_and_go_on, 4, {"ANYGIN_TOPOLOGY=2x2"}, 1) {
  const ncclDevComm comm = rank.dev_comm();
  const Outcome<unsigned> passed(rank, WhenDone::kKeep);
  if (rank.rank == 1) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    if (std::getenv("RANK") != nullptr) kill(getpid(), SIGKILL);
    return rank.abandon();  // a thread cannot die alone
  }
  wait_for_ever<<<1, kThreads, 0, rank.stream>>>(comm, passed.device());
  rank.expect_lost(cudaStreamSynchronize(rank.stream), "the stream's error after the loss");
  (void)cudaGetLastError();  // the stream has told it
  ncclResult_t async_error = ncclSuccess;
  rank.must(ncclCommGetAsyncError(rank.comm, &async_error), "ncclCommGetAsyncError");
  rank.expect_eq(static_cast<int>(async_error), static_cast<int>(ncclRemoteError), "async error");
  int excluded[] = {1};
  ncclComm_t child = nullptr;
  expect_refused(rank, ncclCommShrink(rank.comm, excluded, 1, &child, nullptr, NCCL_SHRINK_DEFAULT), ncclRemoteError, "a shrink that does not give up what failed");
  rank.must(ncclCommRevoke(rank.comm, NCCL_REVOKE_DEFAULT), "ncclCommRevoke");
  rank.must(ncclCommShrink(rank.comm, excluded, 1, &child, nullptr, NCCL_SHRINK_ABORT), "ncclCommShrink");
  exercise(rank, child, {0, 2, 3}, 1);
  rank.must(ncclCommDestroy(child), "ncclCommDestroy");
  rank.abandon();
}

// --- The end ------------------------------------------------------------------------------------------------------------
// Uses a communicator that does not stand among its arguments.
__global__ void read_through_memory(const ncclDevComm* comm, const unsigned* stop, uint64_t* read) {
  const ncclGin gin(*comm, 0);
  while (cuda::atomic_ref<unsigned>(const_cast<unsigned&>(*stop)).load(cuda::memory_order_acquire) == 0) *read += gin.readSignal(0) + 1;
}
#if defined(ANYGIN_TARGET_CPU)  // the streams of a GPU are the driver's
__global__ void wait_for_one(ncclDevComm comm, unsigned* passed) {
  const ncclGin gin(comm, 0);
  gin.waitSignal(ncclCoopThread{}, 0, 1);
  *passed = 1;
}
__global__ void signal_peer(ncclDevComm comm, int peer) {
  const ncclGin gin(comm, 0);
  gin.signal(ncclTeamWorld(comm), peer, ncclGin_StrongSignalInc{0});
  gin.flush(ncclCoopThread{});
}

// Rank 0 ends its communicator while its kernel waits for what rank 1 sends later.
CONFORMANCE_CASE(P32_destroy_waits_for_its_kernels, 2) {
  const ncclDevComm comm = rank.dev_comm();
  const Outcome<unsigned> passed(rank, WhenDone::kKeep);
  if (rank.rank == 0) {
    wait_for_one<<<1, 1, 0, rank.stream>>>(comm, passed.device());
    rank.must(ncclCommDestroy(rank.comm), "ncclCommDestroy");
    rank.comm = nullptr;
    rank.expect_eq(*passed.device(), 1u, "kernels that had passed when the communicator was gone");
    rank.finish();
  } else {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    signal_peer<<<1, 1, 0, rank.stream>>>(comm, 0);
    rank.finish();
  }
}
#endif

CONFORMANCE_CASE(P32_destroy_keeps_what_kernels_may_still_read_in_a_spin, 2) {
  const ncclDevComm comm = rank.dev_comm();
  const Outcome<ncclDevComm> copy(rank, WhenDone::kKeep);
  std::memcpy(static_cast<void*>(copy.device()), &comm, sizeof(comm));
  const Outcome<unsigned> stop(rank, WhenDone::kKeep);
  const Outcome<uint64_t> read(rank, WhenDone::kKeep);
  read_through_memory<<<1, 1, 0, rank.stream>>>(copy.device(), stop.device(), read.device());
  rank.must(ncclCommDestroy(rank.comm), "ncclCommDestroy");
  rank.comm = nullptr;
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // the other rank has ended too
  __atomic_store_n(stop.device(), 1u, __ATOMIC_RELEASE);
  rank.finish();
}

}  // namespace

#endif  // CONFORMANCE_SINCE_2_30

int main(int argc, char** argv) { return conformance::conformance_main(argc, argv); }
