// SPDX-License-Identifier: Apache-2.0
#include "anygin/gpu/near_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace anygin::gpu {
namespace {

constexpr const char* kWhere = "device memory for views";
constexpr size_t kUnit = 256;
constexpr size_t kSlabBytes = size_t{16} << 20;

Status cuda_status(const char* call, cudaError_t error) {
  if (error == cudaSuccess) return Status();
  (void)cudaGetLastError();
  return Status(Cause::kCudaCall, kWhere, fmt::format("{}: {}", call, cudaGetErrorString(error)));
}

int calling_device() {
  int device = 0;
  return cudaGetDevice(&device) == cudaSuccess ? device : 0;
}

}  // namespace

Status NearMemory::add_slab(Pool& pool, size_t bytes) {
  if (pool.stream == nullptr) {
    ANYGIN_TRY(cuda_status("cudaStreamCreate", cudaStreamCreateWithFlags(&pool.stream, cudaStreamNonBlocking)));
  }
  void* slab = nullptr;
  ANYGIN_TRY(cuda_status("cudaMalloc", cudaMalloc(&slab, bytes)));
  pool.free_pieces[static_cast<char*>(slab)] = bytes;
  return Status();
}

Result<char*> NearMemory::allocate(size_t bytes) {
  const size_t whole = (std::max<size_t>(bytes, 1) + kUnit - 1) / kUnit * kUnit;
  const std::lock_guard lock(mutex_);
  Pool& pool = pools_[calling_device()];
  const auto fits = [whole](const auto& piece) { return piece.second >= whole; };
  auto found = std::find_if(pool.free_pieces.begin(), pool.free_pieces.end(), fits);
  if (found == pool.free_pieces.end()) {
    ANYGIN_TRY(add_slab(pool, std::max(kSlabBytes, whole)));
    found = std::find_if(pool.free_pieces.begin(), pool.free_pieces.end(), fits);
  }
  const auto [base, available] = *found;
  pool.free_pieces.erase(found);
  if (available > whole) pool.free_pieces[base + whole] = available - whole;
  pool.used[base] = whole;
  ANYGIN_TRY(cuda_status("cudaMemsetAsync", cudaMemsetAsync(base, 0, whole, pool.stream)));
  ANYGIN_TRY(cuda_status("cudaStreamSynchronize", cudaStreamSynchronize(pool.stream)));
  return base;
}

// Neighbours are joined; that two slabs lie side by side does no harm.
void NearMemory::free(char* piece) {
  const std::lock_guard lock(mutex_);
  for (auto& [device, pool] : pools_) {
    const auto used = pool.used.find(piece);
    if (used == pool.used.end()) continue;
    size_t bytes = used->second;
    pool.used.erase(used);
    auto next = pool.free_pieces.upper_bound(piece);
    if (next != pool.free_pieces.end() && piece + bytes == next->first) {
      bytes += next->second;
      next = pool.free_pieces.erase(next);
    }
    if (next != pool.free_pieces.begin()) {
      const auto previous = std::prev(next);
      if (previous->first + previous->second == piece) {
        previous->second += bytes;
        return;
      }
    }
    pool.free_pieces[piece] = bytes;
    return;
  }
}

Status NearMemory::write(char* to, const void* from, size_t bytes) {
  const std::lock_guard lock(mutex_);
  for (auto& [device, pool] : pools_) {
    const auto after = pool.used.upper_bound(to);
    if (after == pool.used.begin() || to >= std::prev(after)->first + std::prev(after)->second) continue;
    ANYGIN_TRY(cuda_status("cudaMemcpyAsync", cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, pool.stream)));
    return cuda_status("cudaStreamSynchronize", cudaStreamSynchronize(pool.stream));
  }
  return Status(Cause::kProtocol, kWhere, "a write outside any piece");
}

}  // namespace anygin::gpu
