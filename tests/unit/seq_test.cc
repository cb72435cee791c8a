// SPDX-License-Identifier: Apache-2.0
#include "anygin/base/seq.h"

#include <gtest/gtest.h>

namespace anygin {
namespace {

TEST(RollingReached, IsTrueForHalfTheRange) {
  EXPECT_TRUE(rolling_reached(5, 5, 64));
  EXPECT_TRUE(rolling_reached(5, 6, 64));
  EXPECT_FALSE(rolling_reached(5, 4, 64));
  EXPECT_TRUE(rolling_reached(0, 127, 8));
  EXPECT_FALSE(rolling_reached(0, 128, 8));
  EXPECT_TRUE(rolling_reached(0, 0, 1));
  EXPECT_FALSE(rolling_reached(0, 1, 1));
}

TEST(RollingReached, WrapsAtItsWidth) {
  EXPECT_TRUE(rolling_reached(~uint64_t{0}, 0, 64));
  EXPECT_FALSE(rolling_reached(0, ~uint64_t{0}, 64));
  EXPECT_TRUE(rolling_reached(0xffffffff, 0, 32));
  EXPECT_TRUE(rolling_reached(0xffffffff, 0x1'0000'0000, 32));
  EXPECT_FALSE(rolling_reached(0, 0xffffffff, 32));
  // Bits above the width do not count.
  EXPECT_TRUE(rolling_reached(0xabcd'0000'0001, 2, 16));
}

TEST(Seq, ComparesAcrossTheWrap) {
  using S = Seq<24, uint32_t>;
  const S last(0xffffff);
  const S next = last + 1;
  EXPECT_EQ(next.raw(), 0u);
  EXPECT_TRUE(before(last, next));
  EXPECT_FALSE(before(next, last));
  EXPECT_FALSE(before(last, last));
  EXPECT_EQ(next.distance_from(last), 1u);
  EXPECT_EQ((last + 5).distance_from(last), 5u);
  EXPECT_EQ(S(0x1000001), S(1));
}

TEST(Seq, HalfTheRangeApartIsNotBefore) {
  using S = Seq<8, uint8_t>;
  EXPECT_TRUE(before(S(200), S(static_cast<uint8_t>(200 + 127))));
  EXPECT_FALSE(before(S(200), S(static_cast<uint8_t>(200 + 128))));
}

}  // namespace
}  // namespace anygin
