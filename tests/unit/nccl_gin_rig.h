// SPDX-License-Identifier: Apache-2.0
// ncclGin on hand-made communicators over a proxy engine whose transport the test scripts. The host thread plays a
// kernel's thread 0.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/world_fixture.h"
#include "unit/hand_made_ranks.h"
#include "unit/proxy_rig.h"

namespace anygin::testing {

class NcclGinRig : public WorldFixture {
 protected:
  static constexpr NcclShape kShape{.ranks = 4, .lsa_size = 2};

  NcclGinRig()
      : ranks_(kShape),
        rig_({.ranks = kShape.ranks,
              .contexts = static_cast<uint32_t>(kShape.contexts),
              .signals = static_cast<uint32_t>(ranks_.total_signals()),
              .counters = static_cast<uint32_t>(kShape.counters)}),
        comm_(ranks_.comm(0, rig_.memory->kernel_views())),
        window_(ranks_.window(0)),
        ordered_(ranks_.window(0, 2, NCCL_WIN_COLL_SYMMETRIC | NCCL_WIN_STRICT_ORDERING)) {}

  void settle() { world_.test_executor().run_until_idle(); }
  // What the kernel has posted since the last look.
  std::vector<Op> posted() {
    settle();
    std::vector<Op> fresh(rig_.transport.posted.begin() + static_cast<ptrdiff_t>(seen_), rig_.transport.posted.end());
    seen_ = rig_.transport.posted.size();
    return fresh;
  }
  // As a NIC would: adds to a signal of rank 0.
  void add_signal(uint32_t id, uint64_t value, uint32_t context = 0) {
    rig_.signals[size_t{context} * static_cast<size_t>(ranks_.total_signals()) + id] += value;
  }

  NcclRanks ranks_;
  ProxyRig rig_;
  ncclDevComm comm_;
  ncclWindow_t window_, ordered_;

 private:
  size_t seen_ = 0;
};

}  // namespace anygin::testing
