// SPDX-License-Identifier: Apache-2.0
// SHA-256 (FIPS 180-4) and HMAC-SHA-256 (RFC 2104), for the proof of the communicator's token.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace anygin {

using Digest = std::array<uint8_t, 32>;

class Sha256 {
 public:
  Sha256();
  void update(std::string_view bytes);
  // Once, at the end.
  Digest finish();

 private:
  static constexpr size_t kBlock = 64;

  void compress(const uint8_t* block);

  std::array<uint32_t, 8> state_;
  std::array<uint8_t, kBlock> pending_{};
  uint64_t length_ = 0;  // bytes so far
};

Digest sha256(std::string_view bytes);
Digest hmac_sha256(std::string_view key, std::string_view message);

// Takes as long for equal as for different inputs. False if the lengths differ.
bool equal_in_constant_time(std::string_view a, std::string_view b);

}  // namespace anygin
