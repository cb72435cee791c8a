// SPDX-License-Identifier: Apache-2.0
#include "anygin/comm/element.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <array>
#include <cmath>
#include <cstring>
#include <type_traits>

namespace anygin::comm {
namespace {

struct ElementInfo {
  std::string_view name;
  size_t bytes;
};
constexpr std::array<ElementInfo, static_cast<size_t>(Element::kCount)> kElements{{{"int8", 1},
                                                                                   {"uint8", 1},
                                                                                   {"int32", 4},
                                                                                   {"uint32", 4},
                                                                                   {"int64", 8},
                                                                                   {"uint64", 8},
                                                                                   {"float16", 2},
                                                                                   {"float32", 4},
                                                                                   {"float64", 8},
                                                                                   {"bfloat16", 2},
                                                                                   {"float8e4m3", 1},
                                                                                   {"float8e5m2", 1}}};
constexpr std::array<std::string_view, static_cast<size_t>(ReduceOp::kCount)> kOps{"sum", "prod", "max", "min", "avg"};

// What a type is calculated in: integers without a sign, so that they wrap; small floats as float.
template <typename T>
auto widened(T value) {
  if constexpr (std::is_same_v<T, double>) {
    return value;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<uint64_t>(value);
  } else {
    return static_cast<float>(value);
  }
}

// Of a number and a NaN, the number.
template <typename T>
T max_of(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return a < b ? b : a;
  } else {
    return static_cast<T>(std::fmax(widened(a), widened(b)));
  }
}
template <typename T>
T min_of(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return b < a ? b : a;
  } else {
    return static_cast<T>(std::fmin(widened(a), widened(b)));
  }
}

template <typename T>
T combined(ReduceOp op, T a, T b) {
  switch (op) {
    case ReduceOp::kProduct:
      return static_cast<T>(widened(a) * widened(b));
    case ReduceOp::kMax:
      return max_of(a, b);
    case ReduceOp::kMin:
      return min_of(a, b);
    default:
      return static_cast<T>(widened(a) + widened(b));
  }
}

template <typename T>
T divided(T value, int by) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(value / static_cast<T>(by));
  } else {
    return static_cast<T>(widened(value) / static_cast<decltype(widened(value))>(by));
  }
}

template <typename T>
struct TypeIs {
  using Type = T;
};

// Calls `visit(TypeIs<T>)` with the C++ type of `element`.
template <typename Visit>
void with_type(Element element, const Visit& visit) {
  switch (element) {
    case Element::kInt8:
      return visit(TypeIs<int8_t>());
    case Element::kUint8:
      return visit(TypeIs<uint8_t>());
    case Element::kInt32:
      return visit(TypeIs<int32_t>());
    case Element::kUint32:
      return visit(TypeIs<uint32_t>());
    case Element::kInt64:
      return visit(TypeIs<int64_t>());
    case Element::kUint64:
      return visit(TypeIs<uint64_t>());
    case Element::kFloat16:
      return visit(TypeIs<__half>());
    case Element::kFloat32:
      return visit(TypeIs<float>());
    case Element::kFloat64:
      return visit(TypeIs<double>());
    case Element::kBfloat16:
      return visit(TypeIs<__nv_bfloat16>());
    case Element::kFloat8e4m3:
      return visit(TypeIs<__nv_fp8_e4m3>());
    default:
      return visit(TypeIs<__nv_fp8_e5m2>());
  }
}

// The program's arrays, and those in slots, need not be aligned.
template <typename T>
T load(const char* from, size_t index) {
  T value;
  std::memcpy(&value, from + index * sizeof(T), sizeof(T));
  return value;
}
template <typename T>
void store(char* into, size_t index, T value) {
  std::memcpy(into + index * sizeof(T), &value, sizeof(T));
}

}  // namespace

size_t size_of(Element element) {
  return kElements.at(static_cast<size_t>(element)).bytes;
}

std::string_view name_of(Element element) {
  return kElements.at(static_cast<size_t>(element)).name;
}

std::string_view name_of(ReduceOp op) {
  return kOps.at(static_cast<size_t>(op));
}

void combine(Element element, ReduceOp op, char* into, const char* from, size_t count) {
  with_type(element, [=](auto type) {
    using T = typename decltype(type)::Type;
    for (size_t i = 0; i < count; ++i) store<T>(into, i, combined<T>(op, load<T>(into, i), load<T>(from, i)));
  });
}

void divide(Element element, char* values, size_t count, int by) {
  with_type(element, [=](auto type) {
    using T = typename decltype(type)::Type;
    for (size_t i = 0; i < count; ++i) store<T>(values, i, divided<T>(load<T>(values, i), by));
  });
}

void multiply(Element element, char* values, size_t count, const char* scalar) {
  with_type(element, [=](auto type) {
    using T = typename decltype(type)::Type;
    for (size_t i = 0; i < count; ++i) {
      store<T>(values, i, combined<T>(ReduceOp::kProduct, load<T>(values, i), load<T>(scalar, 0)));
    }
  });
}

}  // namespace anygin::comm
