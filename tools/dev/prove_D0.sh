#!/usr/bin/env bash
# Everything issue D0 must show; tools/dev/prove.sh says how steps and logs work.
#   tools/dev/prove_D0.sh [--fresh] [STEP...]          without names: every step, in the order of the end of this file
#   tools/dev/prove_D0.sh --part FUNCTION [ARG...]     a step by hand, smaller: --part digests 20 ring -r 3, --part stack 1000
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 3
readonly kIssue=D0
. tools/dev/prove.sh

# build PRESET TARGET...: no targets, everything
build() {
  cmake --preset "$1" >"$kState/configure-$1.log" 2>&1 || { cat "$kState/configure-$1.log"; return 1; }
  cmake --build "build/$1" ${2:+--target "${@:2}"} || return 1
  echo "= preset $1: $(sed -n 's/^CMAKE_CXX_COMPILER:[A-Z]*=//p' "build/$1/CMakeCache.txt"), $(sed -n 's/^CMAKE_BUILD_TYPE:[A-Z]*=//p' "build/$1/CMakeCache.txt")"
}
build_programs() { build "$1" anygin_tool anygin_sim program_{ring,alltoall_gin,heat,hang}; }

# ctest_all PATTERN WHAT
ctest_all() {
  ctest --test-dir build/release -R "$1" -j "$(nproc)" --no-tests=error --output-on-failure >"$kState/ctest.out" 2>&1 || { tail -n 60 "$kState/ctest.out"; return 1; }
  echo "= $2: $(sed -n 's/^100% tests passed, .* out of \([0-9]*\)$/\1 of \1 tests pass/p' "$kState/ctest.out")"
}

# --- litmus ----------------------------------------------------------------------------------------------------------

