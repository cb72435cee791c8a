// SPDX-License-Identifier: Apache-2.0
// The message layout: each field at 0, 1 and its maximum; and that the decoder believes nothing.
#include "anygin/emulated/wire.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "anygin/base/choices_seeded.h"

namespace anygin::emulated {
namespace {

Message fetch_add() {
  Message m;
  m.kind = MessageKind::kFetchAdd;
  return m;
}

Message round_trip(const Message& message) {
  char bytes[kWireHeaderBytes];
  encode_message(message, bytes);
  Message out;
  EXPECT_TRUE(decode_message(bytes, kWireHeaderBytes + message.bytes, &out));
  return out;
}

template <typename T>
void each_value_of(T Message::*field) {
  for (T value : {T{0}, T{1}, static_cast<T>(~T{0})}) {
    Message m = fetch_add();
    m.*field = value;
    EXPECT_EQ(round_trip(m), m);
  }
}

TEST(Wire, EachFieldKeepsItsValue) {
  each_value_of(&Message::unsettled);
  each_value_of(&Message::queue_pair);
  each_value_of(&Message::sequence);
  each_value_of(&Message::total);
  each_value_of(&Message::rkey);
  each_value_of(&Message::source_pair);
  each_value_of(&Message::address);
  each_value_of(&Message::value);
  for (bool Message::*flag : {&Message::may_pass, &Message::last, &Message::grouped}) {
    Message m = fetch_add();
    m.*flag = true;
    EXPECT_EQ(round_trip(m), m);
  }
  for (int kind = 1; kind <= 8; ++kind) {
    Message m;
    m.kind = static_cast<MessageKind>(kind);
    m.last = true;
    m.status = WireStatus::kRemoteAccess;
    EXPECT_EQ(round_trip(m), m);
  }
  for (int status = 0; status <= kWireStatusMax; ++status) {
    Message m = fetch_add();
    m.status = static_cast<WireStatus>(status);
    EXPECT_EQ(round_trip(m), m);
  }
}

TEST(Wire, EachFieldHasItsPlace) {
  Message m;
  m.kind = MessageKind::kWrite;
  m.may_pass = m.last = m.grouped = true;
  m.status = WireStatus::kRemoteInvalid;
  m.unsettled = 0x11;
  m.queue_pair = 0x22222222;
  m.sequence = 0x33333333;
  m.offset = 0x100;
  m.bytes = 0x40;
  m.total = 0x140;
  m.rkey = 0x55555555;
  m.source_pair = 0x66666666;
  m.address = 0x7777777777777777;
  m.value = 0x8888888888888888;
  const unsigned char expected[kWireHeaderBytes] = {
      1,    7,    2,    0x11, 0x22, 0x22, 0x22, 0x22, 0x33, 0x33, 0x33, 0x33, 0x00, 0x01, 0,    0,
      0x40, 0,    0,    0,    0x40, 0x01, 0,    0,    0x55, 0x55, 0x55, 0x55, 0x66, 0x66, 0x66, 0x66,
      0x77, 0x77, 0x77, 0x77, 0x77, 0x77, 0x77, 0x77, 0x88, 0x88, 0x88, 0x88, 0x88, 0x88, 0x88, 0x88};
  char bytes[kWireHeaderBytes];
  encode_message(m, bytes);
  EXPECT_EQ(std::memcmp(bytes, expected, sizeof(expected)), 0);
}

TEST(Wire, ChunksTileTheirOperation) {
  Message m;
  m.kind = MessageKind::kWrite;
  m.total = 3 * kChunkBytes;
  m.bytes = kChunkBytes;
  m.offset = kChunkBytes;
  EXPECT_EQ(round_trip(m), m);
  m.offset = 2 * kChunkBytes;
  m.last = true;
  EXPECT_EQ(round_trip(m), m);
  m.total = m.bytes = m.offset = 0;  // a put of 0 bytes is one last chunk
  EXPECT_EQ(round_trip(m), m);
}

// Encodes without the checks of encode_message().
void raw(const Message& m, char (&bytes)[kWireHeaderBytes]) {
  Message sound = m;
  sound.offset = sound.bytes = 0;
  sound.total = 0;
  sound.last = true;
  encode_message(sound, bytes);
  bytes[1] = static_cast<char>((m.may_pass ? 1 : 0) | (m.last ? 2 : 0) | (m.grouped ? 4 : 0));
  std::memcpy(bytes + 12, &m.offset, 4);
  std::memcpy(bytes + 16, &m.bytes, 4);
  std::memcpy(bytes + 20, &m.total, 4);
}

bool decodes(const Message& m, size_t available) {
  char bytes[kWireHeaderBytes];
  raw(m, bytes);
  Message out;
  return decode_message(bytes, available, &out);
}

TEST(Wire, LengthsAreNotBelieved) {
  Message m;
  m.kind = MessageKind::kWrite;
  m.total = m.bytes = 64;
  m.last = true;
  const size_t whole = kWireHeaderBytes + 64;
  EXPECT_TRUE(decodes(m, whole));
  EXPECT_FALSE(decodes(m, whole - 1)) << "payload shorter than announced";
  EXPECT_FALSE(decodes(m, whole + 1)) << "payload longer than announced";
  EXPECT_FALSE(decodes(m, kWireHeaderBytes - 1)) << "not even a header";
  Message beyond = m;
  beyond.offset = 1;
  EXPECT_FALSE(decodes(beyond, whole)) << "a chunk that ends behind its operation";
  Message wraps = m;
  wraps.offset = 0xffffffc0;
  EXPECT_FALSE(decodes(wraps, whole)) << "offset + bytes wraps";
  Message not_last = m;
  not_last.last = false;
  EXPECT_FALSE(decodes(not_last, whole)) << "the end of an operation that does not say so";
  Message early_last = m;
  early_last.total = 65;
  EXPECT_FALSE(decodes(early_last, whole)) << "a last chunk before the end";
  Message big = m;
  big.total = big.bytes = kChunkBytes + 1;
  EXPECT_FALSE(decodes(big, kWireHeaderBytes + big.bytes)) << "a chunk larger than kChunkBytes";
  Message with_payload = fetch_add();
  with_payload.bytes = 8;
  EXPECT_FALSE(decodes(with_payload, kWireHeaderBytes + 8)) << "an add with payload";
}

TEST(Wire, UnknownValuesAreRefused) {
  char bytes[kWireHeaderBytes];
  Message out;
  for (const auto& [at, value] : std::vector<std::pair<size_t, int>>{{0, 0}, {0, 9}, {0, 255}, {1, 8}, {2, 4}}) {
    encode_message(fetch_add(), bytes);
    bytes[at] = static_cast<char>(value);
    EXPECT_FALSE(decode_message(bytes, sizeof(bytes), &out)) << "byte " << at << " = " << value;
  }
  Message nack;
  nack.kind = MessageKind::kNack;
  nack.status = WireStatus::kRemoteAccess;
  encode_message(nack, bytes);
  bytes[2] = 0;
  EXPECT_FALSE(decode_message(bytes, sizeof(bytes), &out)) << "a refusal without a reason";
}

// What random bytes decode to, if anything, is something that encodes to the same bytes.
TEST(Wire, RandomBytesDecodeToThemselvesOrNotAtAll) {
  SeededChoices draw(11);
  std::vector<char> bytes(kWireHeaderBytes + 4096);
  int accepted = 0;
  for (int round = 0; round < 200'000; ++round) {
    for (size_t i = 0; i < kWireHeaderBytes; ++i) {
      bytes[i] = static_cast<char>(draw.pick_below(ChoiceKind::kFault, 256));
    }
    if (round % 2 == 0) {  // half of them nearly right
      bytes[0] = static_cast<char>(1 + draw.pick_below(ChoiceKind::kFault, 8));
      bytes[1] = static_cast<char>(draw.pick_below(ChoiceKind::kFault, 8));
      bytes[2] = static_cast<char>(draw.pick_below(ChoiceKind::kFault, 4));
      std::memset(bytes.data() + 12, 0, 12);
      bytes[16] = bytes[20] = static_cast<char>(draw.pick_below(ChoiceKind::kFault, 3));
    }
    const size_t available = draw.pick_below(ChoiceKind::kFault, 64) + kWireHeaderBytes - 8;
    Message out;
    if (!decode_message(bytes.data(), available, &out)) continue;
    ++accepted;
    char again[kWireHeaderBytes];
    encode_message(out, again);
    ASSERT_EQ(std::memcmp(again, bytes.data(), kWireHeaderBytes), 0);
    ASSERT_EQ(available, kWireHeaderBytes + out.bytes);
  }
  EXPECT_GT(accepted, 100);
}

}  // namespace
}  // namespace anygin::emulated
