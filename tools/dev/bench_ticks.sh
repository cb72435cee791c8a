#!/usr/bin/env bash
# What ticks cost: a chain of lanes that spin raw, and loops that wait for nobody, built with --ticks=none, auto and all and run in
# turns. Exit 1: a bar was missed.
#   tools/dev/bench_ticks.sh [ROUNDS]     after ./dev build
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 3
readonly kRounds=${1:-5} kNvcc=build/release/prefix/cpu/bin/nvcc kOut=build/bench-ticks
mkdir -p $kOut
rm -f $kOut/*.txt
missed=0

for ticks in none auto all; do
  $kNvcc -O2 --ticks=$ticks --keep --keep-dir $kOut -c -o $kOut/spin_cost.o bench/spin_cost.cu 2>/dev/null &&
    $kNvcc -O2 --ticks=$ticks -o $kOut/$ticks bench/spin_cost.cu -lnccl || exit 1
  mv $kOut/spin_cost.cu.ii $kOut/$ticks.ii
done

# ticks_of KERNEL TICKS: how many the rewriter put into it.
ticks_of() { sed -n "/ void $1(/,/^}/p" "$kOut/$2.ii" | grep -o '::anygin::simt::tick()' | wc -l; }
# best TICKS NAME: nanoseconds a turn, the least of all rounds.
best() { awk -v name="$2" '$1 == name { print $2 }' "$kOut/$1.txt" | sort -g | head -n 1; }

for ((round = 0; round < kRounds; ++round)); do
  for ticks in none auto all; do timeout 60 $kOut/$ticks loops >>$kOut/$ticks.txt || exit 1; done
done
timeout 60 $kOut/auto chain | tee $kOut/chain.txt || exit 1
awk '{ exit !($6 <= 5 && $(NF - 1) <= 5) }' $kOut/chain.txt && echo "  bar <= 5 ms, met" || { echo "  bar <= 5 ms, MISSED"; missed=1; }

# A loop over loads is compared with the same loop without any yield point: cuda::atomic's own are there under --ticks=none, too.
printf '%-28s %5s %10s %10s %10s %8s %8s\n' "loop" ticks "no ticks" auto all auto/no all/no
while read -r name kernel peer bar; do
  none=$(best none "$peer") auto=$(best auto "$name") all=$(best all "$name") count=$(ticks_of "$kernel" auto)
  printf '%-28s %5s %7s ns %7s ns %7s ns %8s %8s  ' "$name" "$count" "$none" "$auto" "$all" \
    "$(awk "BEGIN { printf \"%.2f\", $auto / $none }")" "$(awk "BEGIN { printf \"%.2f\", $all / $none }")"
  verdict="bar <= $bar, met"
  awk "BEGIN { exit !($auto / $none <= $bar) }" || verdict="bar <= $bar, MISSED"
  [ "$bar" != 1.1 ] || [ "$count" -eq 0 ] || verdict="MISSED: a tick in a pure computation"
  [ "$(ticks_of "$kernel" all)" -gt 0 ] || verdict="NOT MEASURED: --ticks=all put none"
  echo "$verdict"
  [[ $verdict == *met ]] || missed=1
done <<'TABLE'
integers integers integers 1.1
floats floats floats 1.1
cuda::atomic_ref atomic_loads __atomic_load_n 1.5
__atomic_load_n builtin_loads __atomic_load_n 1.5
volatile volatile_loads volatile 1.5
64_lanes_cuda::atomic_ref atomic_loads 64_lanes___atomic_load_n 1.5
64_lanes_volatile volatile_loads 64_lanes_volatile 1.5
TABLE
exit $missed
