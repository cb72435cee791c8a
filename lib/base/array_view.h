// SPDX-License-Identifier: Apache-2.0
// std::span for headers that are C++17: a pointer and a length, owned by somebody else.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

namespace anygin {

// Anything with data() and size() converts: std::vector, std::array, std::span, another view. T may be const.
template <typename T>
class ArrayView {
 public:
  constexpr ArrayView() = default;
  constexpr ArrayView(T* data, size_t size) : data_(data), size_(size) {}
  template <size_t N>
  constexpr ArrayView(T (&array)[N]) : data_(array), size_(N) {}
  template <typename Container,
            typename = std::enable_if_t<std::is_convertible_v<decltype(std::declval<Container&>().data()), T*>>>
  constexpr ArrayView(Container&& container) : data_(container.data()), size_(container.size()) {}

  constexpr T* data() const { return data_; }
  constexpr size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr T& operator[](size_t i) const { return data_[i]; }
  constexpr T* begin() const { return data_; }
  constexpr T* end() const { return data_ + size_; }

 private:
  T* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace anygin
