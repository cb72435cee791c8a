// SPDX-License-Identifier: Apache-2.0
// A decoded, validated request in no backend's format: what an engine posts through a Transport.
#pragma once

#include <cstdint>

#include "anygin/base/ids.h"
#include "anygin/base/status.h"

namespace anygin {

enum class OpKind : uint8_t {
  kPut,        // write `bytes` from source to destination at the peer; may be 0 with a signal
  kPutInline,  // write the low `bytes` (1, 2, 4, 8) of `inline_value`
  kGet,        // read `bytes` at the peer's destination region into the local source region
};

enum class Strength : uint8_t { kWeak, kStrong };

// A place in a region that was registered with the transport; symmetric: one id names it on every rank.
struct RegionRef {
  uint32_t region = 0;
  uint64_t offset = 0;  // bytes from the registered start on the rank concerned
};

// An 8-byte add at the peer, bundled with the put in front of it: one group (docs/decisions/0002).
struct SignalPart {
  bool present = false;
  Strength strength = Strength::kStrong;
  RegionRef cell;
  uint64_t add = 0;
};

struct Op {
  OpKind kind = OpKind::kPut;
  uint32_t context = 0;
  Rank peer = 0;
  RegionRef local;     // put: source; get: destination
  RegionRef remote;    // put: destination; get: source
  uint64_t bytes = 0;  // at most Transport::kBytesMax
  uint64_t inline_value = 0;
  SignalPart signal;
  uint64_t cookie = 0;              // comes back in the completion
  const void* call_site = nullptr;  // of the program's call, for reports and the trace
};

// Local completion: source reusable, or the get's data in place. In post order within (context, peer).
struct OpCompletion {
  uint64_t cookie = 0;
  uint32_t context = 0;
  Rank peer = 0;
  Cause error = Cause::kNone;
  const char* what = "";  // of an error: the NIC's word for it; static storage
};

}  // namespace anygin