# litmus_all OPTION...: every file, two at a time; the whole output in order. Fails if one differs from its table.
litmus_all() {
  ls tests/litmus/*.litmus | xargs -P "$(nproc)" -I{} sh -c 'file=$1 out=$2/${1##*/}.out anygin=$3; shift 3; "$anygin" litmus "$file" "$@" >"$out" || echo "$file: exit code $?"' \
    - {} "$kState" "$kRun" "$@" >"$kState/litmus.failed" 2>&1
  cat "$kState"/*.litmus.out && rm "$kState"/*.litmus.out
  cat "$kState/litmus.failed"
  [ ! -s "$kState/litmus.failed" ]
}

outcomes() {
  litmus_all >"$kState/outcomes.lines" || { cat "$kState/outcomes.lines"; return 1; }
  cat "$kState/outcomes.lines"
  echo "= every way through $(ls tests/litmus/*.litmus | wc -l) files under 4 profiles: $(grep -c '^agrees' "$kState/outcomes.lines") outcome sets equal the table, $(grep -vc '^agrees' "$kState/outcomes.lines") do not"
  ctest_all '^litmus_' "litmus tests"
}

# The files that show a freedom of the profile table: there the runs must have seen every outcome, a rare one perhaps only
# in fifteen times as many. (F5 is a freedom of completion, which the table does not have.)
# freedoms_reached FORM RUNS
freedoms_reached() {
  local form=$1 runs=$2 lines=$kState/$1.lines file profile rare=0
  local -r all=$(grep -c '^agrees  F[1-46-9]_' "$lines")
  unreached() { awk '$2 ~ /^F[1-46-9]_/ { for (i = 1; i < NF; i++) if ($i == "outcomes,") { sub(",", "", $(i + 2)); if ($(i - 1) != $(i + 2)) print $2, $3 } }' "$1"; }
  while read -r file profile; do
    rare=$((rare + 1))
    $kRun litmus "tests/litmus/$file.litmus" --form "$form" --profile "$profile" --runs $((runs * 15)) --seed $((runs + 1)) >"$kState/rare.lines" || return 1
    cat "$kState/rare.lines"
    [ -z "$(unreached "$kState/rare.lines")" ] || { echo "not reached: $(cat "$kState/rare.lines")"; return 1; }
  done < <(unreached "$lines")
  echo "= freedoms of the table: all $all (file, profile) pairs saw every outcome that is allowed, $rare of them in $((runs * 15)) runs more"
}

# random_runs FORM RUNS BAR
random_runs() {
  local lines=$kState/$1.lines
  litmus_all --form "$1" --runs "$2" >"$lines" || { grep -v '^agrees' "$lines"; return 1; }
  cat "$lines"
  echo "= $1 form: $(grep -c '^agrees' "$lines") (file, profile) pairs x $2 runs, nothing outside the table"
  freedoms_reached "$1" "$2" || return 1
  grep -l '^ranks *2' tests/litmus/*.litmus | xargs -n 1 basename -s .litmus >"$kState/two-ranks"
  awk -v bar="$3" -v form="$1" 'NR == FNR { two[$1] = 1; next }
      { for (i = 1; i < NF; i++) if ($(i + 1) == "a" && $(i + 2) ~ /^second/) rate = $i
        n++; cpu += 1 / rate; if (two[$2]) { m++; two_cpu += 1 / rate; if (rate < low || !low) { low = rate; where = $2 " " $3 } } }
      END { printf "= %s form, two ranks: %d runs a second and core over %d pairs (bar %d), slowest %d (%s); all ranks: %d\n", form, m / two_cpu, m, bar, low, where, n / cpu; exit m / two_cpu < bar }' "$kState/two-ranks" "$lines"
}
tabular() { random_runs tabular "${1:-1000000}" 1000000; }
stack() { random_runs stack "${1:-20000}" 20000; }

# --- digests ---------------------------------------------------------------------------------------------------------

# write_digests CONDITION PRESET SEEDS PREFIX... -- PROGRAM ARG...: every seed once; hangs are run twice by check itself.
write_digests() {
  local condition=$1 preset=$2 seeds=$3 before=()
  shift 3
  while [ "$1" != -- ]; do before+=("$1"); shift; done
  shift
  local -r file=$kState/digests-$(tr ' ' - <<<"$*")-$seeds-$condition
  local result
  [ ! -s "$file" ] || return 0
  "${before[@]}" build/"$preset"/prefix/cpu/bin/anygin check --seeds "$seeds" --once --keep-going --no-minimise --profile relaxed -j "$(nproc)" \
    --out "$kState" --digests "$file.part" -- build/"$preset"/examples/"$@" >"$file.log" 2>&1
  result=$?
  if [ $result -ne 0 ] && ! { [ "$1" = hang ] && [ $result -eq 4 ]; }; then tail -n 20 "$file.log"; return 1; fi
  [ "$(wc -l <"$file.part")" = "$seeds" ] || { echo "$condition: $(wc -l <"$file.part") digests of $seeds"; return 1; }
  mv "$file.part" "$file"
}

# digests SEEDS PROGRAM ARG...: the same seeds under every condition.
digests() {
  local seeds=$1 condition first
  shift
  first=$kState/digests-$(tr ' ' - <<<"$*")-$seeds-g++-O2
  write_digests g++-O2 release "$seeds" env -- "$@" || return 1
  write_digests g++-O2-again release "$seeds" env -- "$@" || return 1
  write_digests no-ASLR-dirty-memory release "$seeds" setarch -R env MALLOC_PERTURB_=170 -- "$@" || return 1
  write_digests clang-O2 clang "$seeds" env -- "$@" || return 1
  write_digests g++-O0 O0 "$seeds" env -- "$@" || return 1
  write_digests clang-O0 clang-O0 "$seeds" env -- "$@" || return 1
  for condition in g++-O2-again no-ASLR-dirty-memory clang-O2 g++-O0 clang-O0; do
    cmp "$first" "${first%g++-O2}$condition" || return 1
  done
  echo "= $*: $seeds seeds, $(cut -d' ' -f2 "$first" | sort -u | wc -l) distinct; digests equal twice, with ASLR off and dirty memory, under g++ -O2, g++ -O0, clang -O2, clang -O0"
}

# --- speed, hangs, replay --------------------------------------------------------------------------------------------

# What a run costs a core, whoever else uses the machine; and how fast all cores together are right now.
speed() {
  local user system wall seeds=40 TIMEFORMAT='%U %S %R'
  { time $kRun check --seeds $seeds --once -j "$(nproc)" --profile relaxed -- $kExamples/alltoall_gin -r 4 >"$kState/speed.log" 2>&1; } 2>"$kState/speed.time" || { cat "$kState/speed.log"; return 1; }
  read -r user system wall <"$kState/speed.time"
  awk -v n=$seeds -v u="$user" -v s="$system" -v w="$wall" -v j="$(nproc)" 'BEGIN {
    printf "= all-to-all of 4 ranks, 16 blocks x 512 threads: %.1f seeds a second of one core (bar 5), %.1f a second with %d at a time here and now\n", n / (u + s), n / w, j
    exit n / (u + s) < 5 }'
}

hang() {
  local out=$kState/hang.text
  $kRun check --seeds 1 --once --no-minimise --out "$kState" -- $kExamples/hang -r 3 >"$out" 2>&1
  [ $? -eq 4 ] || { cat "$out"; return 1; }
  cat "$out"
  local wanted
  for wanted in 'gather_signals (launch' 'block (0,0,0)' 'waitSignal of rank 0, context 0 index 0: wants 3, is 2' 'hang.cu:'; do
    grep -qF "$wanted" "$out" || { echo "the report does not say '$wanted'"; return 1; }
  done
  echo "= the example that hangs is explained in one run: exit code 4; kernel, block, line, what it waits for, what it sees"
}

# same_failure ENVIRONMENT PROGRAM ARG...: looks for a seed that fails; by seed and by its choices it fails at the same
# step with the same digest.
same_failure() {
  local settings=$1 folder seed by_seed by_choices anygin=$kRun
  shift
  [ "$settings" = - ] && settings=ANYGIN_SEED=1 || anygin=build/mutants/prefix/cpu/bin/anygin
  folder=$(mktemp -d "$kState/replay-XXXXXX")
  env "$settings" $anygin check --seeds 400 --once --no-minimise --out "$folder" -- "$@" >"$folder/out" 2>/dev/null
  seed=$(sed -n 's/^seed \([0-9]*\): .*/\1/p' "$folder/out")
  [ -n "$seed" ] || { echo "no failing seed: $*"; return 1; }
  by_seed=$(env "$settings" $anygin replay --seed "$seed" -- "$@" 2>/dev/null | tail -n 2)
  by_choices=$(env "$settings" $anygin replay --choices "$folder/anygin-seed-$seed.choices" -- "$@" 2>/dev/null | tail -n 2)
  [ -n "$by_seed" ] && [ "$by_seed" = "$by_choices" ] || { printf 'by seed: %s\nby choices: %s\n' "$by_seed" "$by_choices"; return 1; }
  echo "= ${settings#ANYGIN_SEED=1} ${*##*/}, seed $seed: $(head -n 1 <<<"${by_seed#*: }" | cut -c1-150), $(tail -n 1 <<<"$by_seed"), by seed and by choices"
}
replay() {
  local c=build/mutants/conformance/conformance_
  same_failure - build/release/conformance/weak_signal believes_a_weak_signal &&
    same_failure - $kExamples/hang -r 3 &&
    same_failure ANYGIN_MUTANT=strong_does_not_wait ${c}signals P2_a_strong_signal_covers_earlier_puts &&
    same_failure ANYGIN_MUTANT=signal_before_payload ${c}signals P1_a_weak_signal_covers_its_own_payload &&
    same_failure ANYGIN_MUTANT=double_add build/mutants/examples/ring -r 3
}

