#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Everything the cuda target must show: builds it, packs it, and runs it where there is a GPU. The log goes to
# docs/measurements/; without a GPU it says what was built and what was not run, and fails.
#   tools/dev/prove_E.sh [PART...]       parts of tools/dev/device_E.sh; none: all of them
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 3
readonly kLog=docs/measurements/$(date +%F)-prove-E.log
readonly kBundle=build/prove/E/bundle
mkdir -p docs/measurements build/prove/E

say() { echo "$@" | tee -a "$kLog"; }

say "commit $(git rev-parse --short HEAD), $(nvcc --version 2>/dev/null | tail -n 1)"
if ! (cmake --preset cuda && cmake --build build/cuda) >build/prove/E/build.out 2>&1; then
  say "FAILED build: $(tail -n 20 build/prove/E/build.out)"
  exit 1
fi
tools/dev/bundle_E.sh "$kBundle" >/dev/null && say "PASSED build: the prefix, examples, conformance and benchmarks"
if [ ! -e /dev/nvidiactl ]; then
  say "NOT RUN: no GPU here; take $kBundle to a machine that has one and run its device_E.sh"
  exit 1
fi
OUT=build/prove/E "$kBundle/device_E.sh" "$@"
result=$?
sed 's/^/    /' build/prove/E/device_E.log >>"$kLog"
exit $result
