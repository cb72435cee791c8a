// SPDX-License-Identifier: Apache-2.0
// CUDA's table of vector types: a kernel's parameters and a struct in device memory depend on every number.
#include <gtest/gtest.h>

#include <type_traits>

#include "cuda_runtime.h"

namespace {

struct Layout {
  const char* name;
  size_t size, alignment, wanted_size, wanted_alignment;
};
#define LAYOUT(type, size, alignment)                   \
  Layout {                                              \
#type, sizeof(type), alignof(type), size, alignment \
  }

constexpr Layout kTable[] = {
    LAYOUT(char1, 1, 1),
    LAYOUT(char2, 2, 2),
    LAYOUT(char3, 3, 1),
    LAYOUT(char4, 4, 4),
    LAYOUT(uchar1, 1, 1),
    LAYOUT(uchar2, 2, 2),
    LAYOUT(uchar3, 3, 1),
    LAYOUT(uchar4, 4, 4),
    LAYOUT(short1, 2, 2),
    LAYOUT(short2, 4, 4),
    LAYOUT(short3, 6, 2),
    LAYOUT(short4, 8, 8),
    LAYOUT(ushort1, 2, 2),
    LAYOUT(ushort2, 4, 4),
    LAYOUT(ushort3, 6, 2),
    LAYOUT(ushort4, 8, 8),
    LAYOUT(int1, 4, 4),
    LAYOUT(int2, 8, 8),
    LAYOUT(int3, 12, 4),
    LAYOUT(int4, 16, 16),
    LAYOUT(uint1, 4, 4),
    LAYOUT(uint2, 8, 8),
    LAYOUT(uint3, 12, 4),
    LAYOUT(uint4, 16, 16),
    LAYOUT(long1, 8, 8),
    LAYOUT(long2, 16, 16),
    LAYOUT(long3, 24, 8),
    LAYOUT(long4, 32, 16),
    LAYOUT(ulong1, 8, 8),
    LAYOUT(ulong2, 16, 16),
    LAYOUT(ulong3, 24, 8),
    LAYOUT(ulong4, 32, 16),
    LAYOUT(longlong1, 8, 8),
    LAYOUT(longlong2, 16, 16),
    LAYOUT(longlong3, 24, 8),
    LAYOUT(longlong4, 32, 16),
    LAYOUT(ulonglong1, 8, 8),
    LAYOUT(ulonglong2, 16, 16),
    LAYOUT(ulonglong3, 24, 8),
    LAYOUT(ulonglong4, 32, 16),
    LAYOUT(float1, 4, 4),
    LAYOUT(float2, 8, 8),
    LAYOUT(float3, 12, 4),
    LAYOUT(float4, 16, 16),
    LAYOUT(double1, 8, 8),
    LAYOUT(double2, 16, 16),
    LAYOUT(double3, 24, 8),
    LAYOUT(double4, 32, 16),
    LAYOUT(double4_16a, 32, 16),
    LAYOUT(double4_32a, 32, 32),
    LAYOUT(long4_32a, 32, 32),
    LAYOUT(dim3, 12, 4),
    LAYOUT(cudaLaunchAttribute, 72, 8),
    LAYOUT(cudaLaunchConfig_t, 56, 8),
    LAYOUT(cudaPointerAttributes, 88, 8),
};

TEST(VectorTypes, SizesAndAlignmentsAreCudas) {
  for (const Layout& row : kTable) {
    EXPECT_EQ(row.size, row.wanted_size) << row.name;
    EXPECT_EQ(row.alignment, row.wanted_alignment) << row.name;
  }
}

TEST(VectorTypes, MembersLieInOrder) {
  const float4 v = make_float4(1, 2, 3, 4);
  const auto* words = reinterpret_cast<const float*>(&v);
  EXPECT_EQ(words[0], 1.0f);
  EXPECT_EQ(words[1], 2.0f);
  EXPECT_EQ(words[2], 3.0f);
  EXPECT_EQ(words[3], 4.0f);
  const uchar3 c = make_uchar3(7, 8, 9);
  EXPECT_EQ(c.x * 100 + c.y * 10 + c.z, 789);
  const ulonglong2 u = make_ulonglong2(~0ull, 1);
  EXPECT_EQ(u.x, ~0ull);
  EXPECT_EQ(u.y, 1u);
}

TEST(VectorTypes, MissingExtentsAreOne) {
  const dim3 size(5);
  EXPECT_EQ(size.x, 5u);
  EXPECT_EQ(size.y, 1u);
  EXPECT_EQ(size.z, 1u);
  const uint3 as_vector = dim3(2, 3, 4);
  EXPECT_EQ(as_vector.z, 4u);
  EXPECT_EQ(dim3(as_vector).y, 3u);
}

// What kernels take by value is copied byte by byte.
static_assert(std::is_trivially_copyable_v<dim3> && std::is_trivially_copyable_v<int4>);

}  // namespace
