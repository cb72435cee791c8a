#!/usr/bin/env bash
# clang-tidy over the .cc files, a file a core; headers of the tree are checked where they are included. Exit 1: findings.
#   tools/dev/lint.sh                    all of lib, backends, tools, sim and bench
#   tools/dev/lint.sh --changed [BASE]   only .cc files that differ from BASE (main), or include a header that does
#   tools/dev/lint.sh FOLDER|FILE...
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 3

readonly kBuild=build/release kOut=build/lint
[ -e $kBuild/compile_commands.json ] || { echo "lint: configure first: cmake --preset release" >&2; exit 3; }

# Sources that changed, and those that changed headers reach, by what the last build saw included.
changed() {
  local base=$1 names
  names=$( (git diff --name-only --diff-filter=d "$base"; git ls-files --others --exclude-standard) | grep -E '\.(cc|h)$' | sort -u)
  grep '\.cc$' <<<"$names"
  local header
  for header in $(grep '\.h$' <<<"$names"); do
    grep -rlF "/${header##*/}\"" --include='*.cc' "${kFolders[@]}"
  done
}

readonly kFolders=(lib backends tools sim bench)
case ${1:-} in
  --changed) files=$(changed "${2:-main}") ;;
  '') files=$(git ls-files 'lib/*.cc' 'backends/*.cc' 'tools/*.cc' 'sim/*.cc' 'bench/*.cc') ;;
  *) files=$(git ls-files "$@" | grep '\.cc$') ;;
esac
files=$(sort -u <<<"$files" | while read -r file; do
  if grep -qF "$PWD/$file\"" $kBuild/compile_commands.json; then echo "$file"; fi
done)
count=$(grep -c . <<<"$files")
[ "$count" -gt 0 ] || { echo "lint: no file to look at"; exit 0; }

rm -rf $kOut && mkdir -p $kOut
export kBuild kOut
# shellcheck disable=SC2016  # expanded by the inner shell
xargs -P "$(nproc)" -n 1 bash -c '
  clang-tidy -p $kBuild --quiet "$0" >"$kOut/${0//\//_}.txt" 2>"$kOut/${0//\//_}.err" ||
    grep -q "error:\|warning:" "$kOut/${0//\//_}.txt" || { echo "$0: warning: clang-tidy failed"; cat "$kOut/${0//\//_}.err"; } >>"$kOut/${0//\//_}.txt"' <<<"$files"

# A finding in a header shows up in every file that includes it: once is enough.
findings=$(cat $kOut/*.txt | grep -E '(warning|error):' | sed "s#$PWD/##" | sort -u)
if [ -z "$findings" ]; then
  echo "lint: $count files, no findings"
  exit 0
fi
echo "$findings"
echo "lint: $(wc -l <<<"$findings") findings in $count files; notes and source lines are in $kOut"
exit 1
