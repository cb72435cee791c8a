#!/usr/bin/env bash
# The SIMT benchmarks of this tree beside those of an earlier commit, each with the libanygin.so of its own, in alternate runs.
# The figure of a benchmark is its best one, which other work on the machine disturbs least. Exit 1: one is slower than allowed.
#   tools/dev/bench_peer.sh COMMIT [ROUNDS [ALLOWED_PERCENT]]     after ./dev build; 5 rounds and 10 % unless given
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 3
peer=$(git rev-parse --short "${1:?which commit?}^{commit}") || exit 2
readonly peer kRounds=${2:-5} kAllowed=${3:-10} kOut=build/bench-peer/$peer
mkdir -p "$kOut"

if [ ! -x "$kOut/build/bench/simt_bench" ]; then
  mkdir -p "$kOut/source"
  git archive "$peer" | tar -x -C "$kOut/source" &&
    (cd "$kOut/source" && cmake --preset release -B ../build >/dev/null) &&
    cmake --build "$kOut/build" --target simt_bench >"$kOut/build.log" 2>&1 || { echo "the peer does not build, see $kOut/build.log"; exit 1; }
fi
cmake --build build/release --target simt_bench >/dev/null || exit 1

# one_round PROGRAM: "name nanoseconds" of each benchmark.
one_round() {
  timeout 300 "$1" --benchmark_min_time=0.1 --benchmark_format=json 2>/dev/null | tr -d '",' |
    awk '$1 == "name:" { name = $2; sub("/process_time.*", "", name) }
         $1 == "real_time:" { time = $2 }
         $1 == "time_unit:" { print name, time * ($2 == "ms" ? 1e6 : $2 == "us" ? 1e3 : 1) }'
}
rm -f "$kOut"/{here,there}.txt
for ((round = 0; round < kRounds; ++round)); do
  one_round "$kOut/build/bench/simt_bench" >>"$kOut/there.txt"
  one_round build/release/bench/simt_bench >>"$kOut/here.txt"
done

echo "this tree at $(git rev-parse --short HEAD), the peer at $peer: $(git log -1 --format=%s "$peer")"
awk -v allowed="$kAllowed" -v rounds="$kRounds" '
  FNR == NR { if (!($1 in there) || $2 < there[$1]) there[$1] = $2; next }
  !($1 in here) { order[++count] = $1 }
  !($1 in here) || $2 < here[$1] { here[$1] = $2 }
  END {
    for (i = 1; i <= count; ++i) {
      name = order[i]
      if (!(name in there)) { printf "%-44s not in the peer\n", name; continue }
      ++compared
      change = (here[name] / there[name] - 1) * 100
      slow = change > allowed
      missed += slow
      printf "%-44s %12.0f ns, peer %12.0f ns, %+6.1f %% %s\n", name, here[name], there[name], change, slow ? "MISSED" : "met"
    }
    printf "%d benchmarks, best of %d alternate runs each; slower than the bar of +%d %%: %d\n", compared, rounds, allowed, missed
    exit missed > 0 || compared == 0
  }' "$kOut/there.txt" "$kOut/here.txt"
