// SPDX-License-Identifier: Apache-2.0
// Memory of the driver API's kind, for tests: pieces mapped side by side.
#pragma once

#include <gtest/gtest.h>

#include "anygin/simt/virtual_memory.h"

namespace anygin::comm {

inline constexpr size_t kPiece = simt::VirtualMemory::kGranularity;

// Two pieces of memory, one of device `rank`, one of the host's NUMA node 0 unless said otherwise, mapped side by side.
class MappedMemory {
 public:
  explicit MappedMemory(int rank, simt::MemoryOwner second = {true, true, 0}) {
    EXPECT_EQ(simt::virtual_memory().reserve(3 * kPiece, 0, &base), 0);
    EXPECT_EQ(simt::virtual_memory().create(kPiece, {false, false, rank}, true, &device), 0);
    EXPECT_EQ(simt::virtual_memory().create(kPiece, second, true, &host), 0);
    EXPECT_EQ(simt::virtual_memory().map(base, kPiece, device), 0);
    EXPECT_EQ(simt::virtual_memory().map(base + kPiece, kPiece, host), 0);
    EXPECT_EQ(simt::virtual_memory().set_access(base, 2 * kPiece, true, true), 0);
  }
  ~MappedMemory() {
    EXPECT_EQ(simt::virtual_memory().unmap(base, 2 * kPiece), 0);
    EXPECT_EQ(simt::virtual_memory().release(device), 0);
    EXPECT_EQ(simt::virtual_memory().release(host), 0);
    EXPECT_EQ(simt::virtual_memory().unreserve(base, 3 * kPiece), 0);
  }
  char* base = nullptr;
  simt::MemoryHandle device = 0, host = 0;
};

}  // namespace anygin::comm
