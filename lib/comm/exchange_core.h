// SPDX-License-Identifier: Apache-2.0
// How a rank moves the bytes of its transfers: a sender fills a slot of its own, puts it into the receiver's memory and
// signals; the receiver takes the bytes out and signals back that the slot is free. A state machine: no thread, no
// clock, no transport. One caller at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "anygin/base/status.h"
#include "anygin/comm/exchange_plan.h"
#include "anygin/comm/exchange_shape.h"

namespace anygin::comm {

// How slots and signals reach a peer.
class ExchangePort {
 public:
  virtual ~ExchangePort() = default;
  // Room for one more slot to the peer; for one more that is given back to it.
  virtual bool may_put(Lane lane, Rank peer) const = 0;
  virtual bool may_give_back(Lane lane, Rank peer) const = 0;
  // Signals from the peer: slots that it put here; slots that it gave back. What it wrote before them is visible.
  virtual uint64_t arrived(Lane lane, Rank peer) const = 0;
  virtual uint64_t returned(Lane lane, Rank peer) const = 0;
  // The first `bytes` of the outbox's slot go to the peer's inbox from this rank; then a signal. There is room.
  virtual void put(Lane lane, Rank peer, uint64_t index, uint64_t bytes) = 0;
  virtual void give_back(Lane lane, Rank peer) = 0;
};

class ExchangeCore {
 public:
  // `memory` has shape.bytes(), zero, and outlives this.
  ExchangeCore(const ExchangeShape& shape, Rank rank, char* memory);

  const ExchangeShape& shape() const { return shape_; }
  // Is there something to do for the transfer, the first one of its peer, lane and direction that is not done? Pure.
  bool can_step(const Call& call, const Transfer& transfer, const ExchangePort& port) const;
  // Moves at most one slot; transfer.done when it is through. kInvalidUsage if the sides mean different things.
  Status step(Call& call, Transfer& transfer, ExchangePort& port);

 private:
  struct Pair {
    uint64_t filled = 0, sent = 0;     // slots, transfers to the peer
    uint64_t taken = 0, received = 0;  // from it
  };

  Pair& pair_of(const Call& call, const Transfer& transfer) { return pairs_[shape_.pair(call.lane(), transfer.peer)]; }
  const Pair& pair_of(const Call& call, const Transfer& transfer) const {
    return pairs_[shape_.pair(call.lane(), transfer.peer)];
  }
  bool can_fill(const Call& call, const Transfer& transfer, const ExchangePort& port) const;
  bool can_take(const Call& call, const Transfer& transfer, const ExchangePort& port) const;
  void fill(const Call& call, Transfer& transfer, ExchangePort& port);
  Status take(const Call& call, Transfer& transfer, ExchangePort& port);
  Status check(const Call& call, const Transfer& transfer, const SlotHeader& header) const;

  const ExchangeShape shape_;
  const Rank rank_;
  char* const memory_;
  std::vector<Pair> pairs_;
};

}  // namespace anygin::comm