mutants() {
  tools/dev/sim_mutants.sh | tee "$kState/mutants.lines"
  [ "${PIPESTATUS[0]}" -eq 0 ] || return 1
  tail -n 1 "$kState/mutants.lines" | sed 's/^/= /'
}

begin_proof "$@"
step build 1800 "${kPart[@]}" build release anygin_tool anygin_sim program_{ring,alltoall_gin,heat,hang} program_simulated_{entropy,host_threads,weak_signal} \
  program_conformance_{signals,completion,values,barriers,lsa_data,failure} litmus_{explore,outcomes,parser,stack,tool} unit_{sim,tools} sim_program check_command
step build-clang 900 "${kPart[@]}" build_programs clang
step build-O0 900 "${kPart[@]}" build_programs O0
step build-clang-O0 900 "${kPart[@]}" build_programs clang-O0
step build-mutants 1200 "${kPart[@]}" build mutants anygin_tool anygin_sim program_ring program_alltoall_gin program_hang \
  program_conformance_{signals,completion,values,barriers,lsa_data,failure}
step conformance 600 "${kPart[@]}" ctest_all '^conformance\..*/emu/sim/' "conformance on cpu/proxy/emu/sim/{inorder,cx7,relaxed,srd}/threads"
step check 300 "${kPart[@]}" ctest_all '^(unit_sim|sim_program|check_command)\.|Minimise|Perfetto' "tests of check, replay, trace, minimisation, checkers"
step outcomes 600 "${kPart[@]}" outcomes
step tabular 1200 "${kPart[@]}" tabular
step stack 600 "${kPart[@]}" stack
step speed 120 "${kPart[@]}" speed
step hang 60 "${kPart[@]}" hang
step replay 300 "${kPart[@]}" replay
step mutants 1800 "${kPart[@]}" mutants
step digests-ring 1200 "${kPart[@]}" digests 2000 ring -r 3
step digests-hang 1200 "${kPart[@]}" digests 2000 hang -r 3
step digests-heat 1200 "${kPart[@]}" digests 2000 heat -r 2
step digests-alltoall 1800 "${kPart[@]}" digests 2000 alltoall_gin -r 2
step digests-alltoall-4 1800 "${kPart[@]}" digests 200 alltoall_gin -r 4

end_proof
