// SPDX-License-Identifier: Apache-2.0
// Encoding and decoding side by side; wire.h has the layout.
#include "anygin/emulated/wire.h"

#include <bit>
#include <cstring>

#include "anygin/base/assert.h"

namespace anygin::emulated {
namespace {

static_assert(std::endian::native == std::endian::little, "wire.cc stores fields as they are in memory");

enum Offset : size_t {
  kKindAt = 0,
  kFlagsAt = 1,
  kStatusAt = 2,
  kUnsettledAt = 3,
  kQueuePairAt = 4,
  kSequenceAt = 8,
  kOffsetAt = 12,
  kBytesAt = 16,
  kTotalAt = 20,
  kRkeyAt = 24,
  kSourcePairAt = 28,
  kAddressAt = 32,
  kValueAt = 40,
};
static_assert(kValueAt + sizeof(uint64_t) == kWireHeaderBytes);

constexpr uint8_t kFlagMayPass = 1, kFlagLast = 2, kFlagGrouped = 4, kFlagsKnown = 7;

template <typename T>
void put(char* out, Offset at, T value) {
  std::memcpy(out + at, &value, sizeof(T));
}

template <typename T>
T get(const char* data, Offset at) {
  T value;
  std::memcpy(&value, data + at, sizeof(T));
  return value;
}

bool is_chunk(MessageKind kind) {
  return kind == MessageKind::kWrite || kind == MessageKind::kReadResponse;
}

// A chunk lies in its operation, and the last one ends it.
bool chunk_is_sound(const Message& m) {
  if (m.bytes > kChunkBytes || m.offset > m.total || m.bytes > m.total - m.offset) return false;
  const bool ends_it = m.bytes == m.total - m.offset;
  return m.last ? ends_it : !ends_it && m.bytes > 0;
}

bool fields_are_sound(const Message& m) {
  if (is_chunk(m.kind)) return chunk_is_sound(m);
  if (m.bytes != 0 || m.offset != 0) return false;
  return m.kind != MessageKind::kNack || m.status != WireStatus::kOk;
}

}  // namespace

void encode_message(const Message& m, char (&out)[kWireHeaderBytes]) {
  ANYGIN_ASSERT(fields_are_sound(m));
  const uint8_t flags =
      static_cast<uint8_t>((m.may_pass ? kFlagMayPass : 0) | (m.last ? kFlagLast : 0) | (m.grouped ? kFlagGrouped : 0));
  put(out, kKindAt, static_cast<uint8_t>(m.kind));
  put(out, kFlagsAt, flags);
  put(out, kStatusAt, static_cast<uint8_t>(m.status));
  put(out, kUnsettledAt, m.unsettled);
  put(out, kQueuePairAt, m.queue_pair);
  put(out, kSequenceAt, m.sequence);
  put(out, kOffsetAt, m.offset);
  put(out, kBytesAt, m.bytes);
  put(out, kTotalAt, m.total);
  put(out, kRkeyAt, m.rkey);
  put(out, kSourcePairAt, m.source_pair);
  put(out, kAddressAt, m.address);
  put(out, kValueAt, m.value);
}

bool decode_message(const char* data, size_t available, Message* out) {
  *out = Message{};
  if (available < kWireHeaderBytes) return false;
  const auto kind = get<uint8_t>(data, kKindAt);
  const auto flags = get<uint8_t>(data, kFlagsAt);
  const auto status = get<uint8_t>(data, kStatusAt);
  out->unsettled = get<uint8_t>(data, kUnsettledAt);
  out->queue_pair = get<uint32_t>(data, kQueuePairAt);
  out->source_pair = get<uint32_t>(data, kSourcePairAt);
  out->sequence = get<uint32_t>(data, kSequenceAt);
  if (kind < static_cast<uint8_t>(MessageKind::kWrite) || kind > static_cast<uint8_t>(MessageKind::kNack)) return false;
  if ((flags & ~kFlagsKnown) != 0 || status > kWireStatusMax) return false;
  out->kind = static_cast<MessageKind>(kind);
  out->may_pass = (flags & kFlagMayPass) != 0;
  out->last = (flags & kFlagLast) != 0;
  out->grouped = (flags & kFlagGrouped) != 0;
  out->status = static_cast<WireStatus>(status);
  out->offset = get<uint32_t>(data, kOffsetAt);
  out->bytes = get<uint32_t>(data, kBytesAt);
  out->total = get<uint32_t>(data, kTotalAt);
  out->rkey = get<uint32_t>(data, kRkeyAt);
  out->address = get<uint64_t>(data, kAddressAt);
  out->value = get<uint64_t>(data, kValueAt);
  return fields_are_sound(*out) && available == kWireHeaderBytes + out->bytes;
}

}  // namespace anygin::emulated
