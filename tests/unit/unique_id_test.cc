// SPDX-License-Identifier: Apache-2.0
// The id that ranks meet by: every field at 0, 1 and its largest value; changed bytes are noticed.
#include "anygin/comm/unique_id.h"

#include <gtest/gtest.h>

namespace anygin::comm {
namespace {

UniqueId round_trip(const UniqueId& id) {
  char bytes[kUniqueIdBytes];
  EXPECT_TRUE(encode_unique_id(id, bytes).ok());
  Result<UniqueId> back = decode_unique_id(bytes);
  EXPECT_TRUE(back.ok()) << back.status().message();
  return back.ok() ? *back : UniqueId{};
}

TEST(UniqueId, EveryFieldSurvivesTheBytes) {
  for (const std::string host : {"0.0.0.0", "0.0.0.1", "127.0.0.1", "255.255.255.255"}) {
    for (const uint16_t port : {0, 1, 65535}) {
      for (const bool root_is_rank0 : {false, true}) {
        for (const unsigned char fill : {0, 1, 255}) {
          UniqueId id{host, port, root_is_rank0, {}};
          id.token.fill(fill);
          const UniqueId back = round_trip(id);
          EXPECT_EQ(back.host, host);
          EXPECT_EQ(back.port, port);
          EXPECT_EQ(back.root_is_rank0, root_is_rank0);
          EXPECT_EQ(back.token, id.token);
        }
      }
    }
  }
}

TEST(UniqueId, EveryChangedByteIsNoticed) {
  UniqueId id{"127.0.0.1", 4711, true, {}};
  char bytes[kUniqueIdBytes];
  ASSERT_TRUE(encode_unique_id(id, bytes).ok());
  for (size_t at = 0; at < kUniqueIdBytes; ++at) {
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    EXPECT_EQ(decode_unique_id(bytes).status().code(), Code::kInvalidArgument) << "byte " << at;
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
  }
  EXPECT_TRUE(decode_unique_id(bytes).ok());
}

TEST(UniqueId, HostIsAnAddress) {
  char bytes[kUniqueIdBytes];
  for (const char* host : {"", "localhost", "1.2.3", "1.2.3.256", "1.2.3.4.5", "1.2.3.4 "}) {
    EXPECT_EQ(encode_unique_id(UniqueId{host, 1, false, {}}, bytes).code(), Code::kInvalidUsage) << host;
  }
}

TEST(UniqueId, HostAndPortOfCommId) {
  UniqueId id;
  ASSERT_TRUE(parse_host_port("localhost:1", id).ok());
  EXPECT_EQ(id.host, "127.0.0.1");
  EXPECT_EQ(id.port, 1);
  ASSERT_TRUE(parse_host_port("10.1.2.3:65535", id).ok());
  EXPECT_EQ(id.host, "10.1.2.3");
  EXPECT_EQ(id.port, 65535);
  for (const char* text :
       {"", "127.0.0.1", "127.0.0.1:", "127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:1x", "node7:1"}) {
    const Status status = parse_host_port(text, id);
    EXPECT_EQ(status.code(), Code::kInvalidUsage) << text;
    EXPECT_NE(status.text().find("host:port"), std::string::npos) << status.text();
  }
}

TEST(UniqueId, TokenIsSixtyFourDigits) {
  const std::string digits = "00ff" + std::string(58, '1') + "aB";
  Result<Token> token = parse_token(digits);
  ASSERT_TRUE(token.ok()) << token.status().message();
  EXPECT_EQ((*token)[0], 0x00);
  EXPECT_EQ((*token)[1], 0xff);
  EXPECT_EQ((*token)[2], 0x11);
  EXPECT_EQ((*token)[31], 0xab);
  EXPECT_FALSE(parse_token("").ok());
  EXPECT_FALSE(parse_token(digits.substr(1)).ok());
  EXPECT_FALSE(parse_token(digits + "0").ok());
  EXPECT_FALSE(parse_token(digits.substr(1) + "g").ok());
}

}  // namespace
}  // namespace anygin::comm
