// SPDX-License-Identifier: Apache-2.0
// From a decoded descriptor to an operation of the transport: names become regions, and every range is checked against
// what the rank concerned registered. The device API checked before; this is the last line before memory.
#pragma once

#include "anygin/backends/op.h"
#include "anygin/backends/transport.h"
#include "anygin/proxy/proxy_gfd.h"
#include "anygin/proxy/window_table.h"

namespace anygin::proxy {

// What a descriptor's numbers are relative to. Fixed while the context exists.
struct OpContext {
  uint32_t transport_context = 0;
  Rank rank = 0;
  uint32_t signal_count = 0;  // ids below it exist
  uint32_t counter_count = 0;
  uint32_t signal_region = 0;
  uint64_t signal_offset = 0;  // of signal 0 of this context, on every rank
};

// Fails with kInvalidUsage, naming what is out of range, the limit and the call site. Cookie and queue of the result
// are the caller's to set.
Result<Op> gfd_to_op(const GfdFields& gfd, const OpContext& context, Rank peer, const WindowTable& windows,
                     const Transport& transport);

// "put of 64 bytes, strong signal 3 += 1 (call site 0x55...)"
std::string describe(const GfdFields& gfd);

}  // namespace anygin::proxy
