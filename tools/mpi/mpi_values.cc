// SPDX-License-Identifier: Apache-2.0
#include "mpi_values.h"

#include <cstdint>
#include <functional>
#include <type_traits>

namespace anygin::mpi {
namespace {

// Calls `use` with a null pointer to the C type of `type`; false if there is none.
template <typename Use>
bool with_type(MPI_Datatype type, const Use& use) {
  switch (type) {
    case MPI_BYTE:
    case MPI_UNSIGNED_CHAR:
      return use(static_cast<unsigned char*>(nullptr));
    case MPI_CHAR:
      return use(static_cast<char*>(nullptr));
    case MPI_SIGNED_CHAR:
      return use(static_cast<signed char*>(nullptr));
    case MPI_SHORT:
      return use(static_cast<short*>(nullptr));
    case MPI_UNSIGNED_SHORT:
      return use(static_cast<unsigned short*>(nullptr));
    case MPI_INT:
      return use(static_cast<int*>(nullptr));
    case MPI_UNSIGNED:
      return use(static_cast<unsigned*>(nullptr));
    case MPI_LONG:
      return use(static_cast<long*>(nullptr));
    case MPI_UNSIGNED_LONG:
      return use(static_cast<unsigned long*>(nullptr));
    case MPI_LONG_LONG:
      return use(static_cast<long long*>(nullptr));
    case MPI_UNSIGNED_LONG_LONG:
      return use(static_cast<unsigned long long*>(nullptr));
    case MPI_FLOAT:
      return use(static_cast<float*>(nullptr));
    case MPI_DOUBLE:
      return use(static_cast<double*>(nullptr));
    case MPI_C_BOOL:
      return use(static_cast<bool*>(nullptr));
    default:
      return false;
  }
}

template <typename T, typename Combine>
bool combine_all(T* into, const T* more, size_t count, const Combine& combine) {
  for (size_t i = 0; i < count; ++i) into[i] = static_cast<T>(combine(into[i], more[i]));
  return true;
}

template <typename T>
bool reduce_bits(MPI_Op op, T* into, const T* more, size_t count) {
  if constexpr (std::is_integral_v<T>) {
    if (op == MPI_BAND) return combine_all(into, more, count, [](T a, T b) { return a & b; });
    if (op == MPI_BOR) return combine_all(into, more, count, [](T a, T b) { return a | b; });
    if (op == MPI_LAND) return combine_all(into, more, count, [](T a, T b) { return a && b; });
    if (op == MPI_LOR) return combine_all(into, more, count, [](T a, T b) { return a || b; });
  }
  return false;
}

template <typename T>
bool reduce_values(MPI_Op op, T* into, const T* more, size_t count) {
  switch (op) {
    case MPI_SUM:
      return combine_all(into, more, count, [](T a, T b) { return a + b; });
    case MPI_PROD:
      return combine_all(into, more, count, [](T a, T b) { return a * b; });
    case MPI_MAX:
      return combine_all(into, more, count, [](T a, T b) { return a < b ? b : a; });
    case MPI_MIN:
      return combine_all(into, more, count, [](T a, T b) { return b < a ? b : a; });
    default:
      return reduce_bits(op, into, more, count);
  }
}

}  // namespace

size_t size_of(MPI_Datatype type) {
  size_t bytes = 0;
  with_type(type, [&](auto* pointer) {
    bytes = sizeof *pointer;
    return true;
  });
  return bytes;
}

bool reduce(MPI_Op op, MPI_Datatype type, void* into, const void* more, size_t count) {
  return with_type(type, [&](auto* pointer) {
    using T = std::remove_pointer_t<decltype(pointer)>;
    return reduce_values(op, static_cast<T*>(into), static_cast<const T*>(more), count);
  });
}

}  // namespace anygin::mpi
