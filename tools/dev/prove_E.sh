#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Everything the cuda target must show: builds it, packs it, and runs it where there is a GPU. The log goes to
# docs/measurements/. On a machine without a GPU:
#   tools/dev/prove_E.sh --pack              only builds and packs, into build/prove/E/bundle
#   (on the machine with the GPU)            OUT=somewhere bundle/device_E.sh PARTS...; in as many calls as it takes
#   tools/dev/prove_E.sh --results LOG...    what those calls wrote, as the proof's log; fails unless every part is in
#                                            them and all passed
#   tools/dev/prove_E.sh [PART...]           all of it here; parts of tools/dev/device_E.sh, none: all
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 3
readonly kLog=docs/measurements/$(date +%F)-prove-E.log
readonly kBundle=build/prove/E/bundle
mkdir -p docs/measurements build/prove/E

say() { echo "$@" | tee -a "$kLog"; }

# Paths of the machine and stacks of threads are left out.
keep() { grep -hvE '^(Thread |#[0-9])' "$@" | sed -e "s|$PWD|.|g" -e 's|/[^ ]*/\.devE/|bundle/|g' -e 's/^/    /' >>"$kLog"; }

# LOG...: every part there; of each step the last outcome counts, and is good.
judge() {
  local part missing=0 last
  for part in $("$PWD/tools/dev/device_E.sh" --parts); do
    grep -qh "^--- $part," "$@" || { say "NOT RUN $part"; missing=1; }
  done
  last=$(cat "$@" | sed -nE 's/^(ok  |FAIL|HUNG|SKIP) (.*) \(.*s\)$/\1|\2/p; s/^(SKIP) ([^(]*)$/\1|\2/p' |
    awk -F '|' '{ outcome[$2] = $1 } END { for (name in outcome) print outcome[name] "|" name }')
  say "steps that passed: $(grep -c '^ok' <<<"$last"); others: $(grep -vc '^ok' <<<"$last")"
  grep -v '^ok' <<<"$last" | tee -a "$kLog"
  [ $missing -eq 0 ] && ! grep -qv '^ok' <<<"$last"
}

pack() {
  say "commit $(git rev-parse --short HEAD), $(nvcc --version 2>/dev/null | tail -n 1)"
  if ! { cmake --preset cuda && cmake --build build/cuda && cmake --preset release &&
         cmake --build build/release --target anygin_tool program_ring program_alltoall_gin program_heat; } >build/prove/E/build.out 2>&1; then
    say "FAILED build: $(tail -n 20 build/prove/E/build.out)"
    exit 1
  fi
  tools/dev/bundle_E.sh "$kBundle" >>build/prove/E/build.out 2>&1 || { say "FAILED bundle"; exit 1; }
  say "PASSED build: prefixes, examples, conformance and benchmarks"
}

case ${1:-} in
  --pack)
    pack
    echo "$kBundle is packed"
    ;;
  --results)
    shift
    keep "$@"
    judge "$@"
    ;;
  *)
    pack
    if [ ! -e /dev/nvidiactl ]; then
      say "NOT RUN: no GPU here; --pack and --results are for that"
      exit 1
    fi
    OUT=build/prove/E "$kBundle/device_E.sh" "$@"
    keep build/prove/E/device_E.log
    judge build/prove/E/device_E.log
    ;;
esac
