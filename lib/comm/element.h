// SPDX-License-Identifier: Apache-2.0
// Element types of host transfers, and how two arrays of them are combined. Values as in nccl.h (checked there).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace anygin::comm {

enum class Element : uint8_t {
  kInt8,
  kUint8,
  kInt32,
  kUint32,
  kInt64,
  kUint64,
  kFloat16,
  kFloat32,
  kFloat64,
  kBfloat16,
  kFloat8e4m3,
  kFloat8e5m2,
  kCount
};
size_t size_of(Element element);
std::string_view name_of(Element element);

enum class ReduceOp : uint8_t { kSum, kProduct, kMax, kMin, kAverage, kCount };
std::string_view name_of(ReduceOp op);

// into[i] = into[i] op from[i], each rounded to the type. kAverage adds: divide() ends it. Integers wrap.
void combine(Element element, ReduceOp op, char* into, const char* from, size_t count);
// values[i] = values[i] / by. Integers round towards zero.
void divide(Element element, char* values, size_t count, int by);
// values[i] = values[i] * *scalar, both of the type.
void multiply(Element element, char* values, size_t count, const char* scalar);

}  // namespace anygin::comm
