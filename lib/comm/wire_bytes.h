// SPDX-License-Identifier: Apache-2.0
// Bytes of control messages: numbers in host order (one machine architecture a job), strings with their length before.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace anygin::comm {

class ByteWriter {
 public:
  template <typename T>
  ByteWriter& number(T value) {
    static_assert(std::is_integral_v<T> || std::is_enum_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
    return *this;
  }
  ByteWriter& text(std::string_view value) {
    number(static_cast<uint32_t>(value.size()));
    bytes_.append(value);
    return *this;
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// Reading past the end gives zeros and empty strings, and ok() turns false: checked once, at the end.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  template <typename T>
  T number() {
    static_assert(std::is_integral_v<T> || std::is_enum_v<T>);
    T value{};
    if (rest_.size() < sizeof(T)) {
      ok_ = false;
      return value;
    }
    __builtin_memcpy(&value, rest_.data(), sizeof(T));
    rest_.remove_prefix(sizeof(T));
    return value;
  }
  std::string text() {
    const auto size = number<uint32_t>();
    if (rest_.size() < size) {
      ok_ = false;
      return {};
    }
    std::string value(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return value;
  }
  bool ok() const { return ok_; }
  bool at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace anygin::comm
