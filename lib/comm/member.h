// SPDX-License-Identifier: Apache-2.0
// What the ranks of a communicator tell each other when they join.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "anygin/base/ids.h"
#include "anygin/base/status.h"
#include "anygin/comm/layout.h"

namespace anygin::comm {

struct Member {
  Rank rank = 0;
  int size = 0;  // of the communicator, as this rank was told
  int device = 0;
  Seat seat = kAnySeat;
  uint32_t pid = 0;
  uint64_t start_time = 0;     // of the process
  uint64_t process_nonce = 0;  // drawn once a process: equal nonces = one address space
  std::string listener;        // abstract Unix socket that peers of this host connect to
  // (what it is called, value): must be equal on all ranks.
  std::vector<std::pair<std::string, std::string>> agreed;
};

std::string pack(const Member& member);
std::vector<Member> unpack_members(std::string_view bytes, bool* ok);
std::string pack(const std::vector<Member>& members);

// kInvalidUsage naming the first setting that two members disagree on, with both values and ranks.
Status check_agreement(const std::vector<Member>& members);

}  // namespace anygin::comm
