// SPDX-License-Identifier: Apache-2.0
// How fast litmus programs run: random runs of the tabular form, states of an exhaustive walk, runs of the stack.
#include <benchmark/benchmark.h>

#include <stdexcept>
#include <string>

#include "anygin/base/choices_seeded.h"
#include "anygin/sim/litmus/litmus_parser.h"
#include "anygin/sim/litmus/stack_runner.h"
#include "anygin/sim/litmus/tabular_explore.h"

namespace anygin::litmus {
namespace {

Program named(const std::string& name) {
  Result<Program> program = read_litmus(std::string(ANYGIN_LITMUS_DIR) + "/" + name + ".litmus");
  if (!program.ok()) throw std::runtime_error(program.status().message());
  return *program;
}

void random_runs(benchmark::State& state, const char* name, Profile profile) {
  const Program program = named(name);
  const TabularMachine machine(program, profile);
  TabularRunner runner(machine);
  SeededChoices choices(1);
  for (auto _ : state) benchmark::DoNotOptimize(runner.run(choices));
  state.SetItemsProcessed(state.iterations());
}

void every_state(benchmark::State& state, const char* name, Profile profile) {
  const Program program = named(name);
  int64_t states = 0;
  for (auto _ : state) states += static_cast<int64_t>(explore(program, profile).states);
  state.SetItemsProcessed(states);
}

void stack_runs(benchmark::State& state, const char* name, Profile profile) {
  const Program program = named(name);
  Result<std::unique_ptr<StackRunner>> runner = StackRunner::create(program.ranks, profile);
  if (!runner.ok()) throw std::runtime_error(runner.status().message());
  uint64_t seed = 0;
  for (auto _ : state) benchmark::DoNotOptimize((*runner)->run(program, ++seed));
  state.SetItemsProcessed(state.iterations());
}

constexpr const char* kWeak = "F1_weak_signal_says_nothing_of_earlier_puts";
constexpr const char* kStrong = "P2_strong_signal_covers_earlier_puts";
constexpr const char* kCounter = "P12_source_is_free_after_its_counter";
BENCHMARK_CAPTURE(random_runs, weak_signal_relaxed, kWeak, Profile::kRelaxed);
BENCHMARK_CAPTURE(random_runs, strong_signal_relaxed, kStrong, Profile::kRelaxed);
BENCHMARK_CAPTURE(random_runs, strong_signal_inorder, kStrong, Profile::kInorder);
BENCHMARK_CAPTURE(random_runs, counter_relaxed, kCounter, Profile::kRelaxed);
BENCHMARK_CAPTURE(stack_runs, weak_signal_relaxed, kWeak, Profile::kRelaxed);
BENCHMARK_CAPTURE(stack_runs, strong_signal_inorder, kStrong, Profile::kInorder);
BENCHMARK_CAPTURE(stack_runs, counter_relaxed, kCounter, Profile::kRelaxed);
BENCHMARK_CAPTURE(stack_runs, barrier_relaxed, "P18_barrier_with_put_fence", Profile::kRelaxed);
BENCHMARK_CAPTURE(every_state, barrier_srd, "P18_barrier_with_put_fence", Profile::kSrd);

}  // namespace
}  // namespace anygin::litmus

BENCHMARK_MAIN();
