#!/usr/bin/env bash
# The figures that issue A1 must show, each beside its bar. Medians of 5. For a quiet machine; on a shared one put something
# like `chrt -f 1` (real-time priority) in front of every program, as arguments. Exit 1: a bar was missed.
#   tools/dev/bench_A1.sh [WRAPPER ARGUMENT...]
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 3

readonly kBench=build/release/bench
readonly kExamples=build/release/examples
readonly kRun=build/release/prefix/cpu/bin/anygin
wrap=("$@")
missed=0

# bar NAME VALUE UNIT atmost|atleast LIMIT
bar() {
  local verdict=met sign="<="
  [ "$4" = atmost ] || sign=">="
  if ! [[ $2 =~ ^[0-9.]+([eE][+-]?[0-9]+)?$ ]]; then
    verdict="NOT MEASURED"
  elif awk -v v="$2" -v l="$5" -v s="$sign" 'BEGIN { exit s == "<=" ? v <= l : v >= l }'; then
    verdict="NOT MET"
  fi
  [ "$verdict" = met ] || missed=1
  printf '%-62s %12s %-4s bar %s %-9s %s\n' "$1" "${2:--}" "$3" "$sign" "$5" "$verdict"
}
note() { printf '%-62s %s\n' "$1" "$2"; }
median() { sort -g | awk '{ v[NR] = $1 } END { if (NR) print v[int((NR + 1) / 2)] }'; }
wrapped() { timeout 120 ${wrap[@]+"${wrap[@]}"} "$@"; }

# google PROGRAM FILTER COLUMN: the median of a column (real_time in ns, items_per_second, a counter) of one benchmark.
google() {
  wrapped "$kBench/$1" --benchmark_filter="$2" --benchmark_repetitions=5 --benchmark_report_aggregates_only=true \
    --benchmark_min_time=0.2 --benchmark_format=csv 2>/dev/null |
    awk -F, -v column="$3" '
      $1 == "name" { for (i = 1; i <= NF; ++i) { gsub(/"/, "", $i); at[$i] = i } }
      $1 ~ /_median"$/ { print $at[column] }'
}

# field PATTERN NUMBER: a field of the line that matches, from stdin.
field() { awk -v pattern="$1" -v number="$2" '$0 ~ pattern { print $number }'; }

launches() {
  bar "empty <<<16,512>>>, launch and synchronize" "$(google simt_bench '^empty_kernel/16/512' items_per_second)" /s atleast 10000
  bar "__syncthreads, a thread (512 in a block)" "$(google simt_bench '^syncthreads/1/512' ns/thread)" ns atmost 8
}

million_threads() {
  local out=build/bench-million.out
  wrapped "$kBench/measure_run" "$kBench/simt_bench" --benchmark_filter='^million' --benchmark_repetitions=5 \
    --benchmark_min_time=0.01 --benchmark_report_aggregates_only=true >"$out" 2>&1
  bar "1 M threads x 25 block barriers, 8 ranks" "$(field _median 2 <"$out" | awk '{ print $1 / 1000 }')" s atmost 4
  bar "  peak memory" "$(field '^measured' 9 <"$out")" MB atmost 600
}

all_to_all() {
  local out=build/bench-alltoall.out
  : >"$out"
  for _ in 1 2 3 4 5; do wrapped "$kBench/measure_run" "$kExamples/alltoall_gin" -r 8 >>"$out" 2>&1; done
  [ "$(grep -c PASSED "$out")" = 40 ] || { echo "all-to-all: a rank did not pass, see $out"; missed=1; : >"$out"; }
  bar "all-to-all, 8 ranks as threads, whole program" "$(field '^measured' 3 <"$out" | median)" s atmost 0.5
  bar "  peak memory, largest of 5" "$(field '^measured' 9 <"$out" | sort -g | tail -1)" MB atmost 450
}

ping_pong() {
  local threads processes
  threads=$(ANYGIN_WORKERS=2 wrapped "$kBench/pingpong" -r 2)
  processes=$(wrapped "$kRun" run -n 2 -- "$kBench/pingpong" | sed 's/^\[[0-9]*\] //')
  bar "8 B put + signal round trip, threads" "$(field '^put_signal_round_trip' 3 <<<"$threads")" us atmost 3
  note "  beside it: a bare cache line" "$(field '^cache_line' 3 <<<"$threads") us"
  bar "8 B put + signal round trip, processes" "$(field '^put_signal_round_trip' 3 <<<"$processes")" us atmost 6
  note "  beside it: a bare cache line" "$(field '^cache_line' 3 <<<"$processes") us"
}

bandwidth() {
  local profile line
  for profile in inorder cx7 relaxed srd; do
    line=$(ANYGIN_PROFILE=$profile wrapped "$kBench/put_bandwidth" -r 2)
    if [ $profile = inorder ]; then
      bar "1 MiB put, inorder, share of memcpy" "$(field '^put_1MiB' 3 <<<"$line")" % atleast 60
    fi
    note "  $line" ""
  done
}

echo "# $(date +%F), $(nproc) cores, $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1), commit $(git rev-parse --short HEAD)"
echo "# tools/dev/bench_A1.sh, each program run as: ${*:-(plain)}; load average $(cut -d' ' -f1 /proc/loadavg)"
launches
million_threads
all_to_all
ping_pong
bandwidth
bar "software HCA alone, 8 B writes" "$(google hca_bench 'hca_write/inorder/8$' items_per_second)" /s atleast 5000000
exit $missed
