# What the tools/dev/prove_<ISSUE>.sh share, but for E's, whose steps may run on another machine; sourced by it at the root of the tree, with kIssue set. Each step runs once a
# commit: what passed is remembered in build/prove/<issue>/<commit> until --fresh, with the whole output of each step. The log
# in docs/measurements/ is what the documents quote: of a step that passed its own summary, of one that failed what failed.
#   begin_proof "$@"      after the functions; the arguments are [--fresh] [STEP...], or --part FUNCTION [ARG...]
#   step NAME SECONDS COMMAND...      for a function of the script: step NAME SECONDS "${kPart[@]}" FUNCTION [ARG...]
#   end_proof

commit=$(git rev-parse --short HEAD)
readonly commit kState=build/prove/$kIssue/$commit
readonly kLog=docs/measurements/$(date +%F)-prove-$kIssue.log
readonly kTests=$PWD/build/release kPrefix=$PWD/build/release/prefix
readonly kRun=build/release/prefix/cpu/bin/anygin kExamples=build/release/examples
readonly kPart=("tools/dev/prove_$kIssue.sh" --part)  # timeout runs programs, not functions: the script again
failed=()
wanted=()

say() { echo "$@" | tee -a "$kLog"; }
kept() { sed 's/^/    /' | tee -a "$kLog"; }

# why FILE: what a failed step said of its failure; ctest prints a test's own output before it says that it failed.
why() {
  echo "what failed (all of it: $1):"
  grep -aE '(\*\*\*|FAILED|Failure|NOT MET|NOT MEASURED|[Ee]rror:|MISSED|dev: )' "$1" | sort -u | head -n 40
  echo "its last lines:"
  tail -n 60 "$1"
}

# step NAME SECONDS COMMAND...: runs it bounded. Where the output has lines "= ...", they are its summary.
step() {
  local name=$1 seconds=$2 begin=$SECONDS result
  shift 2
  [ ${#wanted[@]} -eq 0 ] || [[ " ${wanted[*]} " == *" $name "* ]] || return 0
  if [ -e "$kState/$name.done" ]; then
    say "PASSED $name before, at this commit"
    return 0
  fi
  timeout "$seconds" "$@" >"$kState/$name.out" 2>&1
  result=$?
  if [ $result -eq 0 ]; then
    touch "$kState/$name.done"
    say "PASSED $name ($((SECONDS - begin)) s): $*"
    if grep -q '^= ' "$kState/$name.out"; then grep '^= ' "$kState/$name.out"; else tail -n 8 "$kState/$name.out"; fi | kept
    return 0
  fi
  failed+=("$name")
  [ $result -ne 124 ] || result="$result: not done after $seconds s"
  say "FAILED $name ($((SECONDS - begin)) s, exit $result): $*"
  why "$kState/$name.out" | kept
}

# tests_pass WHAT PATTERN: at least one test of the build `tests_in` matches, and all that do pass.
tests_in=$kTests
tests_pass() {
  local listed
  listed=$(ctest --test-dir "$tests_in" -N -R "$2" | sed -n 's/^Total Tests: //p')
  [ "$listed" -gt 0 ] || { echo "FAILED: $1: no test matches $2 any more"; return 1; }
  ctest --test-dir "$tests_in" -R "$2" -j "$(nproc)" --output-on-failure >"$kState/tests.out" 2>&1 || { cat "$kState/tests.out"; return 1; }
  ! grep -q '^The following tests did not run' "$kState/tests.out" || { echo "FAILED: $1: not all ran"; cat "$kState/tests.out"; return 1; }
  echo "= $1: $listed tests passed ($2)"
}

# within WHAT SECONDS BAR
within() {
  local verdict=met
  [ "$2" -le "$3" ] || verdict=MISSED
  echo "= $1: $2 s, bar <= $3 s, $verdict"
  [ $verdict = met ]
}

# Busy share of all cores over two seconds, in percent.
busy() {
  local user nice system idle iowait rest before_idle before_all all
  read -r _ user nice system idle iowait rest </proc/stat
  before_idle=$((idle + iowait)) before_all=$((user + nice + system + idle + iowait))
  sleep 2
  read -r _ user nice system idle iowait rest </proc/stat
  all=$((user + nice + system + idle + iowait - before_all))
  echo $((all > 0 ? 100 - 100 * (idle + iowait - before_idle) / all : 0))
}

# Waits until the machine has been at rest for three samples; after QUIET_SECONDS, 300 unless set, it measures all the same and
# says so.
quiet_machine() {
  local begin=$SECONDS still=0 share
  while [ $still -lt 3 ]; do
    share=$(busy)
    [ "$share" -le 5 ] && still=$((still + 1)) || still=0
    if [ $((SECONDS - begin)) -gt "${QUIET_SECONDS:-300}" ]; then
      echo "= NOT QUIET: $share % busy after $((SECONDS - begin)) s; measured all the same"
      return 0
    fi
  done
  echo "= quiet: $share % busy; waited $((SECONDS - begin)) s"
}

begin_proof() {
  if [ "${1:-}" = --fresh ]; then
    rm -rf "$kState" "$kLog"
    shift
  fi
  mkdir -p "$kState" docs/measurements
  if [ "${1:-}" = --part ]; then
    "${@:2}"
    exit
  fi
  wanted=("$@")
  local dirty
  dirty=$(git status --porcelain --untracked-files=no | wc -l)
  say "# ./dev prove $kIssue, $(date '+%F %H:%M'), $(nproc) cores, $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1), commit $commit"
  [ "$dirty" -eq 0 ] || say "# NOT the commit alone: $dirty files are changed"
}

end_proof() {
  if [ ${#failed[@]} -eq 0 ]; then
    say "$kIssue: every step passed"
  else
    say "$kIssue: not yet; failed: ${failed[*]}"
    exit 1
  fi
}
