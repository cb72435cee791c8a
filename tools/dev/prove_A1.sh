#!/usr/bin/env bash
# Everything issue A1 must show. Each step runs once: what passed is remembered in build/prove/A1 until --fresh. The log in
# docs/measurements/ is what the documents quote.
set -uo pipefail
cd "$(dirname "$0")/../.."

readonly kState=build/prove/A1
readonly kLog=docs/measurements/$(date +%F)-prove-A1.log
readonly kRun=build/release/prefix/cpu/bin/anygin
[ "${1:-}" != --fresh ] || rm -rf "$kState" "$kLog"
mkdir -p "$kState" docs/measurements
failed=0

say() { echo "$@" | tee -a "$kLog"; }

# step NAME SECONDS COMMAND...: runs it bounded; its last lines go to the log.
step() {
  local name=$1 seconds=$2
  shift 2
  if [ -e "$kState/$name.done" ]; then return 0; fi
  local begin=$SECONDS
  if timeout "$seconds" "$@" >"$kState/$name.out" 2>&1; then
    touch "$kState/$name.done"
    say "PASSED $name ($((SECONDS - begin)) s): $*"
  else
    failed=1
    say "FAILED $name ($((SECONDS - begin)) s, exit $?): $*"
  fi
  tail -n 24 "$kState/$name.out" | sed 's/^/    /' | tee -a "$kLog"
}

# Every layout of ranks on nodes, as threads and as processes.
matrix() {
  local program ranks nodes
  for program in alltoall_gin ring; do
    for ranks in 1 2 3 4 5 8 16; do
      for nodes in 1 2 4; do
        [ $((ranks % nodes)) -eq 0 ] || continue
        ANYGIN_TOPOLOGY=${nodes}x$((ranks / nodes)) timeout 60 build/release/examples/$program -r "$ranks" >/dev/null || { echo "FAILED $program threads $ranks on $nodes"; return 1; }
        "$kRun" run -n "$ranks" --nodes "$nodes" --timeout 60 -- build/release/examples/$program >/dev/null || { echo "FAILED $program processes $ranks on $nodes"; return 1; }
        echo "verified: $program, $ranks ranks on $nodes nodes, threads and processes"
      done
    done
  done
}

seeds() {
  local seed
  for ((seed = 1; seed <= 1000; ++seed)); do
    ANYGIN_PROFILE=relaxed ANYGIN_SEED=$seed timeout 60 build/release/examples/alltoall_gin -r 4 >/dev/null || { echo "FAILED seed $seed"; return 1; }
  done
  echo "1000 seeds of relaxed verified: alltoall_gin, 4 ranks as threads"
}

build_times() {
  rm -rf build/timed
  CCACHE_DISABLE=1 cmake --preset release -B build/timed >/dev/null
  local begin=$SECONDS
  CCACHE_DISABLE=1 cmake --build build/timed >/dev/null || return 1
  echo "full build: $((SECONDS - begin)) s (bar: 360)"
  [ $((SECONDS - begin)) -le 360 ] || return 1
  touch backends/proxy/proxy_engine.cc
  begin=$SECONDS
  CCACHE_DISABLE=1 cmake --build build/timed >/dev/null || return 1
  echo "incremental build after touching proxy_engine.cc: $((SECONDS - begin)) s (bar: 20)"
  [ $((SECONDS - begin)) -le 20 ] || return 1
  rm -rf build/timed
}

export -f matrix seeds build_times
export kRun

say "# ./dev prove A1, $(date '+%F %H:%M'), $(nproc) cores, $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1), commit $(git rev-parse --short HEAD)"
step demo 180 ./dev demo
step matrix 900 bash -c matrix
step seeds 1200 bash -c seeds
step conformance 1800 ./dev test -L conformance
step mutants 1800 ./dev test --preset mutants -L mutants
step bench 900 tools/dev/bench_A1.sh
step build_times 1200 bash -c build_times
step clang 1800 ./dev test --preset clang -L ci
step asan 1800 ./dev test --preset asan -L ci
step ubsan 1800 ./dev test --preset ubsan -L ci
step tsan 1800 ./dev test --preset tsan -L ci
[ $failed -eq 0 ] && say "A1: every step passed" || say "A1: not yet"
exit $failed
