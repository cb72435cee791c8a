// SPDX-License-Identifier: Apache-2.0
// The memory by which the ranks of a communicator exchange data: slots. The same on every rank, so that a rank knows
// the places in its peers' memory; and what stands at the head of a slot.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "anygin/base/assert.h"
#include "anygin/base/ids.h"

namespace anygin::comm {

// Sends and receives match by call order, collectives by theirs: neither waits for the other.
enum class Lane : uint8_t { kPairs, kCollectives };
inline constexpr uint32_t kLanes = 2;
inline constexpr uint32_t kSlots = 4;  // of a lane, in each direction, for each peer

// In front of the bytes of a slot. The receiver checks that both sides mean the same.
struct SlotHeader {
  uint64_t transfer = 0;  // the how manieth of the sender to this receiver in the lane, from 0
  uint64_t count = 0;     // elements of the whole transfer
  uint64_t offset = 0;    // of the slot's bytes in the transfer
  uint32_t bytes = 0;     // in this slot
  uint16_t call = 0;      // a CallKind
  uint8_t element = 0;
  uint8_t reduce_op = 0;
  uint64_t call_count = 0;  // elements that the sender's program named; of an all-reduce a transfer is a part of them
  uint64_t reserved[3]{};
};
static_assert(sizeof(SlotHeader) == 64);

// Where the slots lie: for each lane and peer those that the peer fills, then those that are filled for it.
struct ExchangeShape {
  uint32_t ranks = 1;
  uint32_t payload = 4096;  // bytes of a slot behind its header; a multiple of every element's size

  uint64_t slot_bytes() const { return sizeof(SlotHeader) + payload; }
  // `index` runs freely.
  uint64_t inbox(Lane lane, Rank peer, uint64_t index) const { return slot(lane, peer, index, 0); }
  uint64_t outbox(Lane lane, Rank peer, uint64_t index) const { return slot(lane, peer, index, 1); }
  uint64_t bytes() const { return uint64_t{2} * kLanes * ranks * kSlots * slot_bytes(); }
  // In arrays with a place for each lane and peer.
  size_t pairs() const { return size_t{kLanes} * ranks; }
  size_t pair(Lane lane, Rank peer) const {
    ANYGIN_ASSERT(peer >= 0 && static_cast<uint32_t>(peer) < ranks);
    return static_cast<size_t>(lane) * ranks + static_cast<size_t>(peer);
  }

 private:
  uint64_t slot(Lane lane, Rank peer, uint64_t index, uint64_t which) const {
    return ((2 * pair(lane, peer) + which) * kSlots + index % kSlots) * slot_bytes();
  }
};

// For so many ranks: what a rank holds stays within a few MiB.
inline ExchangeShape exchange_shape(int ranks) {
  constexpr uint64_t kBudget = uint64_t{8} << 20;
  const uint64_t slots = uint64_t{2} * kLanes * kSlots * static_cast<uint64_t>(ranks);
  const uint64_t payload = std::bit_floor(kBudget / slots);
  constexpr uint64_t kLeast = 4096, kMost = 65536;
  return {static_cast<uint32_t>(ranks), static_cast<uint32_t>(payload < kLeast  ? kLeast
                                                              : payload > kMost ? kMost
                                                                                : payload)};
}

}  // namespace anygin::comm
