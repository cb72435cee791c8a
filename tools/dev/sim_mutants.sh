#!/usr/bin/env bash
# Planted bugs against the simulated world: each mutant of the stack is looked for with `anygin check` in conformance cases and
# examples. Says in how many runs each was found; fails if fewer than 95 % are. Needs the mutants preset built.
set -euo pipefail
cd "$(dirname "$0")/../.."

build=build/mutants
anygin=$build/prefix/cpu/bin/anygin
readonly kSeeds=${SEEDS:-40}
readonly kMutants=(signal_before_payload proxy_credit_off_by_one proxy_publish_before_payload proxy_lost_doorbell strong_does_not_wait
                   double_add dropped_granule ack_lost stale_mr_version proxy_wrong_queue proxy_early_counter proxy_counted_twice
                   verbs_strong_may_pass nccl_barrier_put_weak nccl_barrier_get_unfenced proxy_self_put_empty
                   nccl_empty_put_dropped nccl_value_of_eight nccl_legacy_weak proxy_flush_one_short nccl_compare_plain
                   proxy_signal_reset_lost proxy_counter_reset_lost proxy_signals_shared nccl_shadow_survives
                   nccl_follow_untold nccl_barrier_one_less nccl_barrier_shared)
# program and case, the likely ones first
cases() {
  echo "$build/examples/ring -r 3"
  local program
  for program in signals completion barriers values; do
    "$build/conformance/conformance_$program" | grep -v '^P33' | sed "s|^|$build/conformance/conformance_$program |"
  done
  echo "$build/examples/alltoall_gin -r 4"
  echo "$build/conformance/conformance_completion P33_a_full_queue_delays_and_never_drops"
}

found=0
missed=()
mapfile -t all < <(cases)
# A case that fails without any mutant would find them all.
for case in "${all[@]}"; do
  $anygin check --seeds 1 --once --no-minimise --timeout 30 -- $case >/dev/null 2>&1 || { echo "without a mutant: $case fails" >&2; exit 1; }
done
for mutant in "${kMutants[@]}"; do
  where=
  for profile in relaxed inorder; do
    for case in "${all[@]}"; do
      seeds=$kSeeds
      [[ $case == *P33* || $case == *alltoall* ]] && seeds=2
      [[ $case == *F[0-9]_* ]] && seeds=2
      if ! ANYGIN_MUTANT=$mutant $anygin check --seeds "$seeds" --once --no-minimise --timeout 20 --profile "$profile" -- $case \
          >/tmp/sim-mutant-$$ 2>/dev/null; then
        where="$(grep -o 'seed [0-9]*: .*' /tmp/sim-mutant-$$ | head -1) | ${case##*/} $profile"
        break 2
      fi
    done
  done
  rm -f /tmp/sim-mutant-$$
  if [ -n "$where" ]; then
    found=$((found + 1))
    echo "$mutant: $where" | cut -c1-220
  else
    missed+=("$mutant")
    echo "$mutant: NOT FOUND"
  fi
done
echo "found $found of ${#kMutants[@]} mutants; missed: ${missed[*]:-none}"
[ $((found * 100)) -ge $((${#kMutants[@]} * 95)) ]
