// SPDX-License-Identifier: Apache-2.0
// One process, a thread a rank. The number of ranks is the program's first argument.
#pragma once

#include <atomic>
#include <thread>

#include "corpus_ranks.h"

template <typename Body>
int run_threads(int argc, char** argv, const Body& body) {
  const int size = argc > 1 ? std::atoi(argv[1]) : 4;
  ncclUniqueId id;
  NCCLCHECK(ncclGetUniqueId(&id));
  std::atomic<long> wrong{0};
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      Ranks ranks;
      ranks.rank = ranks.local = rank;
      ranks.size = size;
      open_ranks(&ranks, id);
      wrong += body(ranks);
      close_ranks(&ranks);
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::printf("%d ranks, %ld wrong: %s\n", size, wrong.load(), wrong == 0 ? "PASSED" : "FAILED");
  return wrong == 0 ? 0 : 1;
}
