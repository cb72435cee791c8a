#!/usr/bin/env bash
# The whole corpus as others build their programs, from outside this tree, and run on 2, 4 and 8 ranks: by plain Makefiles or by
# CMake's CUDA language. ctest builds it by its Makefile, too, and two programs of it by CMake.
#   tools/dev/corpus.sh make|cmake [FOLDER]     after ./dev build; FOLDER: where to build afresh (build/corpus_by_<how>)
set -euo pipefail
cd "$(dirname "$0")/../.."
readonly kHow=${1:?make or cmake}
readonly kPrefix=$PWD/build/release/prefix kBuild=${2:-$PWD/build/corpus_by_$kHow}

rm -rf "$kBuild"
case $kHow in
  make)
    make -s -C tests/corpus -j "$(nproc)" CUDA_HOME="$kPrefix/cpu" NCCL_HOME="$kPrefix/cpu" MPI_HOME="$kPrefix/mpi" OUT="$kBuild"
    ;;
  cmake)
    cmake -S tests/corpus/project -B "$kBuild" -DCMAKE_CUDA_COMPILER="$kPrefix/cpu/bin/nvcc" -DCMAKE_PREFIX_PATH="$kPrefix/cpu" \
          -DNCCL_HOME="$kPrefix/cpu" -DMPI_CXX_COMPILER="$kPrefix/mpi/bin/mpicxx" -DCMAKE_BUILD_TYPE=Release >/dev/null
    cmake --build "$kBuild" -j "$(nproc)" >/dev/null
    ;;
  *) echo "corpus.sh: '$kHow' is neither make nor cmake" >&2; exit 2 ;;
esac

# command_of NAME SOURCE RANKS: into `command`.
command_of() {
  case $2 in
    */mpi/*) command=("$kPrefix/mpi/bin/mpirun" -n "$3" "$kBuild/$1") ;;
    *) command=("$kBuild/$1" "$3") ;;
  esac
}

passed=0 programs=0 pending=() failed=()
for source in tests/corpus/{mpi,threads}/*.cu; do
  name=$(basename "$source" .cu)
  if grep -q "^| \`$name\` .*| pending" tests/corpus/README.md; then
    pending+=("$name")
    continue
  fi
  programs=$((programs + 1))
  [ -x "$kBuild/$name" ] || { failed+=("$name:not-built"); continue; }
  for ranks in 2 4 8; do
    command_of "$name" "$source" "$ranks"
    if timeout 60 "${command[@]}" >"$kBuild/$name.$ranks.out" 2>&1 && grep -q "$ranks ranks, 0 wrong: PASSED" "$kBuild/$name.$ranks.out"; then
      passed=$((passed + 1))
    else
      failed+=("$name:$ranks")
    fi
  done
done
echo "= corpus by $kHow: $programs programs on 2, 4 and 8 ranks, $passed runs passed; failed: ${failed[*]:-none}"
echo "= pending, neither built nor run: ${pending[*]:-none}"
[ ${#failed[@]} -eq 0 ]
