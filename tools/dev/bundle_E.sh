#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Packs what `./dev build --preset cuda` made into one folder that runs on another machine with a GPU and the same or a
# newer C library: programs, prefix, the libraries they need, and the script that runs them.
#   tools/dev/bundle_E.sh FOLDER
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=${1:?which folder?}
build=build/cuda
rm -rf "$folder"
mkdir -p "$folder"/{examples,conformance,bench,lib,prefix/cuda/bin,prefix/cuda/lib}
cp -L "$build"/prefix/cuda/bin/* "$folder/prefix/cuda/bin/"
cp -L "$build"/prefix/cuda/lib/*.so* "$folder/prefix/cuda/lib/"
for kind in examples conformance bench; do
  find "$build/$kind" -maxdepth 1 -type f -executable -exec cp {} "$folder/$kind/" \;
done
# Where they lie is written into no program: LD_LIBRARY_PATH says it.
for library in libfmt libcudart; do
  path=$(ldd "$build/examples/ring" | awk -v name="$library" 'index($1, name) == 1 { print $3 }')
  cp -L "$path" "$folder/lib/"
done
cp tools/dev/device_E.sh tools/dev/nvshmem_E.sh bench/nvshmem_pingpong.cu "$folder/"
du -sh "$folder"
