#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs what the cuda target must show, on a machine with one GPU: everything comes from a bundle that tools/dev/bundle_E.sh
# made. Each step has a time limit; the log goes to $OUT (or the bundle's folder).
#   device_E.sh [steps ...]        probe examples procs conformance bench sanitizer; none: all of them
set -u
here=$(cd "$(dirname "$0")" && pwd)
out=${OUT:-$here}
log=$out/device_E.log
export PATH=$PATH:/usr/local/cuda/bin:/usr/local/nvidia/bin:/usr/local/nvidia/sbin
export LD_LIBRARY_PATH=$here/prefix/cuda/lib:$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
anygin=$here/prefix/cuda/bin/anygin
passed=0 failed=0 skipped=0 failures=()
ends=$((SECONDS + ${DEVICE_E_SECONDS:-500}))  # steps that would begin later are skipped

say() { echo "$@" | tee -a "$log"; }

# step NAME SECONDS COMMAND...: runs it, keeps the output, says how it ended and how long it took.
step() {
  local name=$1 limit=$2 begin=$EPOCHREALTIME code output
  shift 2
  if [ $SECONDS -ge $ends ]; then
    skipped=$((skipped + 1))
    return
  fi
  output=$(timeout -k 2 "$limit" "$@" 2>&1 </dev/null)
  code=$?
  local took
  took=$(awk -v a="$begin" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.2f", b - a }')
  if [ $code -eq 0 ]; then
    passed=$((passed + 1))
    say "ok   $name (${took} s)"
    [ "${quiet:-0}" = 1 ] || say "$output"
  else
    failed=$((failed + 1)) failures+=("$name")
    say "FAIL $name (exit code $code, ${took} s)"
    say "$(echo "$output" | tail -n "${lines:-40}")"
  fi
}

machine() {
  say "date $(date -u +%FT%TZ), kernel $(uname -r), $(nproc) cores, $(grep MemTotal /proc/meminfo)"
  say "$(nvidia-smi 2>&1 | head -n 16)"
  say "mps: $(command -v nvidia-cuda-mps-control || echo none); sanitizer: $(command -v compute-sanitizer || echo none)"
  say "libraries: $(ldd "$here/examples/ring" 2>&1 | grep -E 'not found|cudart|fmt')"
}

probe() { step "probe" 60 "$here/bench/gpu_probe"; }

examples() {
  local ranks
  for ranks in 2 4 8; do
    step "ring, $ranks ranks as threads" 30 "$here/examples/ring" -r $ranks
    step "alltoall, $ranks ranks as threads" 30 "$here/examples/alltoall_gin" -r $ranks
  done
  ANYGIN_DEVICES=8 step "alltoall, 8 ranks as threads on 8 shown devices" 30 "$here/examples/alltoall_gin" -r 8
  ANYGIN_PROFILE=relaxed ANYGIN_DEVICES=8 step "alltoall, 8 ranks, relaxed" 30 "$here/examples/alltoall_gin" -r 8
  ANYGIN_TOPOLOGY=2x4 ANYGIN_DEVICES=8 step "alltoall, 8 ranks, 2 nodes" 30 "$here/examples/alltoall_gin" -r 8
}

procs() {
  local ranks
  for ranks in 2 4 8; do
    step "ring, $ranks ranks as processes" 60 "$anygin" run -n $ranks --timeout 50 -- "$here/examples/ring"
    step "alltoall, $ranks ranks as processes" 60 "$anygin" run -n $ranks --timeout 50 -- "$here/examples/alltoall_gin"
  done
  step "alltoall, 8 ranks as processes, 2 nodes" 60 "$anygin" run -n 8 --nodes 2 --timeout 50 -- "$here/examples/alltoall_gin"
  ANYGIN_HANG_TIMEOUT=2 step "hang, 4 ranks as threads (4 is the right exit code)" 30 bash -c \
    "ANYGIN_DEVICES=8 '$here/examples/hang'; [ \$? -eq 4 ]"
}

conformance() {
  local program case profile quiet=1 lines=12
  export ANYGIN_DEVICES=16
  for profile in inorder relaxed; do
    for program in signals completion values barriers failure; do
      for case in $("$here/conformance/conformance_$program"); do
        ANYGIN_PROFILE=$profile step "$case cuda/proxy/emu/direct/$profile/threads" 10 "$here/conformance/conformance_$program" "$case"
      done
    done
  done
  unset ANYGIN_DEVICES
}

conformance_procs() {
  local program case quiet=1 lines=12 pipes
  pipes=$(mktemp -d)
  export ANYGIN_DEVICES=16 CUDA_MPS_PIPE_DIRECTORY=$pipes CUDA_MPS_LOG_DIRECTORY=$pipes
  nvidia-cuda-mps-control -d </dev/null >/dev/null 2>&1 || say "no MPS here"
  for program in signals completion values barriers failure; do
    for case in $("$here/conformance/conformance_$program"); do
      step "$case cuda/proxy/emu/direct/inorder/procs" 15 "$here/conformance/conformance_$program" --procs "$case"
    done
  done
  echo quit | timeout 10 nvidia-cuda-mps-control >/dev/null 2>&1
  unset ANYGIN_DEVICES CUDA_MPS_PIPE_DIRECTORY CUDA_MPS_LOG_DIRECTORY
}

bench() {
  step "pingpong, threads" 60 "$here/bench/pingpong" -r 2
  step "pingpong, processes" 60 "$anygin" run -n 2 --timeout 50 -- "$here/bench/pingpong"
  step "put bandwidth, threads" 60 "$here/bench/put_bandwidth" -r 2
}

sanitizer() {
  local tool
  for tool in memcheck racecheck; do
    step "$tool, ring" 90 compute-sanitizer --tool $tool --error-exitcode 9 "$here/examples/ring" -r 2
    step "$tool, alltoall" 90 compute-sanitizer --tool $tool --error-exitcode 9 "$here/examples/alltoall_gin" -r 2
  done
}

machine
[ $# -gt 0 ] || set -- probe examples bench procs conformance conformance_procs sanitizer
for part in "$@"; do
  say "--- $part, $SECONDS s"
  "$part"
done
say "passed $passed, failed $failed, skipped for time $skipped"
for name in "${failures[@]}"; do say "  failed: $name"; done
[ $failed -eq 0 ] && [ $skipped -eq 0 ]
