// SPDX-License-Identifier: Apache-2.0
#include "anygin/base/process_page.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "anygin/base/env_real.h"
#include "support/reaches.h"
#include "support/world_fixture.h"

namespace anygin {
namespace {

using Page = testing::WorldFixture;

TEST_F(Page, SaysWhoseItIs) {
  const ControlPage& page = world_.page.control();
  EXPECT_EQ(page.magic, kProcessPageMagic);
  EXPECT_EQ(page.version, kProcessPageVersion);
  EXPECT_EQ(page.pid, static_cast<uint32_t>(getpid()));
  EXPECT_EQ(page.start_time, process_start_time(static_cast<uint32_t>(getpid())));
  EXPECT_NE(page.start_time, 0u);
}

TEST_F(Page, AreasAreZeroAlignedAndReused) {
  const uint64_t a = world_.page.allocate(100);
  const uint64_t b = world_.page.allocate(100);
  EXPECT_EQ(a % kCacheLine, 0u);
  EXPECT_GE(a, sizeof(ControlPage));
  EXPECT_GE(b, a + 100);
  std::memset(world_.page.at(a), 0x77, 100);
  world_.page.release(a, 100);
  EXPECT_EQ(world_.page.allocate(90), a);  // the same number of cache lines
  for (int i = 0; i < 128; ++i) ASSERT_EQ(world_.page.at(a)[i], 0);
}

TEST_F(Page, OwnPageIsUsedInPlace) {
  Result<PeerPage> peer = PeerPage::map(dup(world_.page.fd()), world_.page.bytes());
  ASSERT_TRUE(peer.ok()) << peer.status().message();
  EXPECT_EQ(&peer->control(), &world_.page.control());
}

TEST_F(Page, APeerWritesAndRings) {
  ProcessPage& page = world_.page;
  const uint64_t area = page.allocate(64);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    // A process of its own, with a page of its own.
    testing::TestWorld own;
    Result<PeerPage> peer = PeerPage::map(dup(page.fd()), page.bytes());
    if (!peer.ok() || &peer->control() == &page.control()) _exit(1);
    if (peer->control().pid != static_cast<uint32_t>(getppid())) _exit(2);
    std::strcpy(peer->at(area, 64), "from the child");
    ring(peer->control().wake);
    _exit(0);
  }
  const uint32_t seen = 0;
  sleep_on(page.control().wake, seen, 10'000'000'000);
  EXPECT_EQ(page.control().wake.value.load(), 1u);
  EXPECT_STREQ(page.at(area), "from the child");
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(Page, AFileThatIsNoPageIsRefused) {
  Result<SharedMapping> junk = SharedMapping::create("junk", 1 << 16);
  ASSERT_TRUE(junk.ok());
  const Result<PeerPage> peer = PeerPage::map(dup(junk->fd()), junk->bytes());
  ASSERT_FALSE(peer.ok());
  REACHES(GIN_ERR_PEER_BUILD, peer.status());
  EXPECT_NE(peer.status().text().find("another build of AnyGIN"), std::string::npos) << peer.status().text();
  const Result<PeerPage> tiny = PeerPage::map(dup(junk->fd()), 16);
  ASSERT_FALSE(tiny.ok());
  EXPECT_NE(tiny.status().text().find("16 bytes are too few"), std::string::npos) << tiny.status().text();
}

TEST_F(Page, RangesOutsideTheFileAreCaught) {
  Result<PeerPage> peer = PeerPage::map(dup(world_.page.fd()), world_.page.bytes());
  ASSERT_TRUE(peer.ok());
  EXPECT_DEATH(peer->at(world_.page.bytes() - 8, 9), "assertion failed");
  EXPECT_DEATH(peer->at(~uint64_t{0}, 2), "assertion failed");
}

}  // namespace
}  // namespace anygin
