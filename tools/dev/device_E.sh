#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs what the cuda target must show, on a machine with one GPU: everything comes from a bundle that tools/dev/bundle_E.sh
# made. Each step has a time limit; the log goes to $OUT (or the bundle's folder).
#   device_E.sh [PART...]        a function below each; none: all that the proof needs
#   device_E.sh --parts          says which those are
set -u
parts=(probe chains examples bench perf procs same_results conformance conformance_procs sanitizer memcheck_conformance
       racecheck_conformance)
if [ "${1:-}" = --parts ]; then
  echo "${parts[@]}"
  exit
fi
here=$(cd "$(dirname "$0")" && pwd)
out=${OUT:-$here}
log=$out/device_E.log
export PATH=$PATH:/usr/local/cuda/bin:/usr/local/nvidia/bin:/usr/local/nvidia/sbin
export LD_LIBRARY_PATH=$here/prefix/cuda/lib:$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
anygin=$here/prefix/cuda/bin/anygin
ends=$((SECONDS + ${DEVICE_E_SECONDS:-500}))  # steps that would begin later are skipped

say() { echo "$@" | tee -a "$log"; }

stacks_left=3
cases=("$here"/conformance/conformance_*)  # programs of conformance
cases=("${cases[@]##*/conformance_}")
# A process and what it started, the last ones last.
family_of() {
  local child
  echo "$1"
  for child in $(ps -o pid= --ppid "$1"); do family_of "$child"; done
}
# Where the threads of a process that hangs are; of its last descendant, where a tool started it.
stacks_of() {
  [ $stacks_left -gt 0 ] && command -v cuda-gdb >/dev/null || return
  stacks_left=$((stacks_left - 1))
  say "$(timeout -k 2 40 cuda-gdb -p "$(family_of "$1" | tail -n 1)" -batch -ex 'thread apply all bt 14' 2>&1 | grep -E '^(Thread|#)' | cut -c 1-160)"
}

# bounded SECONDS FILE COMMAND...: 124 if it had to be ended; its threads are listed before.
bounded() {
  local limit=$1 file=$2 pid waited=0
  shift 2
  setsid "$@" >"$file" 2>&1 </dev/null &
  pid=$!
  while kill -0 $pid 2>/dev/null; do
    sleep 0.05
    waited=$((waited + 1))
    [ $((waited * 5)) -lt $((limit * 100)) ] && continue
    stacks_of $pid
    kill -9 $(family_of $pid) 2>/dev/null
    wait $pid 2>/dev/null
    return 124
  done
  wait $pid
}

