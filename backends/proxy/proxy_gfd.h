// SPDX-License-Identifier: Apache-2.0
// The proxy's descriptor (GFD): 64 bytes a kernel writes and the engine reads. This file is its only bit layout.
//
//   word 0  tag 8 | op 8 | flags 16 | bytes 32          published last, with release
//   word 1  local place (offset 48 | window 16), or the 64-bit inline value
//   word 2  remote place
//   word 3  signal id 32 | counter id 32
//   word 4  signal add
//   word 5  place of a signal in a window
//   word 6  call site: an address in the program's code
//   word 7  operation 32 | reserved 32
//
// A slot is never cleared: the engine knows a filled one by the tag, the lap of its index with the top bit set. A
// fresh, zeroed ring therefore holds no filled slot, and a put of 0 bytes at offset 0 never looks like an empty one.
// C++17, host and device.
#pragma once

#include "anygin/base/assert.h"
#include "anygin/base/ids.h"
#include "anygin/base/seq.h"

namespace anygin::proxy {

inline constexpr int kGfdWords = 8;
// Bytes one descriptor can move; longer puts and gets are cut, and only the last piece carries the actions.
inline constexpr uint64_t kGfdBytesMax = uint64_t{1} << 30;
inline constexpr int kDepthLog2Max = 20;  // lap_tag() needs 7 bits of lap to survive the wrap of the index

struct alignas(kCacheLine) Gfd {
  uint64_t words[kGfdWords];
};
static_assert(sizeof(Gfd) == 64, "a descriptor is one cache line");

// Free-running index into a ring. Rings start just below the wrap, so that every run crosses it.
using RingIndex = Seq<32, uint32_t>;
inline constexpr uint32_t kFirstIndex = 0xFFFFFFF0u;

enum class GfdOp : uint8_t { kPut = 1, kPutInline = 2, kGet = 3 };

struct GfdPlace {
  WindowId window{};    // kNoWindow: none
  uint64_t offset = 0;  // bytes from the window's start, < 2^48
};

// A descriptor, unpacked.
struct GfdFields {
  GfdOp op = GfdOp::kPut;
  uint32_t bytes = 0;  // at most kGfdBytesMax; kPutInline: 1, 2, 4 or 8
  GfdPlace local;      // put: source; get: destination
  GfdPlace remote;     // put: destination; get: source
  uint64_t inline_value = 0;
  bool has_signal = false;
  bool strong = false;
  bool signal_in_window = false;  // at `signal_place`, else the indexed cell `signal_id`
  uint32_t signal_id = 0;
  GfdPlace signal_place;
  uint64_t signal_add = 0;
  bool has_counter = false;
  uint32_t counter_id = 0;
  uint64_t call_site = 0;
  uint32_t operation = 0;  // index of the call's first piece: names the operation within its ring
};

// --- Layout ----------------------------------------------------------------------------------------------------------

template <int Word, int Shift, int Width>
struct GfdField {
  static constexpr int kWidth = Width;
  static constexpr uint64_t kMax = ~uint64_t{0} >> (64 - Width);
  static_assert(Word < kGfdWords && Shift + Width <= 64, "a field lies within its word");

