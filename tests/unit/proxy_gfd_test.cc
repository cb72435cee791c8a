// SPDX-License-Identifier: Apache-2.0
#include "anygin/proxy/proxy_gfd.h"

#include <gtest/gtest.h>

#include <array>

namespace anygin::proxy {
namespace {

GfdFields round_trip(const GfdFields& fields) {
  std::array<uint64_t, kGfdWords> words{};
  encode_gfd(fields, 0x80, words.data());
  EXPECT_TRUE(reserved_bits_clear(words.data()));
  return decode_gfd(words.data());
}

void expect_equal(const GfdFields& a, const GfdFields& b) {
  EXPECT_EQ(a.op, b.op);
  EXPECT_EQ(a.bytes, b.bytes);
  EXPECT_EQ(a.local.window, b.local.window);
  EXPECT_EQ(a.local.offset, b.local.offset);
  EXPECT_EQ(a.remote.window, b.remote.window);
  EXPECT_EQ(a.remote.offset, b.remote.offset);
  EXPECT_EQ(a.inline_value, b.inline_value);
  EXPECT_EQ(a.has_signal, b.has_signal);
  EXPECT_EQ(a.strong, b.strong);
  EXPECT_EQ(a.signal_in_window, b.signal_in_window);
  EXPECT_EQ(a.signal_id, b.signal_id);
  EXPECT_EQ(a.signal_place.window, b.signal_place.window);
  EXPECT_EQ(a.signal_place.offset, b.signal_place.offset);
  EXPECT_EQ(a.signal_add, b.signal_add);
  EXPECT_EQ(a.has_counter, b.has_counter);
  EXPECT_EQ(a.counter_id, b.counter_id);
  EXPECT_EQ(a.call_site, b.call_site);
  EXPECT_EQ(a.operation, b.operation);
}

// Sets one field to 0, 1 and its largest value, all else zero: the others stay zero.
template <typename Set>
void expect_field_survives(const char* name, uint64_t most, const Set& set, GfdFields base = {}) {
  for (const uint64_t value : {uint64_t{0}, uint64_t{1}, most}) {
    SCOPED_TRACE(testing::Message() << name << " = " << value);
    GfdFields fields = base;
    set(fields, value);
    expect_equal(round_trip(fields), fields);
  }
}

TEST(ProxyGfd, every_field_survives_alone) {
  const uint64_t offset = (uint64_t{1} << 48) - 1;
  const auto window = [](uint64_t value) { return WindowId(static_cast<uint16_t>(value)); };
  expect_field_survives("bytes", kGfdBytesMax, [](GfdFields& f, uint64_t v) { f.bytes = static_cast<uint32_t>(v); });
  expect_field_survives("local offset", offset, [](GfdFields& f, uint64_t v) { f.local.offset = v; });
  expect_field_survives("local window", 0xFFFF, [&](GfdFields& f, uint64_t v) { f.local.window = window(v); });
  expect_field_survives("remote offset", offset, [](GfdFields& f, uint64_t v) { f.remote.offset = v; });
  expect_field_survives("remote window", 0xFFFF, [&](GfdFields& f, uint64_t v) { f.remote.window = window(v); });
  expect_field_survives("signal offset", offset, [](GfdFields& f, uint64_t v) { f.signal_place.offset = v; });
  expect_field_survives("signal window", 0xFFFF, [&](GfdFields& f, uint64_t v) { f.signal_place.window = window(v); });
  expect_field_survives("signal id", ~0u, [](GfdFields& f, uint64_t v) { f.signal_id = static_cast<uint32_t>(v); });
  expect_field_survives("counter id", ~0u, [](GfdFields& f, uint64_t v) { f.counter_id = static_cast<uint32_t>(v); });
  expect_field_survives("signal add", ~uint64_t{0}, [](GfdFields& f, uint64_t v) { f.signal_add = v; });
  expect_field_survives("call site", ~uint64_t{0}, [](GfdFields& f, uint64_t v) { f.call_site = v; });
  expect_field_survives("operation", ~0u, [](GfdFields& f, uint64_t v) { f.operation = static_cast<uint32_t>(v); });
}

TEST(ProxyGfd, every_flag_and_op_survives) {
  GfdFields inlined;
  inlined.op = GfdOp::kPutInline;
  for (const uint32_t bytes : {1u, 2u, 4u, 8u}) {
    inlined.bytes = bytes;
    expect_field_survives(
        "inline value", ~uint64_t{0}, [](GfdFields& f, uint64_t v) { f.inline_value = v; }, inlined);
  }
  for (unsigned flags = 0; flags < 16; ++flags) {
    GfdFields fields;
    fields.has_signal = (flags & 1) != 0;
    fields.strong = (flags & 2) != 0;
    fields.signal_in_window = fields.has_signal && (flags & 4) != 0;
    fields.has_counter = (flags & 8) != 0;
    expect_equal(round_trip(fields), fields);
  }
  GfdFields get;
  get.op = GfdOp::kGet;
  get.bytes = 1;
  expect_equal(round_trip(get), get);
}

TEST(ProxyGfd, all_fields_at_their_largest_do_not_touch) {
  GfdFields fields;
  fields.bytes = kGfdBytesMax;
  fields.local = fields.remote = fields.signal_place = {WindowId(0xFFFF), (uint64_t{1} << 48) - 1};
  fields.has_signal = fields.strong = fields.signal_in_window = fields.has_counter = true;
  fields.signal_id = fields.counter_id = fields.operation = ~0u;
  fields.signal_add = fields.call_site = ~uint64_t{0};
  expect_equal(round_trip(fields), fields);
}

// The layout as numbers: a change of the format is a change of this test.
TEST(ProxyGfd, words_are_these) {
  GfdFields fields;
  fields.op = GfdOp::kPut;
  fields.bytes = 0x12345678 & 0x3FFFFFFF;
  fields.local = {WindowId(0xABCD), 0x123456789ABC};
  fields.remote = {WindowId(0x0102), 0x0304};
  fields.has_signal = fields.strong = true;
  fields.has_counter = true;
  fields.signal_id = 0x11;
  fields.counter_id = 0x22;
  fields.signal_add = 0x33;
  fields.call_site = 0x44;
  fields.operation = 0xFFFFFFF0;
  std::array<uint64_t, kGfdWords> words{};
  encode_gfd(fields, 0x81, words.data());
  const std::array<uint64_t, kGfdWords> expected = {
      0x12345678000B0181, 0xABCD123456789ABC, 0x0102000000000304, 0x0000002200000011, 0x33, 0, 0x44, 0xFFFFFFF0};
  EXPECT_EQ(words, expected);
}

TEST(ProxyGfd, an_empty_put_is_no_empty_slot) {
  GfdFields fields;
  fields.has_signal = true;
  std::array<uint64_t, kGfdWords> words{};
  encode_gfd(fields, lap_tag(RingIndex(kFirstIndex), 4), words.data());
  EXPECT_NE(words[0], 0u);
  EXPECT_EQ(tag_of(words[0]), lap_tag(RingIndex(kFirstIndex), 4));
  EXPECT_NE(tag_of(0), lap_tag(RingIndex(kFirstIndex), 4));
}

TEST(ProxyGfd, a_tag_tells_neighbouring_laps_apart) {
  for (int depth_log2 = 0; depth_log2 <= kDepthLog2Max; ++depth_log2) {
    const uint32_t lap = uint32_t{1} << depth_log2;
    for (const uint32_t start : {kFirstIndex, 0u - lap, 0u, 5u * lap, 127u * lap, 128u * lap}) {
      SCOPED_TRACE(testing::Message() << "depth 2^" << depth_log2 << " index " << start);
      const RingIndex index(start);
      EXPECT_NE(lap_tag(index, depth_log2), 0);
      EXPECT_NE(lap_tag(index, depth_log2), lap_tag(index + lap, depth_log2));
      EXPECT_EQ(slot_of(index, depth_log2), slot_of(index + lap, depth_log2));
    }
  }
}

TEST(ProxyGfd, what_cannot_be_encoded_is_not_well_formed) {
  const auto refused = [](auto change) {
    GfdFields fields;
    EXPECT_TRUE(well_formed(fields));
    change(fields);
    return !well_formed(fields);
  };
  EXPECT_TRUE(refused([](GfdFields& f) { f.bytes = kGfdBytesMax + 1; }));
  EXPECT_TRUE(refused([](GfdFields& f) { f.local.offset = uint64_t{1} << 48; }));
  EXPECT_TRUE(refused([](GfdFields& f) { f.remote.offset = uint64_t{1} << 48; }));
  EXPECT_TRUE(refused([](GfdFields& f) { f.signal_place.offset = uint64_t{1} << 48; }));
  EXPECT_TRUE(refused([](GfdFields& f) { f.op = static_cast<GfdOp>(0); }));
  EXPECT_TRUE(refused([](GfdFields& f) { f.signal_in_window = true; }));
  EXPECT_TRUE(refused([](GfdFields& f) {
    f.op = GfdOp::kGet;
    f.has_signal = true;
  }));
  EXPECT_TRUE(refused([](GfdFields& f) {
    f.op = GfdOp::kPutInline;
    f.bytes = 3;
  }));
}

}  // namespace
}  // namespace anygin::proxy
