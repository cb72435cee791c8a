#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Packs what `./dev build --preset cuda` and the examples of `./dev build` made into one folder that runs on another machine
# with a GPU and the same or a newer C library: programs, prefixes, the libraries they need, and the scripts that run them.
#   tools/dev/bundle_E.sh FOLDER
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=${1:?which folder?}
build=build/cuda
examples=(ring alltoall_gin heat)  # run on both targets
rm -rf "$folder"
mkdir -p "$folder"/{examples,conformance,bench,lib,prefix/cuda/bin,prefix/cuda/lib} "$folder"/cpu/{examples,prefix/cpu/bin,prefix/cpu/lib}
cp -L "$build"/prefix/cuda/bin/* "$folder/prefix/cuda/bin/"
cp -L "$build"/prefix/cuda/lib/*.so* "$folder/prefix/cuda/lib/"
mkdir -p "$folder/prefix/cuda/share"
cp -r "$build/prefix/cuda/share/anygin" "$folder/prefix/cuda/share/"
for kind in examples conformance bench; do
  find -L "$build/$kind" -maxdepth 1 -type f -executable -exec cp {} "$folder/$kind/" \;
done
cp build/release/prefix/cpu/bin/anygin "$folder/cpu/prefix/cpu/bin/"
cp -L build/release/prefix/cpu/lib/lib{anygin,anygin_sim,cudart,nccl}.so* "$folder/cpu/prefix/cpu/lib/"
cp "${examples[@]/#/build/release/examples/}" "$folder/cpu/examples/"
mkdir "$folder/conformance_short"
for source in tests/conformance/*.cu; do  # with few turns, for tools that make kernels slow
  "$build/prefix/cuda/bin/nvcc" -arch=sm_90 -O2 -std=c++17 -lineinfo -DANYGIN_CONFORMANCE_SHORT "$source" -lnccl \
    -o "$folder/conformance_short/conformance_$(basename "$source" .cu)"
done
# Where they lie is written into no program: LD_LIBRARY_PATH says it.
for library in libfmt libcudart; do
  path=$(ldd "$build/examples/ring" | awk -v name="$library" 'index($1, name) == 1 { print $3 }')
  cp -L "$path" "$folder/lib/"
done
find "$folder" -type f -exec sh -c 'strip --strip-debug "$@" 2>/dev/null || true' strip {} +
cp tools/dev/{device_E,nvshmem_E,same_results_E}.sh bench/nvshmem_pingpong.cu "$folder/"
du -sh "$folder"
