// SPDX-License-Identifier: Apache-2.0
// Warp spans have the ids 0 to 14: each syncs and broadcasts, and one beyond is refused (contract A.16).
#include "../../conformance/conformance.h"

namespace {

using conformance::Outcome;
using conformance::Rank;

__global__ void spans(unsigned* wrong) {
  const int warp = static_cast<int>(threadIdx.x) / 32;
  ncclCoopWarpSpan span(warp, 1, warp);
  for (int turn = 0; turn < 10; ++turn) {
    const int value = ncclCoopBcast(span, 1000 * warp + span.thread_rank() + turn, 7);
    if (value != 1000 * warp + 7 + turn) atomicAdd(wrong, 1u);
  }
}

CONFORMANCE_CASE(AppendixA_16_the_last_span_is_14, 1) {
  Outcome<unsigned> wrong(rank);
  spans<<<1, 15 * 32, 0, rank.stream>>>(wrong.device());
  rank.finish();
  rank.expect_eq(wrong.get(), 0u, "threads with another value");
}

#if defined(ANYGIN_TARGET_CPU)
__global__ void one_too_many(int id, unsigned* passed) {
  ncclCoopWarpSpan span(0, 1, id);
  (void)ncclCoopBcast(span, threadIdx.x, 0, false);
  if (threadIdx.x == 0) *passed = 1;
}

CONFORMANCE_CASE(AppendixA_16_a_span_beyond_14_is_refused, 1) {
  const Outcome<unsigned> passed(rank, conformance::WhenDone::kKeep);
  one_too_many<<<1, 32, 0, rank.stream>>>(14, passed.device());
  rank.finish();
  rank.expect_eq(*passed.device(), 1u, "the kernel with span 14");
  *passed.device() = 0;
  one_too_many<<<1, 32, 0, rank.stream>>>(15, passed.device());
  rank.expect_lost(cudaStreamSynchronize(rank.stream), "the stream's error");
  rank.expect_eq(*passed.device(), 0u, "the kernel with span 15");
  rank.abandon();
}
#endif

}  // namespace

int main(int argc, char** argv) { return conformance::conformance_main(argc, argv); }
