// SPDX-License-Identifier: Apache-2.0
#include "anygin/comm/unique_id.h"

#include <fmt/format.h>

#include <charconv>
#include <cstring>

namespace anygin::comm {
namespace {

constexpr uint64_t kMagic = 0x4449554e49475941;  // "AYGINUID"
constexpr uint32_t kVersion = 1;

struct Layout {
  uint64_t magic;
  uint32_t version;
  unsigned char address[4];
  uint16_t port;
  uint16_t flags;
  uint32_t zero;
  unsigned char token[kTokenBytes];
  unsigned char zeros[64];
  uint64_t checksum;
};
static_assert(sizeof(Layout) == kUniqueIdBytes);
static_assert(offsetof(Layout, token) == 24 && offsetof(Layout, checksum) == 120);

uint64_t checksum_of(const Layout& layout) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(&layout);
  uint64_t hash = 0xcbf29ce484222325;
  for (size_t i = 0; i < offsetof(Layout, checksum); ++i) hash = (hash ^ bytes[i]) * 0x100000001b3;
  return hash;
}

bool parse_ipv4(std::string_view text, unsigned char (&out)[4]) {
  const char* at = text.data();
  const char* end = at + text.size();
  for (int i = 0; i < 4; ++i) {
    if (i > 0 && (at == end || *at++ != '.')) return false;
    const auto [next, error] = std::from_chars(at, end, out[i]);
    if (error != std::errc{}) return false;
    at = next;
  }
  return at == end;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

Status encode_unique_id(const UniqueId& id, char (&out)[kUniqueIdBytes]) {
  Layout layout{};
  layout.magic = kMagic;
  layout.version = kVersion;
  if (!parse_ipv4(id.host, layout.address)) {
    return Status(Cause::kAddressInvalid, "unique id", fmt::format("\"{}\" is not an IPv4 address", id.host));
  }
  layout.port = id.port;
  layout.flags = id.root_is_rank0 ? 1 : 0;
  std::memcpy(layout.token, id.token.data(), kTokenBytes);
  layout.checksum = checksum_of(layout);
  std::memcpy(out, &layout, sizeof(layout));
  return Status();
}

Result<UniqueId> decode_unique_id(const char (&bytes)[kUniqueIdBytes]) {
  Layout layout;
  std::memcpy(&layout, bytes, sizeof(layout));
  const auto bad = [](std::string text) { return Status(Cause::kUniqueIdInvalid, "unique id", std::move(text)); };
  if (layout.magic != kMagic) return bad("these are not bytes that ncclGetUniqueId of this library wrote");
  if (layout.version != kVersion) {
    return bad(fmt::format("written by version {} of the layout, this library reads {}", layout.version, kVersion));
  }
  if (layout.checksum != checksum_of(layout)) return bad("the bytes were changed on their way (checksum)");
  UniqueId id;
  id.host = fmt::format("{}.{}.{}.{}", layout.address[0], layout.address[1], layout.address[2], layout.address[3]);
  id.port = layout.port;
  id.root_is_rank0 = (layout.flags & 1) != 0;
  std::memcpy(id.token.data(), layout.token, kTokenBytes);
  return id;
}

Status parse_host_port(std::string_view text, UniqueId& id) {
  const auto bad = [&] {
    return Status(
        Cause::kAddressInvalid, "NCCL_COMM_ID",
        fmt::format("\"{}\" is not host:port with an IPv4 address (or localhost) and a port of 1 to 65535", text));
  };
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return bad();
  std::string host(text.substr(0, colon));
  if (host == "localhost") host = "127.0.0.1";
  unsigned char address[4];
  if (!parse_ipv4(host, address)) return bad();
  const std::string_view digits = text.substr(colon + 1);
  uint16_t port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (error != std::errc{} || end != digits.data() + digits.size() || port == 0) return bad();
  id.host = std::move(host);
  id.port = port;
  return Status();
}

Result<Token> parse_token(std::string_view hex) {
  Token token{};
  bool good = hex.size() == 2 * kTokenBytes;
  for (size_t i = 0; good && i < kTokenBytes; ++i) {
    const int high = hex_digit(hex[2 * i]);
    const int low = hex_digit(hex[2 * i + 1]);
    good = high >= 0 && low >= 0;
    token[i] = static_cast<unsigned char>(high * 16 + low);
  }
  if (good) return token;
  return Status(Cause::kTokenInvalid, "ANYGIN_COMM_TOKEN",
                fmt::format("{} characters given; {} hexadecimal digits would be right", hex.size(), 2 * kTokenBytes));
}

}  // namespace anygin::comm
