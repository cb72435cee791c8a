#!/usr/bin/env bash
# Everything issue A2 must show; tools/dev/prove.sh says how steps and logs work.
#   tools/dev/prove_A2.sh [--fresh] [STEP...]          without names: every step, in the order of the end of this file
#   tools/dev/prove_A2.sh --part FUNCTION [ARG...]     a step by hand, smaller: --part benchmarks 1
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 3
readonly kIssue=A2
. tools/dev/prove.sh

# The last commit whose SIMT engine and CUDA face were A1's alone: the next one brought __device__ variables.
readonly kBeforeDeviceSide=6ee7dd3

# The demands of the programs that the API's use was counted in, each with its tests; tests/corpus/README.md says what they are.
demands() {
  local number what pattern last=0
  while IFS='|' read -r -u 3 number what pattern; do  # tests read the standard input
    tests_pass "demand $number, $what" "$pattern" || return 1
    last=$number
  done 3<<'TABLE'
1|delivery without a call|^corpus\.(spin_volatile|atomics_mixed)\.[248]$
1|raw spins give way, whatever their form|lanes_that_spin_give_way|^unit_rewriter\.Loops\.
2|passive targets|^corpus\.passive_target\.([248]|openmpi|mpich)$
3|co-resident blocks|^corpus\.(coresident_blocks|lsa_allreduce|cooperative_grid)\.[248]$
4|several ranks in one process, launches before waits|^corpus\.(async_devices|communicators_two)\.[248]$
4|variables once a device|^corpus\.variables_each_device\.[248]$|device_variables_once_a_device
5|launches in headers and macros|^corpus\.(launch_macros|rewriter_torture)\.[248]$
6|__CUDA_ARCH__ and __CUDACC__|^corpus\.arch_guards\.[248]$|Driver\.defines_what_programs_ask$
7|shared memory in all forms|^corpus\.shared_forms\.[248]$|^compile_rewriter\..*shared_memory
8|PTX: clocks, red|^corpus\.(ptx_common|print_and_time)\.[248]$
8|PTX: multimem|^unit_rewriter\.Multimem\.
9|a context a block, beyond the grant|^corpus\.(contexts_beyond|alltoall_put)\.[248]$
10|signals as words, waits of 32 bits|^corpus\.va_signals\.[248]$
11|headers by name, fields, the struct by value|^corpus\.(header_names|hybrid_alltoall|grid_constants)\.[248]$
12|every requirement|^corpus\.requirements_all\.[248]$
13|a barrier and a signal per token|^corpus\.(tokens_many|moe_dispatch)\.[248]$
14|newer names|^corpus\.(newer_names|win_gin_only|segments_mixed)\.[248]$
TABLE
  [ "$last" -eq 14 ] || { echo "FAILED: the table of demands ended at $last"; return 1; }
}

# Programs that start otherwise, build systems, the driver's command line, debugging.
others() {
  tests_pass "Open MPI, MPICH, our libmpi, torchrun, srun" '^corpus\..*(openmpi|mpich|mpi_functions)|^launchers\.' &&
    tests_pass "other people's builds" '^compile_build\.' &&
    tests_pass "the driver as nvcc" '\.Driver(Options)?\.' &&
    tests_pass "gdb stops in lanes" '\.Gdb' &&
    tests_pass "refused features say so, and are those that docs/cuda-on-cpu.md lists" '^compile_refused\.'
}

# A libanygin of its own: the program's overflows are found by AddressSanitizer.
address_sanitizer() {
  cmake --preset asan >/dev/null && cmake --build build/asan --target compile_rewriter >/dev/null || return 1
  ctest --test-dir build/asan -R 'compile_rewriter\..*[Ss]anitizer' --no-tests=error --output-on-failure &&
    echo "= a lane that leaves a cudaMalloc buffer, or runs from one __shared__ array into the next, is reported with its line"
}

benchmarks() {
  quiet_machine
  tools/dev/bench_peer.sh $kBeforeDeviceSide "${1:-5}" 10 | sed 's/^/= /'
}

ticks() {
  quiet_machine
  tools/dev/bench_ticks.sh "${1:-5}" | sed 's/^/= /'
}

begin_proof "$@"
step build 1500 ./dev build
step corpus_make 900 tools/dev/corpus.sh make "$PWD/$kState/corpus_make"
step corpus_cmake 900 tools/dev/corpus.sh cmake "$PWD/$kState/corpus_cmake"
step demands 900 "${kPart[@]}" demands
step others 900 "${kPart[@]}" others
step ticks 600 "${kPart[@]}" ticks
step benchmarks 1200 "${kPart[@]}" benchmarks
step address_sanitizer 1500 "${kPart[@]}" address_sanitizer
end_proof
