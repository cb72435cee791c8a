// SPDX-License-Identifier: Apache-2.0
// How the host halves of one communicator's ranks talk while they set up (docs/decisions/0010). lib/comm has the real
// one, tests one in-process.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "anygin/base/ids.h"
#include "anygin/base/status.h"

namespace anygin {

// What one rank gives to all: bytes, and optionally a file descriptor that receivers of this host get a copy of.
struct Gift {
  std::string bytes;
  int fd = -1;  // as argument: stays the caller's; as result: the receiver's to close, -1 if none was given
};

class Bootstrap {
 public:
  virtual ~Bootstrap() = default;

  virtual Rank rank() const = 0;
  virtual int size() const = 0;
  // Collective: every rank of the communicator calls in the same order with the same `kind` (static storage; named in
  // errors). Returns one gift a rank, in rank order. Fails on mismatch, peer death, abort: within 1 s, on all ranks.
  virtual Result<std::vector<Gift>> all_gather(const char* kind, const Gift& mine) = 0;
};

// all_gather of a trivially copyable value.
template <typename T>
Result<std::vector<T>> all_gather_value(Bootstrap& bootstrap, const char* kind, const T& mine) {
  static_assert(std::is_trivially_copyable_v<T>);
  Result<std::vector<Gift>> gifts =
      bootstrap.all_gather(kind, Gift{std::string(reinterpret_cast<const char*>(&mine), sizeof(T)), -1});
  if (!gifts.ok()) return gifts.status();
  std::vector<T> values(gifts->size());
  for (size_t i = 0; i < values.size(); ++i) {
    const std::string& bytes = (*gifts)[i].bytes;
    if (bytes.size() != sizeof(T)) {
      return Status(Cause::kProtocol, kind, "rank " + std::to_string(i) + " sent a value of another size");
    }
    __builtin_memcpy(&values[i], bytes.data(), sizeof(T));
  }
  return values;
}

// Collective. Every rank brings how it fared; all succeed, or all get the failure of the lowest rank that failed.
inline Status agree(Bootstrap& bootstrap, const char* kind, const Status& mine) {
  const std::string code(1, static_cast<char>(mine.cause()));
  Result<std::vector<Gift>> gifts = bootstrap.all_gather(kind, Gift{code + (mine.ok() ? "" : mine.detail()), -1});
  if (!gifts.ok()) return gifts.status();
  for (size_t rank = 0; rank < gifts->size(); ++rank) {
    const std::string& bytes = (*gifts)[rank].bytes;
    if (bytes.empty()) return Status(Cause::kProtocol, kind, "rank " + std::to_string(rank) + " sent nothing");
    if (bytes[0] == 0) continue;
    if (static_cast<Rank>(rank) == bootstrap.rank()) return mine;
    return Status(cause_of_number(static_cast<uint8_t>(bytes[0])), kind,
                  "rank " + std::to_string(rank) + ": " + bytes.substr(1));
  }
  return Status();
}

}  // namespace anygin
