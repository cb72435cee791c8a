#!/usr/bin/env bash
# What issue D0 must show, as far as it is there. Each step runs once a commit (build/prove/D0/<commit>, --fresh starts over); the log
# goes to docs/measurements/.
#   tools/dev/prove_D0.sh [--fresh] [STEP...]
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 3

commit=$(git rev-parse --short HEAD)
readonly commit kState=build/prove/D0/$commit
readonly kLog=docs/measurements/$(date +%F)-prove-D0.log
if [ "${1:-}" = --fresh ]; then
  rm -rf "$kState" "$kLog"
  shift
fi
mkdir -p "$kState" docs/measurements
wanted=("$@")
failed=()
say() { echo "$@" | tee -a "$kLog"; }

step() {
  local name=$1 seconds=$2 begin=$SECONDS
  shift 2
  [ ${#wanted[@]} -eq 0 ] || [[ " ${wanted[*]} " == *" $name "* ]] || return 0
  [ ! -e "$kState/$name.done" ] || { say "PASSED $name before, at this commit"; return 0; }
  export -f "$1"
  if timeout "$seconds" bash -c "$1" >"$kState/$name.out" 2>&1; then
    touch "$kState/$name.done"
    say "PASSED $name ($((SECONDS - begin)) s)"
    grep '^= ' "$kState/$name.out" | sed 's/^/    /' | tee -a "$kLog"
  else
    failed+=("$name")
    say "FAILED $name ($((SECONDS - begin)) s)"
    tail -n 40 "$kState/$name.out" | sed 's/^/    /' | tee -a "$kLog"
  fi
}

export kAnygin=build/release/prefix/cpu/bin/anygin kExamples=build/release/examples

conformance() {
  ctest --test-dir build/release -R '^conformance\..*/emu/sim/' -j "$(nproc)" --output-on-failure | tail -n 12 | tee /dev/stderr | grep -q '100% tests passed' &&
    echo "= every conformance case on cpu/proxy/emu/sim/{inorder,relaxed}/threads"
}

litmus() {
  ctest --test-dir build/release -R litmus -j "$(nproc)" --output-on-failure | tail -n 12 | tee /dev/stderr | grep -q '100% tests passed' &&
    echo "= litmus outcomes equal the table; every freedom is reached"
}

# Every seed of every example twice, under another address space layout and dirty memory the second time.
determinism() {
  local seeds=${SEEDS:-200} example first second
  for example in "alltoall_gin -r 2" "ring -r 3"; do
    $kAnygin check --seeds "$seeds" --twice --no-minimise --profile relaxed -- $kExamples/$example || return 1
    for seed in 1 2 3 4 5 6 7 8; do
      first=$($kAnygin replay --seed $seed -- $kExamples/$example 2>/dev/null | grep '^digest')
      second=$(MALLOC_PERTURB_=170 setarch -R $kAnygin replay --seed $seed -- $kExamples/$example 2>/dev/null | grep '^digest')
      [ -n "$first" ] && [ "$first" = "$second" ] || { echo "seed $seed of $example: $first, $second"; return 1; }
    done
    echo "= $example: $seeds seeds twice with equal digests, 8 with ASLR off and perturbed memory"
  done
}

speed() {
  local line rate
  line=$($kAnygin check --seeds 20 --once --profile relaxed -- $kExamples/alltoall_gin -r 4 2>&1 >/dev/null | tail -n 1)
  rate=$(sed -n 's/.* runs, \([0-9]*\)\..*/\1/p' <<<"$line")
  echo "$line"
  [ "${rate:-0}" -ge 5 ] && echo "= all-to-all of 4 ranks, 16 blocks x 512 threads: $rate seeds a second (5 wanted)"
}

hang() {
  $kAnygin check --seeds 1 --once --no-minimise -- $kExamples/hang
  [ $? -eq 4 ] && echo "= the example that hangs is explained in one run"
}

# A failing run fails at the same event when it is replayed, by seed and by its choices.
replay() {
  local folder by_seed by_choices
  folder=$(mktemp -d)
  $kAnygin check --seeds 1 --once --out "$folder" -- $kExamples/hang >/dev/null 2>&1
  by_seed=$($kAnygin replay --seed 1 -- $kExamples/hang 2>/dev/null)
  [ "$by_seed" = "$($kAnygin replay --seed 1 -- $kExamples/hang 2>/dev/null)" ] || return 1
  by_choices=$($kAnygin replay --choices "$folder/anygin-seed-1.choices" -- $kExamples/hang 2>/dev/null)
  [ "$by_choices" = "$($kAnygin replay --choices "$folder/anygin-seed-1.choices" -- $kExamples/hang 2>/dev/null)" ] || return 1
  rm -r "$folder"
  echo "= a replayed failure fails at the same step, by seed and by choices"
}

mutants() {
  cmake --preset mutants >/dev/null && cmake --build build/mutants --target anygin_tool anygin_sim program_ring \
    program_alltoall_gin program_conformance_{signals,completion,values,barriers} >/dev/null || return 1
  SEEDS=${SEEDS:-20} tools/dev/sim_mutants.sh | tee /dev/stderr | tail -n 1 | sed 's/^/= /'
  return "${PIPESTATUS[0]}"
}

step conformance 600 conformance
step litmus 600 litmus
step hang 60 hang
step replay 120 replay
step speed 120 speed
step determinism 900 determinism
step mutants 1800 mutants
if [ ${#failed[@]} -gt 0 ]; then
  say "failed: ${failed[*]}"
  exit 1
fi
