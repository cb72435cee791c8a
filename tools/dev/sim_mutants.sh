#!/usr/bin/env bash
# Planted bugs against the simulated world: each mutant that a GIN program can meet is looked for with `anygin check` in
# conformance cases and examples, case after case. Says in how many runs each was found; fails if fewer than 95 % are
# within 10,000. Needs the mutants preset built.
#   tools/dev/sim_mutants.sh [MUTANT...]      SEEDS: of a short case under a profile (20)
set -euo pipefail
cd "$(dirname "$0")/../.."

export kBuild=build/mutants kSeeds=${SEEDS:-20} kRunsMax=10000
readonly kMutants=(signal_before_payload proxy_credit_off_by_one proxy_publish_before_payload proxy_lost_doorbell strong_does_not_wait
                   double_add dropped_granule ack_lost stale_mr_version proxy_wrong_queue proxy_early_counter proxy_counted_twice
                   proxy_error_counts verbs_strong_may_pass nccl_barrier_put_weak nccl_barrier_get_unfenced
                   nccl_barrier_self_uncovered proxy_self_put_empty nccl_empty_put_dropped nccl_value_of_eight nccl_legacy_weak
                   nccl_legacy_strong proxy_flush_one_short nccl_compare_plain proxy_signal_reset_lost proxy_counter_reset_lost
                   proxy_signals_shared proxy_signal_of_16_bits nccl_shadow_survives nccl_follow_untold nccl_barrier_one_less
                   nccl_barrier_shared nccl_lsa_barrier_one_less nccl_range_unchecked nccl_signal_unchecked comm_abort_word_unset
                   nccl_ll_a2a_unawaited nccl_ll_a2a_one_half nccl_reduce_one_less simt_wakeup_lost simt_barrier_one_early)

# Program and case, the likely ones first. The case about a hang hangs without a mutant.
cases() {
  local program
  echo "$kBuild/examples/ring -r 3"
  for program in signals completion barriers values lsa_data failure; do
    "$kBuild/conformance/conformance_$program" | grep -v '^P3[34]' | sed "s|^|$kBuild/conformance/conformance_$program |"
  done
  echo "$kBuild/examples/alltoall_gin -r 4"
  echo "$kBuild/conformance/conformance_completion P33_a_full_queue_delays_and_never_drops"
}

# check MUTANT PROFILE SEEDS CASE: prints the tool's output
check() { env ${1:+ANYGIN_MUTANT=$1} $kBuild/prefix/cpu/bin/anygin check --seeds "$3" --once --no-minimise --timeout 20 --profile "$2" --out "$kScratch" -- $4 2>/dev/null; }

look_for() {
  local mutant=$1 profile case seeds out runs=0
  for profile in relaxed inorder; do
    while read -r case; do
      seeds=$kSeeds
      [[ $case == *P33* || $case == *alltoall* || $case == *F[0-9]_* ]] && seeds=2
      if out=$(check "$mutant" "$profile" "$seeds" "$case"); then
        runs=$((runs + seeds))
        [ $runs -lt $kRunsMax ] || break 2
        continue
      fi
      runs=$((runs + $(sed -n '$s/.*: \([0-9]*\) runs, .*/\1/p' <<<"$out")))
      echo "$mutant: found in $runs runs: $(grep -o 'seed [0-9]*: .*' <<<"$out" | head -1) | ${case##*/} $profile" | cut -c1-240
      return
    done <"$kScratch/cases"
  done
  echo "$mutant: NOT FOUND in $runs runs"
}
# A case that fails without any mutant would find them all.
must_pass() { check "" "$2" 1 "$1" >/dev/null || echo "without a mutant: $1 fails under $2"; }
export -f check look_for must_pass

kScratch=$(mktemp -d)
export kScratch
trap 'rm -r "$kScratch"' EXIT
cases >"$kScratch/cases"
for profile in relaxed inorder; do
  xargs -P "$(nproc)" -I{} bash -c 'must_pass "$1" "$2"' - {} $profile <"$kScratch/cases" >"$kScratch/failing"
  [ ! -s "$kScratch/failing" ] || { cat "$kScratch/failing" >&2; exit 1; }
done
printf '%s\n' "${@:-${kMutants[@]}}" | xargs -P "$(nproc)" -I{} bash -c 'look_for {}' | tee "$kScratch/found"
all=$(wc -l <"$kScratch/found") found=$(grep -c ': found in ' "$kScratch/found")
echo "found $found of $all mutants within $kRunsMax runs each, the median in $(sed -n 's/.*found in \([0-9]*\) runs.*/\1/p' "$kScratch/found" | sort -n | awk '{ a[NR] = $1 } END { print a[int((NR + 1) / 2)] }'); missed: $(sed -n 's/: NOT FOUND.*//p' "$kScratch/found" | tr '\n' ' ')"
[ $((found * 100)) -ge $((all * 95)) ]
