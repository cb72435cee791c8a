// SPDX-License-Identifier: Apache-2.0
// Host transfers as data: what a call asks a rank to send to and receive from whom, and in what order. Pure.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "anygin/base/ids.h"
#include "anygin/comm/element.h"
#include "anygin/comm/exchange_shape.h"

namespace anygin::comm {

enum class CallKind : uint16_t {
  kSend,
  kRecv,
  kBroadcast,
  kReduce,
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kAllToAll,
  kGather,
  kScatter,
  kCount
};
std::string_view name_of(CallKind kind);

// What was asked for. The arguments were checked.
struct CallRequest {
  CallKind kind = CallKind::kSend;
  const char* from = nullptr;  // what this rank gives; null where it gives nothing
  char* into = nullptr;        // what it gets
  uint64_t count = 0;          // elements, as the program gave it
  Element element = Element::kInt8;
  Rank peer = 0;  // or root
  ReduceOp op = ReduceOp::kSum;
  // Of kSum: every contribution is multiplied with it first. Null: with nothing. Of `element`; lives until the end.
  const char* scalar = nullptr;
  std::shared_ptr<const void> scalar_owner;
  std::string_view where;  // the function that the program called; static storage
};

struct Transfer {
  bool sends = false;
  Rank peer = 0;
  char* memory = nullptr;  // what is sent is only read
  uint64_t count = 0;      // elements
  uint32_t stage = 0;      // begins when the transfers of the stages before it are done
  // Of a receiving one: combines what comes with what its memory holds, piece by piece behind transfer `behind`.
  bool combines = false;
  int behind = -1;            // index in the call; -1: none
  bool ends_average = false;  // the last contribution: divide

  // --- Engine ---
  uint64_t moved = 0;  // bytes staged or taken
  bool begun = false;  // its first slot was staged or taken: one without bytes has one slot, too
  bool done = false;
  uint64_t last_slot = 0;  // of one that sends: done when so many slots were given back
};

// A call on its way: its transfers, and how far they are.
struct Call {
  CallRequest request;
  std::vector<Transfer> transfers;
  uint32_t stage = 0;  // of the transfers that may go on
  Lane lane() const {
    return request.kind == CallKind::kSend || request.kind == CallKind::kRecv ? Lane::kPairs : Lane::kCollectives;
  }
};

// "ncclSend of 4 float32 to rank 1"
std::string describe(const CallRequest& request);

// What this rank transfers for the call.
std::unique_ptr<Call> plan_call(const CallRequest& request, Rank rank, int ranks);

}  // namespace anygin::comm
