// SPDX-License-Identifier: Apache-2.0
// What `anygin perf` starts for each test and number of ranks: ranks as threads of this process (-r N) or as a process
// each measure, and rank 0 prints a table and appends to a file; figures of this machine in this run, nothing is
// judged.
#include <algorithm>

#include "perf_alltoall.h"
#include "perf_barrier.h"
#include "perf_moe.h"
#include "perf_puts.h"
#include "perf_rate.h"
#include "perf_sendrecv.h"

namespace {

using perf::Report;
using perf::Wish;

struct Test {
  const char* name;
  int ranks;  // 0: any
  void (*measure)(RankEnv&, const Wish&, Report&);
};
constexpr Test kKnown[] = {{"puts", 2, perf::measure_puts},       {"rate", 2, perf::measure_rate},
                           {"barrier", 0, perf::measure_barrier}, {"alltoall", 0, perf::measure_alltoall},
                           {"moe", 0, perf::measure_moe},         {"sendrecv", 0, perf::measure_sendrecv}};

// Before there are ranks: what is wrong is said once.
void check(const Wish& wish, const Test& test) {
  const std::string on_ranks = wish.test + " on " + std::to_string(wish.ranks) + " ranks: ";
  if (test.ranks != 0 && wish.ranks != test.ranks)
    perf::refuse(on_ranks + std::to_string(test.ranks) + " would be right");
  if (wish.test != "moe") return;
  if (moe::read_table(wish.table.c_str()).empty()) std::exit(2);  // which said why
  if (moe::kExperts % wish.ranks != 0)
    perf::refuse(on_ranks + "a divisor of " + std::to_string(moe::kExperts) + " experts would be right");
  if (wish.tokens < static_cast<uint64_t>(wish.ranks))
    perf::refuse("--tokens " + std::to_string(wish.tokens) + ": at least one a rank would be right");
}

int measure(RankEnv& env, const Wish& wish, const Test& test) {
  std::FILE* file = nullptr;
  if (env.rank == 0 && !wish.file.empty()) {
    file = std::fopen(wish.file.c_str(), "a");
    if (file == nullptr) {
      std::fprintf(stderr, "anygin perf: cannot write %s\n", wish.file.c_str());
      std::exit(3);
    }
  }
  Report report(wish.test, env.ranks, file);
  test.measure(env, wish, report);
  if (file != nullptr) std::fclose(file);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const Wish wish = perf::parse(argc, argv);
  const auto* const test =
      std::find_if(std::begin(kKnown), std::end(kKnown), [&](const Test& one) { return wish.test == one.name; });
  if (test == std::end(kKnown)) perf::refuse("no test '" + wish.test + "'; " + perf::kTests + " are");
  check(wish, *test);
  return run_example(argc, argv, [&](RankEnv& env) { return measure(env, wish, *test); });
}