# step NAME SECONDS COMMAND...: runs it, keeps the output, says how it ended and how long it took.
step() {
  local name=$1 limit=$2 begin=$EPOCHREALTIME code output file verdict=FAIL
  shift 2
  if [ $SECONDS -ge "$ends" ]; then
    say "SKIP $name"
    return
  fi
  file=$(mktemp)
  bounded "$limit" "$file" "$@"
  code=$?
  output=$(cat "$file")
  rm -f "$file"
  local took
  took=$(awk -v a="$begin" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.2f", b - a }')
  if [ $code -eq 0 ]; then
    say "ok   $name (${took} s)"
    [ "${quiet:-0}" = 1 ] || say "$output"
  else
    [ $code -ne 124 ] || verdict=${hangs:-FAIL}
    say "$verdict $name (exit code $code, ${took} s)"
    say "$(echo "$output" | tail -n "${lines:-40}")"
  fi
}

# aside WIDTH NAME SECONDS COMMAND...: as step, beside at most WIDTH - 1 others; `wait` for the last.
aside() {
  local width=$1
  shift
  while [ "$(jobs -rp | wc -l)" -ge "$width" ]; do wait -n; done
  (
    whole=$log log=$(mktemp)
    step "$@" >/dev/null
    flock "$whole" tee -a "$whole" <"$log"
    rm -f "$log"
  ) &
}

machine() {
  say "date $(date -u +%FT%TZ), kernel $(uname -r), $(nproc) cores, $(grep MemTotal /proc/meminfo)"
  say "$(nvidia-smi 2>&1 | head -n 16)"
  say "mps: $(command -v nvidia-cuda-mps-control || echo none); sanitizer: $(command -v compute-sanitizer || echo none)"
  say "libraries: $(ldd "$here/examples/ring" 2>&1 | grep -E 'not found|cudart|fmt')"
}

probe() { step "probe" 60 "$here/bench/gpu_probe"; }
# Kernels queued behind one another, three programs at a time: the hardware's own way, then ours.
chains() {
  local round case=P17_a_later_kernel_reuses_an_index quiet=1
  quiet=0 step "chains of kernels on several streams" 100 "$here/bench/gpu_chains"
  export ANYGIN_DEVICES=16 ANYGIN_PROFILE=relaxed
  for round in {1..60}; do aside 3 "$case relaxed/threads, round $round" 25 "$here/conformance/conformance_barriers" $case; done
  wait
  unset ANYGIN_DEVICES ANYGIN_PROFILE
}
blocking() { step "calls that wait for kernels" 60 "$here/bench/gpu_blocking"; }

examples() {
  local ranks
  export ANYGIN_HANG_TIMEOUT=3
  for ranks in 2 4 8; do
    step "ring, $ranks ranks as threads" 12 "$here/examples/ring" -r $ranks
    step "alltoall, $ranks ranks as threads" 12 "$here/examples/alltoall_gin" -r $ranks
    step "overlap, $ranks ranks as threads" 12 "$here/examples/overlap" -r $ranks
    step "moe, $ranks ranks as threads" 12 "$here/examples/moe" -t "$here/prefix/cuda/share/anygin/moe_routing.csv" -r $ranks
    step "alltoall of nodes, $ranks ranks as threads" 12 "$here/examples/alltoall_hybrid" -r $ranks
  done
  ANYGIN_TOPOLOGY=2x4 ANYGIN_DEVICES=8 step "alltoall of nodes, 8 ranks, 2 nodes" 12 "$here/examples/alltoall_hybrid" -r 8
  ANYGIN_DEVICES=8 step "alltoall, 8 ranks as threads on 8 shown devices" 12 "$here/examples/alltoall_gin" -r 8
  ANYGIN_PROFILE=relaxed ANYGIN_DEVICES=8 step "alltoall, 8 ranks, relaxed" 12 "$here/examples/alltoall_gin" -r 8
  ANYGIN_TOPOLOGY=2x4 ANYGIN_DEVICES=8 step "alltoall, 8 ranks, 2 nodes" 12 "$here/examples/alltoall_gin" -r 8
}

mps_start() {
  local folder
  folder=$(mktemp -d)
  export CUDA_MPS_PIPE_DIRECTORY=$folder CUDA_MPS_LOG_DIRECTORY=$folder CUDA_DEVICE_MAX_CONNECTIONS=2
  nvidia-cuda-mps-control -d </dev/null >/dev/null 2>&1 || say "no MPS here"
}
mps_end() {
  echo quit | timeout 10 nvidia-cuda-mps-control >/dev/null 2>&1
  say "$(tail -n "${1:-0}" "$CUDA_MPS_LOG_DIRECTORY"/*.log 2>&1)"
  unset CUDA_MPS_PIPE_DIRECTORY CUDA_MPS_LOG_DIRECTORY CUDA_DEVICE_MAX_CONNECTIONS
}

# Processes with the MPS daemon's log shown; `procs` leaves the daemon to anygin run.
procs_logged() {
  local ranks
  say "shm: $(df -h /dev/shm | tail -n 1); limits: $(ulimit -l -n -u | tr -s ' ' | tr '\n' ';')"
  mps_start
  for ranks in 2 4 8; do
    step "alltoall, $ranks ranks as processes, own MPS" 30 "$anygin" run -n $ranks --timeout 25 -- "$here/examples/alltoall_gin"
  done
  mps_end 30
}

procs() {
  local ranks
  for ranks in 2 4 8; do
    step "ring, $ranks ranks as processes" 60 "$anygin" run -n $ranks --timeout 50 -- "$here/examples/ring"
    step "alltoall, $ranks processes x 16 blocks x 512 threads" 60 "$anygin" run -n $ranks --timeout 50 -- "$here/examples/alltoall_gin"
  done
  step "alltoall, 8 ranks as processes, 2 nodes" 60 "$anygin" run -n 8 --nodes 2 --timeout 50 -- "$here/examples/alltoall_gin"
  ANYGIN_HANG_TIMEOUT=2 step "hang, 4 ranks as threads (4 is the right exit code)" 30 bash -c \
    "ANYGIN_DEVICES=8 '$here/examples/hang'; [ \$? -eq 4 ]"
}

# conformance_on PLACEMENT PROFILE: some cases at a time, as they mostly start up.
conformance_on() {
  local program case quiet=1 lines=12 options=()
  export ANYGIN_DEVICES=16 ANYGIN_PROFILE=$2
  [ "$1" = threads ] || options=(--procs)
  for program in "${cases[@]}"; do
    for case in $("$here/conformance/conformance_$program"); do
      aside 3 "$case cuda/proxy/emu/direct/$2/$1" 25 "$here/conformance/conformance_$program" "${options[@]}" "$case"
    done
  done
  wait
  unset ANYGIN_DEVICES ANYGIN_PROFILE
}
conformance() {
  conformance_on threads inorder
  conformance_on threads relaxed
}
conformance_procs() {
  mps_start
  conformance_on procs inorder
  conformance_on procs relaxed
  mps_end
}
conformance_procs_relaxed() {
  mps_start
  conformance_on procs relaxed
  mps_end
}

bench() {
  step "pingpong, threads" 60 "$here/bench/pingpong" -r 2
  step "pingpong, processes" 60 "$anygin" run -n 2 --timeout 50 -- "$here/bench/pingpong"
  step "put bandwidth, threads" 60 "$here/bench/put_bandwidth" -r 2
}

# The tool's own table, with NVSHMEM's figure beside it.
perf() {
  step "anygin perf, threads" 100 "$anygin" perf
  step "anygin perf, all tests" 100 "$anygin" perf all --max 1048576 --turns 500
  step "anygin perf, processes" 100 "$anygin" perf --procs
  nvshmem
}

same_results() { step "CPU and GPU give the same results" 200 "$here/same_results_E.sh" "$here/cpu" "$here"; }

nvshmem() {
  mps_start
  step "NVSHMEM's put with signal, two processes" 200 "$here/nvshmem_E.sh" "$here"
  mps_end 5
}

# Errors of kernels only: that an API call is refused is what some cases ask for.
checked=(compute-sanitizer --report-api-errors no --error-exitcode 9)
sanitizer() {
  local tool program
  for tool in memcheck racecheck; do
    for program in ring alltoall_gin heat; do
      step "$tool, $program" 90 "${checked[@]}" --tool $tool "$here/examples/$program" -r 2
    done
  done
}
# The conformance suite with few turns, ranks as threads, some cases at a time. compute-sanitizer sometimes waits, within a
# launch or synchronization of one rank, for a kernel that waits for another rank, with locks that the other needs: what
# hangs is done again with ranks as processes.
checked_conformance() {
  local tool=$1 program case quiet=1 lines=30 hangs=HUNG stacks_left=0
  export ANYGIN_DEVICES=16
  for program in "${cases[@]}"; do
    for case in $("$here/conformance_short/conformance_$program"); do
      aside 6 "$tool, $case" 20 "${checked[@]}" --tool "$tool" "$here/conformance_short/conformance_$program" "$case"
    done
  done
  wait
  hangs=FAIL
  for case in $(sed -n "s/^HUNG $tool, \([^ ]*\) .*/\1/p" "$log"); do checked_as_processes "$tool" "$case"; done
  wait
  unset ANYGIN_DEVICES
}
checked_as_processes() {  # TOOL CASE
  local program
  for program in "${cases[@]}"; do
    "$here/conformance_short/conformance_$program" | grep -qx "$2" || continue
    aside 2 "$1, $2" 60 "${checked[@]}" --target-processes all --tool "$1" "$here/conformance_short/conformance_$program" --procs "$2"
  done
}
memcheck_conformance() { checked_conformance memcheck; }
racecheck_conformance() { checked_conformance racecheck; }
# AGAIN="TOOL:CASE ...": those that hung in an earlier run.
again() {
  local one quiet=1 lines=30
  export ANYGIN_DEVICES=16
  for one in ${AGAIN:-}; do checked_as_processes "${one%%:*}" "${one#*:}"; done
  wait
  unset ANYGIN_DEVICES
}

machine
[ $# -gt 0 ] || set -- "${parts[@]}"
for part in "$@"; do
  say "--- $part, $SECONDS s"
  "$part"
done
count() { grep -c "^$1 " "$log"; }
say "passed $(count ok), failed $(count FAIL), skipped for time $(count SKIP), $SECONDS s"
grep "^FAIL " "$log" | sed 's/^FAIL/  failed:/' | tee -a "$log"
[ "$(count FAIL)" -eq 0 ] && [ "$(count SKIP)" -eq 0 ]
