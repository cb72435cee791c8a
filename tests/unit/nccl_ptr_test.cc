// SPDX-License-Identifier: Apache-2.0
// Addresses of windows and arithmetic of ncclSymPtr (contract 6).
#include <gtest/gtest.h>

#include "unit/hand_made_ranks.h"

namespace anygin::testing {
namespace {

TEST(NcclPointer, peers_of_the_lsa_team_have_addresses_and_others_none) {
  NcclRanks ranks({.ranks = 6, .lsa_size = 3});
  const ncclWindow_t window = ranks.window(4);  // lsaRank 1 of node 1
  EXPECT_EQ(ncclGetLocalPointer(window, 8), ranks.buffer(4) + 8);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(ncclGetLsaPointer(window, 16, i), ranks.buffer(3 + i) + 16);
  EXPECT_EQ(ncclGetLsaPointer(window, 0, 3), nullptr);
  EXPECT_EQ(ncclGetLsaPointer(window, 0, -1), nullptr);
  // covers: ncclGetPeerPointer(world)
  EXPECT_EQ(ncclGetPeerPointer(window, 24, 5), ranks.buffer(5) + 24);
  EXPECT_EQ(ncclGetPeerPointer(window, 24, 2), nullptr);
  const ncclDevComm comm = ranks.comm(4, nullptr);
  // covers: ncclGetPeerPointer(ncclTeam)
  EXPECT_EQ(ncclGetPeerPointer(window, 0, ncclTeamLsa(comm), 0), ranks.buffer(3));
  EXPECT_EQ(ncclGetPeerPointer(window, 0, ncclTeamWorld(comm), 5), ranks.buffer(5));
  EXPECT_EQ(ncclGetPeerPointer(window, 0, ncclTeamRail(comm), 0), nullptr);
  EXPECT_EQ(ncclGetLsaMultimemPointer(window, 0, comm), nullptr);
}

TEST(NcclPointer, multicast_addresses_are_base_place_and_offset) {
  NcclRanks ranks({});
  const ncclWindow_t window = ranks.window(0);
  ncclDevComm comm = ranks.comm(0, nullptr);
  char* const base = reinterpret_cast<char*>(uintptr_t{1} << 40);
  comm.lsaMultimem.mcBasePtr = base;
  EXPECT_EQ(ncclGetLsaMultimemPointer(window, 8, comm), nullptr) << "the window has no place";
  window->mcOffset4K = 1u << 20;
  EXPECT_EQ(ncclGetLsaMultimemPointer(window, 8, comm), base + (size_t{1} << 32) + 8);
  EXPECT_EQ(ncclGetMultimemPointer(window, 0, ncclMultimemHandle{base + 4096}), base + (size_t{1} << 32) + 4096);
  EXPECT_EQ(ncclGetMultimemPointer(window, 0, ncclMultimemHandle{nullptr}), nullptr);
  EXPECT_EQ(ncclSymPtr<int>(window, 16).lsaMultimemPtr(comm), reinterpret_cast<int*>(base + (size_t{1} << 32) + 16));
}

TEST(NcclPointer, resources_lie_at_128_times_their_handle) {
  NcclRanks ranks({.ranks = 2, .lsa_size = 2});
  const ncclDevComm comm = ranks.comm(0, nullptr);
  char* const base = static_cast<char*>(ncclGetLocalPointer(comm.resourceWindow, 0));
  EXPECT_EQ(ncclGetResourceBufferOffset(3), 384u);
  EXPECT_EQ(ncclGetResourceBufferLocalPointer(comm, 3), base + 384);
  EXPECT_EQ(ncclGetResourceBuffer(comm, 3).localPtr(), base + 384);
  EXPECT_EQ(ncclGetResourceBufferLsaPointer(comm, 1, 1), ncclGetLsaPointer(comm.resourceWindow, 128, 1));
  EXPECT_EQ(ncclGetResourceBufferPeerPointer(comm, 1, ncclTeamWorld(comm), 1),
            ncclGetLsaPointer(comm.resourceWindow, 128, 1));
}

TEST(NcclPointer, find_window_knows_every_table_and_ends_without_a_match) {
  NcclRanks ranks({});
  static ncclDevCommWindowTable second{};
  static ncclDevCommWindowTable first{};
  first.next = &second;
  second.entries[31] = {reinterpret_cast<uintptr_t>(ranks.buffer(0)), NcclRanks::kWindowBytes, ranks.window(0)};
  ncclDevComm comm = ranks.comm(0, nullptr);
  comm.windowTable = &first;
  const char* const base = ranks.buffer(0);
  EXPECT_EQ(ncclFindWindow(ncclCoopThread{}, comm, base), second.entries[31].window);
  EXPECT_EQ(ncclFindWindow(ncclCoopThread{}, comm, base + NcclRanks::kWindowBytes - 1), second.entries[31].window);
  EXPECT_EQ(ncclFindWindow(ncclCoopThread{}, comm, base + NcclRanks::kWindowBytes), nullptr);
  EXPECT_EQ(ncclFindWindow(ncclCoopThread{}, comm, nullptr), nullptr);
}

TEST(NcclSymPtr, arithmetic_is_in_elements) {
  NcclRanks ranks({});
  const ncclWindow_t window = ranks.window(0);
  const ncclSymPtr<int> p(window, 100);
  // covers: ncclSymPtr.operator(+); ncclSymPtr.operator(-)
  EXPECT_EQ((p + 3).offset, 112u);
  EXPECT_EQ((p - 3u).offset, 88u);
  EXPECT_EQ((p + size_t{5} - 2l).offset, 112u);
  EXPECT_EQ((p + -3ll).offset, 88u);
  ncclSymPtr<int> q = p;
  // covers: ncclSymPtr.operator(+=); ncclSymPtr.operator(- of two); ncclSymPtr.operator(-=)
  q += 7ull;
  EXPECT_EQ(q - p, 7);
  EXPECT_EQ(p - q, -7);
  q -= 7;
  // covers: ncclSymPtr.operator(==); ncclSymPtr.operator(!=)
  EXPECT_TRUE(p == q);
  EXPECT_TRUE(p != q + 1);
  EXPECT_TRUE(p != ncclSymPtr<int>(nullptr, 100));
  // covers: ncclSymPtr.operator(= of another type)
  const ncclSymPtr<double> as_double = p;
  EXPECT_EQ(as_double.offset, 100u);
  EXPECT_EQ((as_double + 1).offset, 108u);
  EXPECT_EQ(ncclSymPtr<char>().window, nullptr);
  EXPECT_EQ((p + 1).localPtr(), reinterpret_cast<int*>(ranks.buffer(0) + 104));
  EXPECT_EQ(p.lsaPtr(1), reinterpret_cast<int*>(ranks.buffer(1) + 100));
  // covers: ncclSymPtr.peerPtr(world)
  EXPECT_EQ(p.peerPtr(1), reinterpret_cast<int*>(ranks.buffer(1) + 100));
  int value = 0;
  EXPECT_EQ(ncclSymPtr<int>(nullptr, reinterpret_cast<size_t>(&value)).localPtr(), &value);
}

}  // namespace
}  // namespace anygin::testing
