// SPDX-License-Identifier: Apache-2.0
// A program image, copied and loaded several times into one process: each copy has globals, thread-local variables and
// statics of its own, and its kernels find them.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <thread>
#include <vector>

#include "anygin/base/platform.h"

#if defined(ANYGIN_SANITIZE_ADDRESS)
// The leak detector takes a copy's block of thread-local variables for a mapping with a header in front, if it happens
// to lie 16 bytes into a page, and dies reading that.
extern "C" const char* __asan_default_options() {
  return "intercept_tls_get_addr=0";
}
#endif

namespace anygin {
namespace {

using Step = int (*)(int);

class ProgramImage : public ::testing::TestWithParam<const char*> {
 protected:
  Step load_copy(int number) {
    const std::string from = std::string(ANYGIN_PROGRAMS) + "/image." + GetParam();
    const std::filesystem::path to =
        std::filesystem::path(::testing::TempDir()) /
        ("image_copy_" + std::to_string(number) + "." + GetParam() + std::to_string(getpid()));
    std::filesystem::copy_file(from, to, std::filesystem::copy_options::overwrite_existing);
    void* handle = dlopen(to.c_str(), RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(handle, nullptr) << dlerror();
    std::filesystem::remove(to);
    if (handle == nullptr) return nullptr;
    EXPECT_NE(dlsym(handle, "main"), nullptr);
    return reinterpret_cast<Step>(dlsym(handle, "step"));
  }
};

// Sum of what `step` adds up: 10 + 100 + 1000 + 10000 at first, 100000 a construction.
constexpr int kAtFirst = 111110;

TEST_P(ProgramImage, each_copy_has_its_own_state) {
  std::vector<Step> copies;
  for (int i = 0; i < 3; ++i) copies.push_back(load_copy(i));
  for (Step copy : copies) ASSERT_NE(copy, nullptr);
  EXPECT_EQ(copies[0](1), kAtFirst + 4);
  EXPECT_EQ(copies[1](2), kAtFirst + 8);
  EXPECT_EQ(copies[2](3), kAtFirst + 12);
  EXPECT_EQ(copies[0](1), kAtFirst + 8);
  EXPECT_EQ(copies[1](0), kAtFirst + 8);
  int in_thread = 0;  // thread-local variables start anew there, the other three are at 1 + 1
  std::thread([&] { in_thread = copies[0](0); }).join();
  EXPECT_EQ(in_thread, kAtFirst + 6);
}

INSTANTIATE_TEST_SUITE_P(compilers, ProgramImage, ::testing::Values(ANYGIN_COMPILERS),
                         [](const auto& instance) { return std::string(instance.param); });

}  // namespace
}  // namespace anygin
