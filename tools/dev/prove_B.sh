#!/usr/bin/env bash
# Everything issue B must show; tools/dev/prove.sh says how steps and logs work.
#   tools/dev/prove_B.sh [--fresh] [STEP...]          without names: every step, in the order of the end of this file
#   tools/dev/prove_B.sh --part FUNCTION [ARG...]     a step by hand: --part leaks
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 3
readonly kIssue=B
. tools/dev/prove.sh

# Every public name has a test that runs it, or a stated reason; the document is the one that the tests make.
coverage() {
  tests_pass "names" 'api_coverage' || return 1
  awk -F'|' '/^\| `/ { total++; run = $3 ~ /[A-Za-z]/; compiled = $4 ~ /[A-Za-z]/; refused = $5 ~ /[A-Za-z]/
      runs += run; only += !run && compiled; refusals += !run && !compiled && refused; none += !run && !compiled && !refused }
    END { printf "= %d names: %d run by a test, %d compiled only, %d refused as documented, %d without a test\n", total, runs, only, refusals, none
      exit none != 0 }' docs/api-coverage.md
}

# The suite on every arm of the direct fabric and of the simulated world, by the tool that users have.
matrix() {
  "$kRun" conformance --arm 'cpu/proxy/emu/*' --junit "$kState/matrix.xml" >"$kState/matrix.out" 2>&1
  local -r code=$?
  cat "$kState/matrix.out"
  tail -n 3 "$kState/matrix.out" | sed 's/^/= /'
  return $code
}

# The bodies of the suite use public API only: they compile against NCCL's own headers.
nccl_headers() { tests_pass "bodies against NCCL's headers" '^compile_nccl\.conformance_.*\.nccl$'; }

# Under AddressSanitizer, whose leak detector looks at the end of each process; it is shown to see one. Without it, rounds of
# communicators in one process; and nothing is left in /dev/shm.
leaks() {
  local before after
  before=$(find /dev/shm -name 'anygin*' 2>/dev/null | wc -l)
  tests_pass "rounds of communicators hold nothing" '^regress_rounds' || return 1
  cmake --preset asan >/dev/null && cmake --build build/asan || return 1
  tests_in=$PWD/build/asan
  printf 'int main() { volatile char* lost = new char[100]; lost[0] = 1; lost = nullptr; }\n' >"$kState/leak.cc"
  g++ -fsanitize=address "$kState/leak.cc" -o "$kState/leak" || return 1
  ! "$kState/leak" 2>/dev/null || { echo "FAILED: this machine's leak detector sees nothing"; return 1; }
  tests_pass "no leak under AddressSanitizer, conformance" '^conformance\..*/relaxed/(threads|procs)$' &&
    tests_pass "no leak under AddressSanitizer, the host API" '^unit_(nccl|comm|base|proxy)\.' || return 1
  after=$(find /dev/shm -name 'anygin*' 2>/dev/null | wc -l)
  echo "= shared memory left behind: $((after - before)) files"
  [ "$after" -le "$before" ]
}

# The parts of the API, each with the tests that show it.
parts() {
  local what pattern
  while IFS='|' read -r -u 3 what pattern; do  # tests read the standard input
    tests_pass "$what" "$pattern" || return 1
  done 3<<'TABLE'
collectives against a serial reference, R = 1..9|SerialReference
every documented error is reached|ErrorCauses|JoiningFaults
a killed rank: revoke, shrink, register again, all-to-all|recover|P32_survivors|^example\.recovery
split, shrink, revoke, grow, non-blocking|CApiChildren|NonBlocking|^conformance\.(Split|Shrink|Revoke|Grow|split|shrink|revoke|grow)
host RMA, every row|HostRma|^conformance\.P(2[5-9]|30)_
sends, groups, graphs, collectives|SendRecv|Collectives|ExchangeModel|^conformance\.(P35|P36|F10|M11)_
older and newer releases|Versions|^compile_nccl\.(host_c99|device_all)
quirks of 2.30.7 and what is done|AppendixA
no NIC, rails apart, other names of variables|Rail|ParamAlias|Options\.
examples|^example\.
the suite's tool|ConformanceCommand|CiPage
anygin perf|PerfCommand
TABLE
}

# ./dev test as CI runs it: a fresh clone, an empty compiler cache.
fresh_test() {
  local fresh=$PWD/$kState/fresh begin
  rm -rf "$fresh"
  git clone -q . "$fresh" && git -C "$fresh" checkout -q "$commit" || return 1
  begin=$SECONDS
  (cd "$fresh" && CCACHE_DISABLE=1 ./dev test) || return 1
  within "./dev test in a fresh clone" $((SECONDS - begin)) 900 || return 1
  rm -rf "$fresh"
}

begin_proof "$@"
step build 1500 ./dev build
step coverage 120 "${kPart[@]}" coverage
step parts 900 "${kPart[@]}" parts
step matrix 1800 "${kPart[@]}" matrix
step nccl_headers 600 "${kPart[@]}" nccl_headers
step mutants 2400 ./dev test --preset mutants -L mutants
step leaks 2400 "${kPart[@]}" leaks
step fresh_test 1200 "${kPart[@]}" fresh_test
end_proof