  ANYGIN_HOST_DEVICE static constexpr uint64_t pack(uint64_t value) { return (value & kMax) << Shift; }
  ANYGIN_HOST_DEVICE static constexpr uint64_t unpack(const uint64_t* words) { return (words[Word] >> Shift) & kMax; }
};
using GfdTag = GfdField<0, 0, 8>;
using GfdOpCode = GfdField<0, 8, 8>;
using GfdFlags = GfdField<0, 16, 16>;
using GfdBytes = GfdField<0, 32, 32>;
using GfdLocalOffset = GfdField<1, 0, 48>;
using GfdLocalWindow = GfdField<1, 48, 16>;
using GfdInlineValue = GfdField<1, 0, 64>;
using GfdRemoteOffset = GfdField<2, 0, 48>;
using GfdRemoteWindow = GfdField<2, 48, 16>;
using GfdSignalId = GfdField<3, 0, 32>;
using GfdCounterId = GfdField<3, 32, 32>;
using GfdSignalAdd = GfdField<4, 0, 64>;
using GfdSignalOffset = GfdField<5, 0, 48>;
using GfdSignalWindow = GfdField<5, 48, 16>;
using GfdCallSite = GfdField<6, 0, 64>;
using GfdOperation = GfdField<7, 0, 32>;
using GfdReserved = GfdField<7, 32, 32>;

static_assert(GfdTag::kWidth + GfdOpCode::kWidth + GfdFlags::kWidth + GfdBytes::kWidth == 64, "word 0");
static_assert(GfdLocalOffset::kWidth + GfdLocalWindow::kWidth == 64 && GfdInlineValue::kWidth == 64, "word 1");
static_assert(GfdRemoteOffset::kWidth + GfdRemoteWindow::kWidth == 64, "word 2");
static_assert(GfdSignalId::kWidth + GfdCounterId::kWidth == 64, "word 3");
static_assert(GfdSignalAdd::kWidth == 64 && GfdCallSite::kWidth == 64, "words 4 and 6");
static_assert(GfdSignalOffset::kWidth + GfdSignalWindow::kWidth == 64, "word 5");
static_assert(GfdOperation::kWidth + GfdReserved::kWidth == 64, "word 7");

enum GfdFlag : uint32_t { kHasSignal = 1u << 0, kStrong = 1u << 1, kSignalInWindow = 1u << 2, kHasCounter = 1u << 3 };
inline constexpr uint32_t kGfdFlagsKnown = kHasSignal | kStrong | kSignalInWindow | kHasCounter;

// What word 0 of a filled slot carries at `index`: never 0, and another value than one lap before or after.
ANYGIN_HOST_DEVICE constexpr uint8_t lap_tag(RingIndex index, int depth_log2) {
  return static_cast<uint8_t>(0x80u | ((index.raw() >> depth_log2) & 0x7Fu));
}
ANYGIN_HOST_DEVICE constexpr uint32_t slot_of(RingIndex index, int depth_log2) {
  return index.raw() & ((uint32_t{1} << depth_log2) - 1);
}
ANYGIN_HOST_DEVICE constexpr uint8_t tag_of(uint64_t word0) {
  return static_cast<uint8_t>(GfdTag::unpack(&word0));
}

// --- Encode and decode -----------------------------------------------------------------------------------------------

// True iff the fields can be encoded: what the producer asserts and the engine checks again. Values, not meanings:
// windows and offsets are looked up by the engine.
ANYGIN_HOST_DEVICE inline bool well_formed(const GfdFields& f) {
  const bool known = f.op == GfdOp::kPut || f.op == GfdOp::kPutInline || f.op == GfdOp::kGet;
  const bool bytes = f.op != GfdOp::kPutInline ? f.bytes <= kGfdBytesMax
                                               : f.bytes == 1 || f.bytes == 2 || f.bytes == 4 || f.bytes == 8;
  const bool places = f.local.offset <= GfdLocalOffset::kMax && f.remote.offset <= GfdRemoteOffset::kMax &&
                      f.signal_place.offset <= GfdSignalOffset::kMax;
  const bool actions = f.op == GfdOp::kGet ? !f.has_signal && !f.has_counter : f.has_signal || !f.signal_in_window;
  return known && bytes && places && actions;
}

ANYGIN_HOST_DEVICE inline void encode_gfd(const GfdFields& f, uint8_t tag, uint64_t* words) {
  ANYGIN_ASSERT(well_formed(f));
  const uint32_t flags = (f.has_signal ? kHasSignal : 0u) | (f.strong ? kStrong : 0u) |
                         (f.signal_in_window ? kSignalInWindow : 0u) | (f.has_counter ? kHasCounter : 0u);
  words[0] = GfdTag::pack(tag) | GfdOpCode::pack(static_cast<uint64_t>(f.op)) | GfdFlags::pack(flags) |
             GfdBytes::pack(f.bytes);
  words[1] = f.op == GfdOp::kPutInline
                 ? GfdInlineValue::pack(f.inline_value)
                 : GfdLocalOffset::pack(f.local.offset) | GfdLocalWindow::pack(f.local.window.value);
  words[2] = GfdRemoteOffset::pack(f.remote.offset) | GfdRemoteWindow::pack(f.remote.window.value);
  words[3] = GfdSignalId::pack(f.signal_id) | GfdCounterId::pack(f.counter_id);
  words[4] = GfdSignalAdd::pack(f.signal_add);
  words[5] = GfdSignalOffset::pack(f.signal_place.offset) | GfdSignalWindow::pack(f.signal_place.window.value);
  words[6] = GfdCallSite::pack(f.call_site);
  words[7] = GfdOperation::pack(f.operation);
}

// Host. Does not judge: well_formed() and reserved_bits_clear() do.
inline GfdFields decode_gfd(const uint64_t* words) {
  GfdFields f;
  f.op = static_cast<GfdOp>(GfdOpCode::unpack(words));
  const uint64_t flags = GfdFlags::unpack(words);
  f.has_signal = (flags & kHasSignal) != 0;
  f.strong = (flags & kStrong) != 0;
  f.signal_in_window = (flags & kSignalInWindow) != 0;
  f.has_counter = (flags & kHasCounter) != 0;
  f.bytes = static_cast<uint32_t>(GfdBytes::unpack(words));
  if (f.op == GfdOp::kPutInline) {
    f.inline_value = GfdInlineValue::unpack(words);
  } else {
    f.local = {WindowId(static_cast<uint16_t>(GfdLocalWindow::unpack(words))), GfdLocalOffset::unpack(words)};
  }
  f.remote = {WindowId(static_cast<uint16_t>(GfdRemoteWindow::unpack(words))), GfdRemoteOffset::unpack(words)};
  f.signal_id = static_cast<uint32_t>(GfdSignalId::unpack(words));
  f.counter_id = static_cast<uint32_t>(GfdCounterId::unpack(words));
  f.signal_add = GfdSignalAdd::unpack(words);
  f.signal_place = {WindowId(static_cast<uint16_t>(GfdSignalWindow::unpack(words))), GfdSignalOffset::unpack(words)};
  f.call_site = GfdCallSite::unpack(words);
  f.operation = static_cast<uint32_t>(GfdOperation::unpack(words));
  return f;
}

inline bool reserved_bits_clear(const uint64_t* words) {
  return (GfdFlags::unpack(words) & ~uint64_t{kGfdFlagsKnown}) == 0 && GfdReserved::unpack(words) == 0;
}

}  // namespace anygin::proxy
