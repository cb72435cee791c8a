// SPDX-License-Identifier: Apache-2.0
// Messages of the control plane: whole or not at all, whatever pieces they come in.
#include "anygin/comm/link.h"

#include <gtest/gtest.h>

namespace anygin::comm {
namespace {

TEST(Message, SurvivesBeingCutAnywhere) {
  Message first;
  first.type = MessageType::kAbort;
  first.sequence = ~uint64_t{0};
  first.kind = "a kind";
  first.bytes = std::string("a\0b", 3);
  Message second;
  second.fd = 7;
  const std::string wire = encode(first) + encode(second);
  for (size_t cut = 0; cut <= wire.size(); ++cut) {
    std::string buffer;
    std::vector<Message> got;
    std::vector<bool> with_fd;
    for (const std::string& piece : {wire.substr(0, cut), wire.substr(cut)}) {
      buffer += piece;
      bool has_fd = false, broken = false;
      while (std::optional<Message> message = take_message(buffer, &has_fd, &broken)) {
        got.push_back(std::move(*message));
        with_fd.push_back(has_fd);
      }
      ASSERT_FALSE(broken);
    }
    ASSERT_EQ(got.size(), 2u) << "cut at " << cut;
    EXPECT_EQ(got[0].type, MessageType::kAbort);
    EXPECT_EQ(got[0].sequence, ~uint64_t{0});
    EXPECT_EQ(got[0].kind, "a kind");
    EXPECT_EQ(got[0].bytes, first.bytes);
    EXPECT_FALSE(with_fd[0]);
    EXPECT_EQ(got[1].type, MessageType::kGather);
    EXPECT_EQ(got[1].bytes, "");
    EXPECT_TRUE(with_fd[1]);
  }
}

TEST(Message, OtherBytesAreBroken) {
  std::string buffer(64, 'x');
  bool has_fd = false, broken = false;
  EXPECT_FALSE(take_message(buffer, &has_fd, &broken).has_value());
  EXPECT_TRUE(broken);
}

}  // namespace
}  // namespace anygin::comm
