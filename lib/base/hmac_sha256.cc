// SPDX-License-Identifier: Apache-2.0
#include "anygin/base/hmac_sha256.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace anygin {
namespace {

// First 32 bits of the fractional parts of the cube roots of the first 64 primes (FIPS 180-4, 4.2.2).
constexpr uint32_t kRound[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

uint32_t rotate(uint32_t x, int n) {
  return (x >> n) | (x << (32 - n));
}

uint32_t load_big_endian(const uint8_t* at) {
  return uint32_t{at[0]} << 24 | uint32_t{at[1]} << 16 | uint32_t{at[2]} << 8 | uint32_t{at[3]};
}

void store_big_endian(uint8_t* at, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) at[i] = static_cast<uint8_t>(value >> (8 * (bytes - 1 - i)));
}

std::string_view view(const uint8_t* bytes, size_t count) {
  return {reinterpret_cast<const char*>(bytes), count};
}

}  // namespace

// Square roots of the first 8 primes, likewise (5.3.3).
Sha256::Sha256()
    : state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19} {}

void Sha256::compress(const uint8_t* block) {
  uint32_t w[64];
  for (int t = 0; t < 16; ++t) w[t] = load_big_endian(block + 4 * t);
  for (int t = 16; t < 64; ++t) {
    const uint32_t s0 = rotate(w[t - 15], 7) ^ rotate(w[t - 15], 18) ^ (w[t - 15] >> 3);
    const uint32_t s1 = rotate(w[t - 2], 17) ^ rotate(w[t - 2], 19) ^ (w[t - 2] >> 10);
    w[t] = s1 + w[t - 7] + s0 + w[t - 16];
  }
  auto [a, b, c, d, e, f, g, h] = state_;
  for (int t = 0; t < 64; ++t) {
    const uint32_t choose = (e & f) ^ (~e & g);
    const uint32_t majority = (a & b) ^ (a & c) ^ (b & c);
    const uint32_t t1 = h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + choose + kRound[t] + w[t];
    const uint32_t t2 = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + majority;
    h = g;
    g = f;
    f = e;
    e = d + t1;
    d = c;
    c = b;
    b = a;
    a = t1 + t2;
  }
  const std::array<uint32_t, 8> add{a, b, c, d, e, f, g, h};
  for (size_t i = 0; i < add.size(); ++i) state_[i] += add[i];
}

void Sha256::update(std::string_view bytes) {
  while (!bytes.empty()) {
    const size_t filled = length_ % kBlock;
    const size_t taken = std::min(bytes.size(), kBlock - filled);
    std::memcpy(pending_.data() + filled, bytes.data(), taken);
    length_ += taken;
    bytes.remove_prefix(taken);
    if (length_ % kBlock == 0) compress(pending_.data());
  }
}

Digest Sha256::finish() {
  constexpr size_t kLengthAt = kBlock - 8;
  const uint64_t bits = length_ * 8;
  update(std::string_view("\x80", 1));
  const size_t filled = length_ % kBlock;
  const size_t zeros = (kLengthAt + kBlock - filled) % kBlock;
  update(std::string(zeros, '\0'));
  uint8_t length[8];
  store_big_endian(length, bits, 8);
  update(view(length, sizeof(length)));
  Digest digest;
  for (size_t i = 0; i < state_.size(); ++i) store_big_endian(digest.data() + 4 * i, state_[i], 4);
  return digest;
}

Digest sha256(std::string_view bytes) {
  Sha256 hash;
  hash.update(bytes);
  return hash.finish();
}

Digest hmac_sha256(std::string_view key, std::string_view message) {
  constexpr size_t kBlock = 64;
  std::array<char, kBlock> inner{};
  if (key.size() > kBlock) {
    const Digest short_key = sha256(key);
    std::memcpy(inner.data(), short_key.data(), short_key.size());
  } else {
    std::memcpy(inner.data(), key.data(), key.size());
  }
  std::array<char, kBlock> outer = inner;
  for (char& c : inner) c = static_cast<char>(c ^ 0x36);
  for (char& c : outer) c = static_cast<char>(c ^ 0x5c);
  Sha256 inside;
  inside.update({inner.data(), inner.size()});
  inside.update(message);
  const Digest inside_digest = inside.finish();
  Sha256 outside;
  outside.update({outer.data(), outer.size()});
  outside.update(view(inside_digest.data(), inside_digest.size()));
  return outside.finish();
}

bool equal_in_constant_time(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  volatile unsigned char difference = 0;
  for (size_t i = 0; i < a.size(); ++i) difference = static_cast<unsigned char>(difference | (a[i] ^ b[i]));
  return difference == 0;
}

}  // namespace anygin
