#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# NVSHMEM's put with signal between two processes on one GPU, for the table of docs/gpu.md. Needs nvcc, MPS and the Python
# package nvidia-nvshmem-cu13 (headers and libraries).
#   nvshmem_E.sh SOURCE_FOLDER    where nvshmem_pingpong.cu lies
set -euo pipefail
source=${1:?which folder?}/nvshmem_pingpong.cu
home=$(python3 -c 'import importlib.util as u; print(list(u.find_spec("nvidia.nvshmem").submodule_search_locations)[0])')
program=$(mktemp -d)/nvshmem_pingpong
echo "NVSHMEM of $home"
nvcc -O2 -std=c++17 -arch=sm_90 -rdc=true -I"$home/include" -o "$program" "$source" -L"$home/lib" \
  -lnvshmem_device -Xlinker "$home/lib/libnvshmem_host.so.3" -Xlinker -rpath -Xlinker "$home/lib"
export LD_LIBRARY_PATH=$home/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export NVSHMEM_REMOTE_TRANSPORT=none NVSHMEM_SYMMETRIC_SIZE=64M NVSHMEM_DISABLE_NVLS=1
timeout 60 "$program"
