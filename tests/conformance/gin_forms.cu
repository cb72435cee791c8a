// SPDX-License-Identifier: Apache-2.0
// ncclGin's options: flags, sharing modes, scratch, scopes and segment tags change nothing of what arrives (contract 7.2,
// 7.4, 7.6). Every form of an operation does the same.
#include "conformance.h"

#if CONFORMANCE_SINCE_2_30

namespace {

using conformance::local;
using conformance::Outcome;
using conformance::Rank;
using conformance::Window;

constexpr int kWords = 64;
constexpr unsigned kGuard = 0xa5a5a5a5u;

// Scratch of 64 bytes between words that nobody may write (contract A.4).
struct Guarded {
  unsigned before[16];
  ncclGinDescriptorSmem scratch;
  unsigned after[16];
};

struct Seen {
  unsigned wrong_words, wrong_signals, wrong_counters, overrun, modes;
};

struct Options {
  uint32_t flags;
  cuda::thread_scope given, required;
};

struct Windows {
  ncclWindow_t d, source, back;
};

__device__ uint64_t word_of(int rank, uint64_t turn, int i) {
  return 1000000ull * static_cast<uint64_t>(rank + 1) + 1000ull * turn + static_cast<uint64_t>(i);
}

// Each rank puts four pieces, a value and a signal to its right, then gets from its left.
template <typename Coop, typename Descriptor>
__device__ void one_turn(const ncclGin& gin, Coop coop, Descriptor scratch, const Windows& windows, const Options& options, uint64_t turn, Seen* seen) {
  const ncclTeam world = ncclTeamWorld(gin.comm);
  const int right = (world.rank + 1) % world.nRanks, left = (world.rank + world.nRanks - 1) % world.nRanks;
  const uint32_t last = options.flags & ~static_cast<uint32_t>(ncclGinOptFlagsAggregateRequests);  // closes a batch
  for (int i = coop.thread_rank(); i < kWords; i += coop.size()) local(windows.source)[i] = word_of(world.rank, turn, i);
  __threadfence_system();
  for (int piece = 0; piece < 4; ++piece) {
    const size_t at = static_cast<size_t>(piece) * kWords * 2;
    gin.put(world, right, windows.d, at, windows.source, at, kWords * 2, ncclGin_None{}, ncclGin_WeakCounterInc{0}, coop, scratch, options.given,
            options.required, piece < 3 ? options.flags : last);
  }
  gin.putValue(world, right, windows.d, kWords * 8, word_of(world.rank, turn, kWords), ncclGin_None{}, coop, scratch, options.given, options.required, last);
  gin.signal(world, right, ncclGin_StrongSignalInc{0}, coop, scratch, options.given, options.required, last);
  gin.waitCounter(coop, 0, 4 * turn);
  gin.waitSignal(coop, 0, turn);
  if (coop.thread_rank() == 0) {
    for (int i = 0; i <= kWords; ++i) seen->wrong_words += local(windows.d)[i] != word_of(left, turn, i);
    seen->wrong_signals += gin.readSignal(0) != turn;
    seen->wrong_counters += gin.readCounter(0) != 4 * turn;
  }
  gin.get(world, left, windows.source, 0, windows.back, 0, kWords * 8, coop, scratch, last);
  ncclGinRequest_t request{};
  gin.flushAsync(world, static_cast<uint32_t>(left), &request, coop, last, scratch);
  gin.wait(request, coop, scratch);
  if (coop.thread_rank() == 0) {
    for (int i = 0; i < kWords; ++i) seen->wrong_words += local(windows.back)[i] != word_of(left, turn, i);
  }
  gin.flush(coop, cuda::memory_order_acquire, scratch);
  ncclGinBarrier(coop, gin, ncclTeamTagWorld{}, 0);  // nobody writes the next source while others read this one
}

// All flags and scopes on one context. Turns count from 1.
template <typename Coop>
__device__ void every_option(const ncclDevComm& comm, int context, ncclGinResourceSharingMode mode, Coop coop, const Windows& windows, Seen* seen) {
  __shared__ Guarded guarded;
  if (coop.thread_rank() == 0) {
    for (unsigned i = 0; i < 16; ++i) guarded.before[i] = guarded.after[i] = kGuard;
  }
  const ncclGin gin(comm, context, mode);
  if (coop.thread_rank() == 0) seen->modes += gin.resourceSharingMode == mode;
  const uint32_t flags[] = {ncclGinOptFlagsDefault, ncclGinOptFlagsMaySkipCreditCheck, ncclGinOptFlagsAggregateRequests,
                            ncclGinOptFlagsMaySkipCreditCheck | ncclGinOptFlagsAggregateRequests};
  const cuda::thread_scope scopes[] = {cuda::thread_scope_thread, cuda::thread_scope_device, cuda::thread_scope_system};
  uint64_t turn = 0;
  for (const uint32_t flag : flags) {
    for (const cuda::thread_scope scope : scopes) {
      const Options options{flag, scope, scope == cuda::thread_scope_system ? cuda::thread_scope_system : cuda::thread_scope_device};
      one_turn(gin, coop, ncclGin_DescriptorSmem{&guarded.scratch}, windows, options, ++turn, seen);
      one_turn(gin, coop, ncclGin_None{}, windows, options, ++turn, seen);
    }
  }
  if (coop.thread_rank() == 0) {
    for (unsigned i = 0; i < 16; ++i) seen->overrun += guarded.before[i] != kGuard || guarded.after[i] != kGuard;
  }
}

__global__ void with_options(ncclDevComm comm, Windows windows, Seen* seen) {
  every_option(comm, 0, NCCL_GIN_RESOURCE_SHARING_GPU, ncclCoopCta{}, windows, seen);
  every_option(comm, 1, NCCL_GIN_RESOURCE_SHARING_CTA, ncclCoopCta{}, windows, seen);
  if (threadIdx.x == 0) every_option(comm, 2, NCCL_GIN_RESOURCE_SHARING_THREAD, ncclCoopThread{}, windows, seen);
}

CONFORMANCE_CASE(Forms_options_change_nothing_of_what_arrives, 3) {
  const Windows windows{rank.window(1024).handle, rank.window(1024).handle, rank.window(1024).handle};
  const ncclDevComm comm = rank.dev_comm();
  Outcome<Seen> seen(rank);
  with_options<<<1, 64, 0, rank.stream>>>(comm, windows, seen.device());
  rank.finish();
  const Seen got = seen.get();
  rank.expect_eq(got.wrong_words, 0u, "words that differ");
  rank.expect_eq(got.wrong_signals, 0u, "signals that differ");
  rank.expect_eq(got.wrong_counters, 0u, "counters that differ");
  rank.expect_eq(got.overrun, 0u, "words beside the scratch that were written");
  rank.expect_eq(got.modes, 3u, "sharing modes that the objects say");
}

// --- Forms -----------------------------------------------------------------------------------------------------------
// Each form writes one word of its own at the right neighbour; the last one signals.
constexpr int kForms = 10;

__global__ void every_form(ncclDevComm comm, ncclWindow_t d, ncclWindow_t source, uint64_t* got) {
  const ncclGin gin(comm, 3);
  const ncclCoopThread thread;
  const ncclTeam world = ncclTeamWorld(comm);
  const int right = (world.rank + 1) % world.nRanks;
  const ncclGin_None none;
  const auto given = cuda::thread_scope_thread, required = cuda::thread_scope_device;
  for (int i = 0; i < kForms; ++i) local(source)[i] = word_of(world.rank, 1, i);
  const ncclSymPtr<uint64_t> to(d, 0), from(source, 0);
  // covers: ncclGin.put(ncclWindow_t); ncclGin.put(ncclSymPtr)
  gin.put(world, right, d, 0, source, 0, 8);
  gin.put(world, right, to + 1, from + 1, 1);
  gin.put(world, right, d, 16, source, 16, 8, none, none, thread, none, given, required, ncclGinOptFlagsDefault, ncclGin_SegmentDevice{});
  gin.put(world, right, to + 3, from + 3, 1, none, none, thread, none, given, required, ncclGinOptFlagsDefault, ncclGin_SegmentMixed{});
  // covers: ncclGin.put(tag without flags)
  gin.put(world, right, d, 32, source, 32, 8, none, none, thread, none, given, required, ncclGin_SegmentDevice{});
  gin.put(world, right, to + 5, from + 5, 1, none, none, thread, none, given, required, ncclGin_SegmentHostNuma{});
  gin.put<ncclGin_None, ncclGin_None, ncclCoopThread, ncclGin_None, ncclGin_SegmentMixed>(world, right, d, 48, source, 48, 8, none, none, thread, none, given,
                                                                                          required, ncclGin_SegmentMixed{});
  // covers: ncclGin.putValue(ncclWindow_t); ncclGin.putValue(ncclSymPtr)
  gin.putValue(world, right, d, 56, word_of(world.rank, 1, 7));
  gin.putValue(world, right, to + 8, word_of(world.rank, 1, 8));
  gin.put<uint64_t>(world, right, to + 9, from + 9, 1, ncclGin_StrongSignalInc{0});
  gin.waitSignal(thread, 0, 1);
  for (int i = 0; i < kForms; ++i) got[i] = local(d)[i];
  gin.flush(thread);
}

struct Words {
  uint64_t at[kForms];
};

CONFORMANCE_CASE(Forms_of_a_put_write_the_same, 2) {
  const Window d = rank.window(1024), source = rank.window(1024);
  const ncclDevComm comm = rank.dev_comm();
  Outcome<Words> words(rank);
  every_form<<<1, 1, 0, rank.stream>>>(comm, d.handle, source.handle, words.device()->at);
  rank.finish();
  const Words got = words.get();
  const int left = (rank.rank + rank.ranks - 1) % rank.ranks;
  for (int i = 0; i < kForms; ++i) {
    rank.expect_eq(got.at[i], 1000000ull * static_cast<uint64_t>(left + 1) + 1000 + static_cast<uint64_t>(i), "word of form " + std::to_string(i));
  }
}

// --- Requests --------------------------------------------------------------------------------------------------------
// P11: many requests are outstanding; other threads than those that asked wait for them, in reverse order, twice each.
constexpr int kRequests = 32;

__global__ void many_requests(ncclDevComm comm, ncclWindow_t source, ncclWindow_t mine, unsigned* wrong) {
  __shared__ ncclGinRequest_t requests[kRequests];
  const ncclGin gin(comm, 0);
  const ncclTeam world = ncclTeamWorld(comm);
  const int t = static_cast<int>(threadIdx.x);
  const int peer = t % world.nRanks;
  gin.get(world, peer, source, 64 * static_cast<size_t>(t), mine, 64 * static_cast<size_t>(t), 64);
  gin.flushAsync(world, static_cast<uint32_t>(peer), &requests[t]);
  __syncthreads();
  const int other = kRequests - 1 - t;
  ncclGinRequest_t copy = requests[other];
  gin.wait(copy);
  gin.wait(requests[other]);
  const int from = other % world.nRanks;
  for (int i = 0; i < 8; ++i) {
    if (local(mine)[8 * other + i] != word_of(from, 9, 8 * other + i)) atomicAdd(wrong, 1u);
  }
  ncclGinBarrier(ncclCoopCta{}, gin, ncclTeamTagWorld{}, 0);
}

CONFORMANCE_CASE(P11_requests_are_waited_for_by_other_threads_in_any_order, 3) {
  const Window source = rank.window(4096), mine = rank.window(4096);
  for (int i = 0; i < 8 * kRequests; ++i) source.words()[i] = 1000000ull * static_cast<uint64_t>(rank.rank + 1) + 9000 + static_cast<uint64_t>(i);
  const ncclDevComm comm = rank.dev_comm();  // all have written
  Outcome<unsigned> wrong(rank);
  many_requests<<<1, kRequests, 0, rank.stream>>>(comm, source.handle, mine.handle, wrong.device());
  rank.finish();
  rank.expect_eq(wrong.get(), 0u, "words that differ");
}

// Windows of before the first device communicator with GIN and of after it are as good as each other (contract 2.7).
__global__ void both_windows(ncclDevComm comm, ncclWindow_t before, ncclWindow_t after, uint64_t* got) {
  const ncclGin gin(comm, 0);
  const ncclTeam world = ncclTeamWorld(comm);
  const int right = (world.rank + 1) % world.nRanks;
  local(before)[8] = 50 + static_cast<uint64_t>(world.rank);
  local(after)[8] = 60 + static_cast<uint64_t>(world.rank);
  gin.put(world, right, after, 0, before, 64, 8);
  gin.put(world, right, before, 0, after, 64, 8, ncclGin_StrongSignalInc{0});
  gin.waitSignal(ncclCoopThread{}, 0, 1);
  got[0] = local(after)[0];
  got[1] = local(before)[0];
  ncclGinBarrier(ncclCoopThread{}, gin, ncclTeamTagWorld{}, 0);
}

struct Pair {
  uint64_t at[2];
};

CONFORMANCE_CASE(Windows_of_before_and_after_a_device_communicator, 2) {
  const Window before = rank.window(4096);
  const ncclDevComm comm = rank.dev_comm();
  const Window after = rank.window(8192);
  Outcome<Pair> got(rank);
  both_windows<<<1, 1, 0, rank.stream>>>(comm, before.handle, after.handle, got.device()->at);
  rank.finish();
  rank.expect_eq(got.get().at[0], 50u + static_cast<unsigned>(1 - rank.rank), "the word from before to after");
  rank.expect_eq(got.get().at[1], 60u + static_cast<unsigned>(1 - rank.rank), "the word from after to before");
}

// --- Signals by address ----------------------------------------------------------------------------------------------
// Every action by address: its cell adds up, and a payload put before a strong one is there.
struct Cells {
  uint64_t value[6], after_reset, payload, waited;
};

__global__ void by_address(ncclDevComm comm, ncclWindow_t cells, ncclWindow_t d, ncclWindow_t source, Cells* got) {
  const ncclGin gin(comm, 0);
  const ncclCoopThread thread;
  const ncclTeam world = ncclTeamWorld(comm);
  const int right = (world.rank + 1) % world.nRanks;
  local(source)[0] = 77 + static_cast<uint64_t>(world.rank);
  gin.put(world, right, d, 0, source, 0, 8);
  gin.signal(world, right, ncclGin_WeakVASignalInc{cells, 0});
  gin.signal(world, right, ncclGin_VASignalInc{cells, 8});
  gin.signal(world, right, ncclGin_WeakVASignalAdd{cells, 16, 3});
  gin.signal(world, right, ncclGin_VASignalAdd{cells, 24, 4});
  gin.signal(world, right, ncclGin_StrongVASignalInc{cells, 32});
  gin.signal(world, right, ncclGin_StrongVASignalAdd{cells, 40, 5});
  const uint64_t want[6] = {1, 1, 3, 4, 1, 5};
  for (size_t i = 6; i-- > 0;) gin.waitSignal(thread, cells, 8 * i, want[i]);
  for (size_t i = 0; i < 6; ++i) got->value[i] = gin.readSignal(cells, 8 * i);
  got->payload = local(d)[0];
  gin.resetSignal(cells, 40);
  got->after_reset = gin.readSignal(cells, 40);
  ncclGinBarrier(thread, gin, ncclTeamTagWorld{}, 0);
  gin.put(world, right, d, 8, source, 0, 8, ncclGin_StrongVASignalAdd{cells, 40, 300});
  gin.waitSignal(thread, cells, 40, 300 % 256, 8);
  got->waited = gin.readSignal(cells, 40, 8);
  gin.flush(thread);
}

CONFORMANCE_CASE(P9_every_signal_by_address_adds_up_and_starts_again, 3) {
  const Window cells = rank.window(4096, NCCL_WIN_COLL_SYMMETRIC | NCCL_WIN_STRICT_ORDERING), d = rank.window(1024), source = rank.window(1024);
  const ncclDevComm comm = rank.dev_comm();
  Outcome<Cells> outcome(rank);
  by_address<<<1, 1, 0, rank.stream>>>(comm, cells.handle, d.handle, source.handle, outcome.device());
  rank.finish();
  const Cells got = outcome.get();
  const uint64_t want[] = {1, 1, 3, 4, 1, 5};
  for (size_t i = 0; i < 6; ++i) rank.expect_eq(got.value[i], want[i], "cell " + std::to_string(i));
  rank.expect_eq(got.payload, 77u + static_cast<unsigned>((rank.rank + rank.ranks - 1) % rank.ranks), "the payload put before a strong one");
  rank.expect_eq(got.after_reset, 0u, "the cell after its reset");
  rank.expect_eq(got.waited, 300u % 256, "the cell's low 8 bits");
}

}  // namespace

#endif  // CONFORMANCE_SINCE_2_30

int main(int argc, char** argv) { return conformance::conformance_main(argc, argv); }
