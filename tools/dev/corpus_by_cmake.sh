#!/usr/bin/env bash
# The whole corpus by CMake's CUDA language, from outside this tree, on 2, 4 and 8 ranks; ctest builds two programs of it so.
#   tools/dev/corpus_by_cmake.sh [FOLDER]     after ./dev build; FOLDER: where to build (build/corpus_by_cmake)
set -euo pipefail
cd "$(dirname "$0")/../.."
readonly kPrefix=$PWD/build/release/prefix kBuild=${1:-$PWD/build/corpus_by_cmake}

cmake -S tests/corpus/project -B "$kBuild" -DCMAKE_CUDA_COMPILER="$kPrefix/cpu/bin/nvcc" -DCMAKE_PREFIX_PATH="$kPrefix/cpu" \
      -DNCCL_HOME="$kPrefix/cpu" -DMPI_CXX_COMPILER="$kPrefix/mpi/bin/mpicxx" -DCMAKE_BUILD_TYPE=Release >/dev/null
cmake --build "$kBuild" -j "$(nproc)" >/dev/null

passed=0 failed=()
for source in tests/corpus/{mpi,threads}/*.cu; do
  name=$(basename "$source" .cu)
  [ -x "$kBuild/$name" ] || { grep -q "^| \`$name\` .*| pending" tests/corpus/README.md || failed+=("$name:not-built"); continue; }
  for ranks in 2 4 8; do
    case $source in
      */mpi/*) command=("$kPrefix/mpi/bin/mpirun" -n "$ranks" "$kBuild/$name") ;;
      *) command=("$kBuild/$name" "$ranks") ;;
    esac
    if timeout 60 "${command[@]}" 2>&1 | grep -q "$ranks ranks, 0 wrong: PASSED"; then
      passed=$((passed + 1))
    else
      failed+=("$name:$ranks")
    fi
  done
done
echo "= corpus by CMake: $passed runs passed; failed: ${failed[*]:-none}"
[ ${#failed[@]} -eq 0 ]
