#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The same program, compiled for the CPU and for a GPU, gives the same results: digests bit for bit, sums of floats within
# what the example allows itself.
#   same_results_E.sh CPU_FOLDER CUDA_FOLDER    each with examples/ and prefix/<target>/{bin,lib}; other libraries: LD_LIBRARY_PATH
set -uo pipefail
cpu=${1:?cpu folder} cuda=${2:?cuda folder}
export ANYGIN_DEVICES=8
different=0
raw=$(mktemp)

# results TARGET FOLDER PLACEMENT RANKS EXAMPLE: its result lines in order, without times.
results() {
  local target=$1 folder=$2 placement=$3 ranks=$4 program=$2/examples/$5
  local command=("$program" -r "$ranks")
  [ "$placement" = threads ] || command=("$folder/prefix/$target/bin/anygin" run -n "$ranks" -- "$program")
  LD_LIBRARY_PATH=$folder/prefix/$target/lib:${LD_LIBRARY_PATH:-} timeout 50 "${command[@]}" 2>&1 | tee "$raw" |
    sed -nE 's/^\[[0-9]+\] //; s/^(rank .*: digest .*|rank .*: heat [^ ]+) ?.*/\1/p' | sort
}

for example in ring alltoall_gin heat; do
  for placement in threads processes; do
    for ranks in 2 4 8; do
      on_cpu=$(results cpu "$cpu" $placement $ranks $example)
      on_gpu=$(results cuda "$cuda" $placement $ranks $example)
      # Lines that are no digest end in a number; 0.5 is 512 cells of at most 0.001 each.
      if paste -d '\n' <(echo "$on_cpu") <(echo "$on_gpu") | awk -v ranks=$ranks '
          NR % 2 { line = $0; value = $NF; next }
          $0 == line { same++; next }
          /heat/ && ($NF - value) ^ 2 <= 0.25 { same++; next }
          END { exit same != ranks }'; then
        echo "same: $example, $ranks ranks as $placement: $(echo "$on_gpu" | head -n 1)"
      else
        echo "DIFFERENT: $example, $ranks ranks as $placement"
        paste -d '|' <(echo "$on_cpu") <(echo "$on_gpu")
        head -n 4 "$raw"
        different=1
      fi
    done
  done
done
exit $different
