#!/usr/bin/env bash
# Everything issue A1 must show. Each step runs once a commit: what passed is remembered in build/prove/A1/<commit> until
# --fresh, with the whole output of each step. The log in docs/measurements/ is what the documents quote: of a step that
# passed its own summary, of one that failed what failed.
#   tools/dev/prove_A1.sh [--fresh] [STEP...]          without names: every step, in the order of the end of this file
#   tools/dev/prove_A1.sh --part FUNCTION [ARG...]     a step by hand, smaller: --part seeds 10, --part matrix 2
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 3

commit=$(git rev-parse --short HEAD)
readonly commit kState=build/prove/A1/$commit
readonly kLog=docs/measurements/$(date +%F)-prove-A1.log
readonly kTests=$PWD/build/release kRun=build/release/prefix/cpu/bin/anygin kExamples=build/release/examples
if [ "${1:-}" = --fresh ]; then
  rm -rf "$kState" "$kLog"
  shift
fi
mkdir -p "$kState" docs/measurements
failed=()

say() { echo "$@" | tee -a "$kLog"; }
kept() { sed 's/^/    /' | tee -a "$kLog"; }

# why FILE: what a failed step said of its failure; ctest prints a test's own output before it says that it failed.
why() {
  echo "what failed (all of it: $1):"
  grep -aE '(\*\*\*|FAILED|Failure|NOT MET|NOT MEASURED|[Ee]rror:|MISSED|dev: )' "$1" | sort -u | head -n 40
  echo "its last lines:"
  tail -n 60 "$1"
}

# step NAME SECONDS COMMAND...: runs it bounded. Where the output has lines "= ...", they are its summary.
step() {
  local name=$1 seconds=$2 begin=$SECONDS result
  shift 2
  [ ${#wanted[@]} -eq 0 ] || [[ " ${wanted[*]} " == *" $name "* ]] || return 0
  if [ -e "$kState/$name.done" ]; then
    say "PASSED $name before, at this commit"
    return 0
  fi
  timeout "$seconds" "$@" >"$kState/$name.out" 2>&1
  result=$?
  if [ $result -eq 0 ]; then
    touch "$kState/$name.done"
    say "PASSED $name ($((SECONDS - begin)) s): $*"
    if grep -q '^= ' "$kState/$name.out"; then grep '^= ' "$kState/$name.out"; else tail -n 8 "$kState/$name.out"; fi | kept
    return 0
  fi
  failed+=("$name")
  [ $result -ne 124 ] || result="$result: not done after $seconds s"
  say "FAILED $name ($((SECONDS - begin)) s, exit $result): $*"
  why "$kState/$name.out" | kept
}

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

# within WHAT SECONDS BAR
within() {
  local verdict=met
  [ "$2" -le "$3" ] || verdict=MISSED
  echo "= $1: $2 s, bar <= $3 s, $verdict"
  [ $verdict = met ]
}

# Busy share of all cores over two seconds, in percent.
busy() {
  local user nice system idle iowait rest before_idle before_all all
  read -r _ user nice system idle iowait rest </proc/stat
  before_idle=$((idle + iowait)) before_all=$((user + nice + system + idle + iowait))
  sleep 2
  read -r _ user nice system idle iowait rest </proc/stat
  all=$((user + nice + system + idle + iowait - before_all))
  echo $((all > 0 ? 100 - 100 * (idle + iowait - before_idle) / all : 0))
}

# Waits until the machine has been at rest for three samples; after five minutes it measures all the same and says so.
quiet_machine() {
  local begin=$SECONDS still=0 share
  while [ $still -lt 3 ]; do
    share=$(busy)
    [ "$share" -le 5 ] && still=$((still + 1)) || still=0
    if [ $((SECONDS - begin)) -gt 300 ]; then
      echo "= NOT QUIET: $share % busy after $((SECONDS - begin)) s; measured all the same"
      return 0
    fi
  done
  echo "= quiet: $share % busy; waited $((SECONDS - begin)) s"
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

if [ "${1:-}" = --part ]; then  # timeout runs programs, not functions: this script again
  "${@:2}"
  exit
fi
readonly kPart=(tools/dev/prove_A1.sh --part)

wanted=("$@")
dirty=$(git status --porcelain --untracked-files=no | wc -l)
say "# ./dev prove A1, $(date '+%F %H:%M'), $(nproc) cores, $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1), commit $commit"
[ "$dirty" -eq 0 ] || say "# NOT the commit alone: $dirty files are changed"

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

if [ ${#failed[@]} -eq 0 ]; then
  say "A1: every step passed"
else
  say "A1: not yet; failed: ${failed[*]}"
  exit 1
fi
