// SPDX-License-Identifier: Apache-2.0
// GIN without templates: each function does what the class's method does (contract 7.10).
#include "conformance.h"

#if CONFORMANCE_SINCE_2_30

namespace {

using conformance::local;
using conformance::Outcome;
using conformance::Rank;
using conformance::Window;

constexpr auto kGiven = cuda::thread_scope_thread;
constexpr auto kRequired = cuda::thread_scope_device;
constexpr auto kAcquire = cuda::memory_order_acquire;
constexpr ncclGinSignal_t kArrived = 1, kSums = 2;

struct Seen {
  uint64_t words[8], values[4], counter, counter_reset, arrived, sums, low_bits, signal_reset, shadow, got, mask, context, mode;
};

__device__ uint64_t word_of(int rank, int i) { return 100ull * static_cast<uint64_t>(rank + 1) + static_cast<uint64_t>(i); }

// Puts of both versions, values of every size, pure signals; then reads, waits, resets and a get.
__device__ void exchange(ncclGin_C* net, ncclCoopAny coop, ncclWindow_t d, ncclWindow_t source, Seen* seen) {
  const ncclTeam world = ncclTeamWorld(net->comm);
  const int right = (world.rank + 1) % world.nRanks, left = (world.rank + world.nRanks - 1) % world.nRanks;
  const bool first = coop.thread_rank() == 0;
  __shared__ ncclGinDescriptorSmem scratch;
  for (int i = coop.thread_rank(); i < 8; i += coop.size()) local(source)[i] = word_of(world.rank, i);
  ncclGinPut(net, world, right, d, 0, source, 0, 32, false, 0, ncclGinSignalInc, 1, true, 2, coop, false, nullptr, kGiven, kRequired);
  ncclGinPut_v2(net, world, right, d, 32, source, 32, 32, true, kArrived, ncclGinSignalInc, 1, true, 2, coop, true, &scratch, kGiven, kRequired,
                ncclGinOptFlagsDefault);
  ncclGinPutValue(net, world, right, d, 64, 0x1122334455667788ull, 8, false, 0, ncclGinSignalInc, 1, coop, false, nullptr, kGiven, kRequired);
  ncclGinPutValue(net, world, right, d, 72, 0xaabbccddull, 4, false, 0, ncclGinSignalInc, 1, coop, false, nullptr, kGiven, kRequired);
  ncclGinPutValue_v2(net, world, right, d, 80, 0xeeffull, 2, false, 0, ncclGinSignalInc, 1, coop, true, &scratch, kGiven, kRequired, ncclGinOptFlagsDefault);
  ncclGinPutValue_v2(net, world, right, d, 88, 0x99ull, 1, true, kArrived, ncclGinSignalInc, 1, coop, false, nullptr, kGiven, kRequired,
                     ncclGinOptFlagsMaySkipCreditCheck);
  ncclGinSignal(net, world, right, true, kSums, ncclGinSignalAdd, 300, coop, false, nullptr, kGiven, kRequired);
  ncclGinSignal_v2(net, world, right, true, kSums, ncclGinSignalAdd, 5, coop, true, &scratch, kGiven, kRequired, ncclGinOptFlagsDefault);
  ncclGinWaitSignal(net, coop, kArrived, 2, 64, kAcquire);
  ncclGinWaitSignal(net, coop, kSums, 305, 64, kAcquire);
  ncclGinWaitCounter(net, coop, 2, 2, 56, kAcquire);
  if (first) {
    for (int i = 0; i < 8; ++i) seen->words[i] = local(d)[i];
    for (int i = 0; i < 4; ++i) seen->values[i] = local(d)[8 + i];
    seen->counter = ncclGinReadCounter(net, 2, 56, kAcquire);
    seen->arrived = ncclGinReadSignal(net, kArrived, 64, kAcquire);
    seen->sums = ncclGinReadSignal(net, kSums, 64, kAcquire);
    seen->low_bits = ncclGinReadSignal(net, kSums, 8, kAcquire);
    ncclGinResetCounter(net, 2);
    seen->counter_reset = ncclGinReadCounter(net, 2, 56, kAcquire);
    *ncclGinGetSignalShadowPtr(net, kSums) = 44;
    seen->shadow = *ncclGin(net->comm, 1).getSignalShadowPtr(kSums);
    ncclGinResetSignal(net, kSums);
    seen->signal_reset = ncclGinReadSignal(net, kSums, 64, kAcquire);
  }
  ncclGinGet(net, world, left, source, 8, d, 128, 8, coop, false, nullptr, ncclGinOptFlagsDefault);
  ncclGinFlush(net, coop, kAcquire);
  if (first) seen->got = local(d)[16];
}

__global__ void without_templates(ncclDevComm comm, ncclWindow_t d, ncclWindow_t source, Seen* seen) {
  const ncclCoopAny block{ncclCoopCta{}};
  alignas(ncclGin_C) char space[sizeof(ncclGin_C)];
  auto* const net = reinterpret_cast<ncclGin_C*>(space);
  ncclGin_C_init(net, NCCL_GIN_BACKEND_MASK_ALL, comm, 1);
  exchange(net, block, d, source, seen);
  ncclGin_C_initWithResourceSharingMode(net, NCCL_GIN_BACKEND_MASK_ALL, comm, 3, NCCL_GIN_RESOURCE_SHARING_CTA);
  if (threadIdx.x == 0) {
    seen->mask = net->backendMask;
    seen->context = net->contextId * net->nConnections + net->connectionId;
    seen->mode = net->resourceSharingMode;
  }
  ncclGinBarrier(ncclCoopCta{}, ncclGin(comm, 0), ncclTeamTagWorld{}, 0);  // nobody ends while others read its source
}

CONFORMANCE_CASE(Forms_functions_without_templates, 3) {
  const Window d = rank.window(1024), source = rank.window(1024);
  const ncclDevComm comm = rank.dev_comm();
  Outcome<Seen> outcome(rank);
  without_templates<<<1, 64, 0, rank.stream>>>(comm, d.handle, source.handle, outcome.device());
  rank.finish();
  const Seen got = outcome.get();
  const auto left = static_cast<uint64_t>((rank.rank + rank.ranks - 1) % rank.ranks);
  for (size_t i = 0; i < 8; ++i) rank.expect_eq(got.words[i], 100 * (left + 1) + i, "word " + std::to_string(i));
  const uint64_t values[] = {0x1122334455667788ull, 0xaabbccddull, 0xeeffull, 0x99ull};
  for (size_t i = 0; i < 4; ++i) rank.expect_eq(got.values[i], values[i], "value " + std::to_string(i));
  rank.expect_eq(got.counter, 2u, "counted puts");
  rank.expect_eq(got.arrived, 2u, "increments");
  rank.expect_eq(got.sums, 305u, "the sum of additions");
  rank.expect_eq(got.low_bits, 305u % 256, "its low 8 bits");
  rank.expect_eq(got.counter_reset, 0u, "the counter after its reset");
  rank.expect_eq(got.shadow, 44u, "the shadow as the class sees it");
  rank.expect_eq(got.signal_reset, 0u, "the signal after its reset");
  rank.expect_eq(got.got, 100 * (left + 1) + 1, "the word that a get brought");
  rank.expect_eq(got.mask & (1u << NCCL_NET_DEVICE_GIN_PROXY), 1u << NCCL_NET_DEVICE_GIN_PROXY, "the mask");
  rank.expect_eq(got.context, 3u, "the context");
  rank.expect_eq(got.mode, static_cast<uint64_t>(NCCL_GIN_RESOURCE_SHARING_CTA), "the sharing mode");
}

}  // namespace

#endif  // CONFORMANCE_SINCE_2_30

int main(int argc, char** argv) { return conformance::conformance_main(argc, argv); }
