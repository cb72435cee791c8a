// SPDX-License-Identifier: Apache-2.0
#include "anygin/base/whole_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>

namespace anygin {
namespace {

TEST(WholeFile, ComesBackAsItWasWritten) {
  const std::string path = ::testing::TempDir() + "anygin_whole_file" + std::to_string(getpid());
  std::string text(200000, '\0');
  for (size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * 7);
  ASSERT_TRUE(write_file(path, text).ok());
  const Result<std::string> back = read_file(path);
  ASSERT_TRUE(back.ok()) << back.status().message();
  EXPECT_TRUE(*back == text);
  ASSERT_TRUE(write_file(path, "less").ok());
  EXPECT_EQ(*read_file(path), "less");
  std::remove(path.c_str());
}

TEST(WholeFile, WhatCannotBeSaysWhy) {
  EXPECT_EQ(write_file("/nowhere/a", "").message(),
            "GIN_ERR_FILE: file: cannot write /nowhere/a: No such file or directory");
  EXPECT_EQ(write_file("/dev/full", "a").text(), "cannot write /dev/full: No space left on device");
  EXPECT_EQ(read_file("/nowhere/a").status().text(), "cannot read /nowhere/a: No such file or directory");
  EXPECT_EQ(read_file("/dev").status().text(), "cannot read /dev: Is a directory");
}

}  // namespace
}  // namespace anygin
