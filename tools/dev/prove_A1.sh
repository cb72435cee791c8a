#!/usr/bin/env bash
# Everything issue A1 must show; tools/dev/prove.sh says how steps and logs work.
#   tools/dev/prove_A1.sh [--fresh] [STEP...]          without names: every step, in the order of the end of this file
#   tools/dev/prove_A1.sh --part FUNCTION [ARG...]     a step by hand, smaller: --part seeds 10, --part matrix 2
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 3
readonly kIssue=A1
. tools/dev/prove.sh

# As a newcomer: a fresh clone of this commit and an empty compiler cache; the packages are there.
demo() {
  local fresh=$PWD/$kState/fresh begin
  rm -rf "$fresh"
  git clone -q . "$fresh" && git -C "$fresh" checkout -q "$commit" || return 1
  quiet_machine
  begin=$SECONDS
  (cd "$fresh" && CCACHE_DISABLE=1 ./dev demo) 2>&1 | sed -E '/^\[[0-9]+\/[0-9]+\] /! s/^/= /' || return 1
  within "./dev demo in a fresh clone" $((SECONDS - begin)) 180 || return 1
  rm -rf "$fresh"
}

bench() {
  quiet_machine
  tools/dev/bench_A1.sh | sed 's/^/= /'
}

# Without the compiler's cache, in a folder of its own: the whole tree, then one source file of the engine room.
build_times() {
  local begin
  quiet_machine
  rm -rf build/timed
  export CCACHE_DISABLE=1
  begin=$SECONDS
  cmake --preset release -B build/timed >/dev/null && cmake --build build/timed || return 1
  within "full build, $(nproc) cores" $((SECONDS - begin)) 360 || return 1
  touch backends/proxy/proxy_engine.cc
  begin=$SECONDS
  cmake --build build/timed || return 1
  within "build after a change of proxy_engine.cc" $((SECONDS - begin)) 20 || return 1
  rm -rf build/timed
}

# layout PROGRAM RANKS NODES: as threads, then as processes; each rank says PASSED.
layout() {
  local program=$1 ranks=$2 nodes=$3 placement passed out=$kState/layout.out
  for placement in threads processes; do
    if [ $placement = threads ]; then
      ANYGIN_TOPOLOGY=${nodes}x$((ranks / nodes)) timeout 60 "$kExamples/$program" -r "$ranks"
    else
      "$kRun" run -n "$ranks" --nodes "$nodes" --timeout 60 -- "$kExamples/$program"
    fi >"$out" 2>&1 || { echo "FAILED: $program, $ranks ranks on $nodes nodes as $placement, exit $?"; cat "$out"; return 1; }
    passed=$(grep -c PASSED "$out")
    [ "$passed" -eq "$ranks" ] || { echo "FAILED: $program, $ranks ranks on $nodes nodes as $placement: $passed passed"; cat "$out"; return 1; }
  done
  echo "= verified: $program, $ranks ranks on $nodes nodes, as threads and as processes"
}

matrix() {
  local program ranks nodes
  for program in alltoall_gin ring; do
    for ranks in ${1:-1 2 3 4 5 8 16}; do
      for nodes in 1 2 4; do
        [ $((ranks % nodes)) -ne 0 ] || layout "$program" "$ranks" "$nodes" || return 1
      done
    done
  done
}

seeds() {
  local seed last=${1:-1000} out=$kState/seed.out
  for ((seed = 1; seed <= last; ++seed)); do
    if ! ANYGIN_PROFILE=relaxed ANYGIN_SEED=$seed timeout 60 "$kExamples/alltoall_gin" -r 4 >"$out" 2>&1 ||
      [ "$(grep -c PASSED "$out")" -ne 4 ]; then
      echo "FAILED: ANYGIN_PROFILE=relaxed ANYGIN_SEED=$seed $kExamples/alltoall_gin -r 4"
      cat "$out"
      return 1
    fi
  done
  echo "= $last seeds of relaxed verified: alltoall_gin, 4 ranks as threads"
}

# Every promise and freedom of the issue has its cases on each arm, and every promise a mutant that one of them catches;
# that they pass, and that the mutants are caught, is what the steps tests and mutants say.
promises() {
  local name arm cases mutants
  for name in P{1,2,3,4,5,6,7,8,10,12,13,14,15,16,17,18,19,31,32,33,34} F{1,2,3,4,5,6,7,8} M6_R; do
    for arm in {inorder,relaxed}/{threads,procs}; do
      cases=$(ctest --test-dir "$kTests" -N -R "conformance\.([PF][0-9]+_)*${name}_.*\.cpu/proxy/emu/direct/$arm\$" | sed -n 's/^Total Tests: //p')
      [ "$cases" -gt 0 ] || { echo "FAILED: no case of $name on cpu/proxy/emu/direct/$arm"; return 1; }
    done
    mutants=$(grep -cE "conformance_[a-z_]+ ([PF][0-9]+_)*${name}_" tests/mutants/mutants.list)
    [[ $name == F* ]] || [ "$mutants" -gt 0 ] || { echo "FAILED: no mutant breaks $name"; return 1; }
    echo "= $name: $cases cases on each of 4 arms, $mutants mutants"
  done
}

# The named errors and the bounded waits, which are unit, regress and conformance tests of their own.
failures() {
  local listed=0 name
  for name in 'P32_the_death_of_a_peer' P32_abort_ends Windows_ RanksApart MalformedMessage AKilledProcess DeathOfAProcess AbortReaches WrongToken Different \
    RanksThatCountDifferently RanksOfDifferentProfiles M6_R_ P31_ P34_; do
    listed=$(ctest --test-dir "$kTests" -N -R "$name" | sed -n 's/^Total Tests: //p')
    [ "$listed" -gt 0 ] || { echo "FAILED: no test is called $name any more"; return 1; }
    ctest --test-dir "$kTests" -R "$name" -j "$(nproc)" --output-on-failure || return 1
    echo "= $listed tests $name: passed"
  done
}

begin_proof "$@"
step demo 800 "${kPart[@]}" demo
step build 1500 ./dev build
step bench 1200 "${kPart[@]}" bench
step build_times 1500 "${kPart[@]}" build_times
step matrix 900 "${kPart[@]}" matrix
step seeds 1200 "${kPart[@]}" seeds
step tests 1800 ./dev test
step promises 300 "${kPart[@]}" promises
step failures 600 "${kPart[@]}" failures
step mutants 2400 ./dev test --preset mutants -L mutants
step clang 2400 ./dev test --preset clang -L ci
step asan 2400 ./dev test --preset asan -L ci
step ubsan 2400 ./dev test --preset ubsan -L ci
step tsan 2400 ./dev test --preset tsan -L ci

end_proof
