// SPDX-License-Identifier: Apache-2.0
// From an operation to a chain of work requests. A put is an RDMA WRITE; its signal is a FETCH AND ADD chained behind
// it: one group, one completion.
#pragma once

#include "anygin/backends/op.h"
#include "anygin/verbs/verbs_regions.h"
#include "anygin/verbs/verbs_table.h"

namespace anygin::verbs {

// Where an operation's parts lie; parts it does not have are zero.
struct WorkPlaces {
  KeyedAddress local;   // with the local key
  KeyedAddress remote;  // with the peer's key
  KeyedAddress cell;    // of the signal, with the peer's key
  KeyedAddress sink;    // 8 bytes that receive the old value of a signal cell
};

// A chain to post. Points into itself: neither copied nor moved.
struct WorkChain {
  // `hints`: the device keeps strong and weak apart. `wr_id` goes into every request of the chain.
  WorkChain(const Op& op, const WorkPlaces& places, bool hints, uint64_t wr_id);
  WorkChain(const WorkChain&) = delete;
  WorkChain& operator=(const WorkChain&) = delete;

  uint64_t inline_value = 0;
  ibv_sge scatter[2] = {};
  ibv_send_wr requests[2] = {};
  unsigned count = 0;

 private:
  ibv_send_wr& append(ibv_wr_opcode opcode, KeyedAddress local, uint64_t bytes, unsigned flags);
};

}  // namespace anygin::verbs
