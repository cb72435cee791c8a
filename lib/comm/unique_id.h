// SPDX-License-Identifier: Apache-2.0
// The 128 bytes that a program hands from one rank to all others before they know each other: where the rendezvous root
// listens, and the token that proves who may join. The one place that knows their layout.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "anygin/base/status.h"

namespace anygin::comm {

inline constexpr size_t kUniqueIdBytes = 128;
inline constexpr size_t kTokenBytes = 32;

using Token = std::array<unsigned char, kTokenBytes>;

struct UniqueId {
  std::string host;            // IPv4 in dotted form
  uint16_t port = 0;           // of the root's TCP listener, in host order
  bool root_is_rank0 = false;  // NCCL_COMM_ID: rank 0 of the communicator listens; else the maker of the id does
  Token token{};
};

// Layout, little-endian: magic u64 | version u32 | IPv4 address, 4 bytes in network order | port u16 | flags u16 (bit
// 0: root_is_rank0) | 4 bytes of zero | token, 32 bytes | zeros | checksum u64 over all that is before it (FNV-1a, 64
// bits). Fails if `host` is not an IPv4 address.
Status encode_unique_id(const UniqueId& id, char (&out)[kUniqueIdBytes]);
// Fails, saying which check did not hold, on bytes that encode_unique_id did not write.
Result<UniqueId> decode_unique_id(const char (&bytes)[kUniqueIdBytes]);

// "host:port" as in NCCL_COMM_ID. `where` names the variable in errors.
Status parse_host_port(std::string_view text, UniqueId& id);
// 64 hexadecimal digits as in ANYGIN_COMM_TOKEN.
Result<Token> parse_token(std::string_view hex);

}  // namespace anygin::comm
