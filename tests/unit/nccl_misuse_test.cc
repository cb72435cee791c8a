// SPDX-License-Identifier: Apache-2.0
// Misuse of ncclGin is named with its limit, and nothing reaches the NIC (M1, M3, M6, M12, M13, M14). Each case stands
// beside the same call with that one field corrected.
#include <functional>
#include <optional>
#include <ostream>

#include "anygin/base/multimem.h"
#include "nccl_device/reduce_copy.h"
#include "support/reaches.h"
#include "unit/nccl_gin_rig.h"

namespace anygin::testing {
namespace {

struct Fields {
  std::optional<ncclTeam> team;  // instead of the world's
  int peer = 1;
  size_t destination = 0, source = 0, bytes = 64;
  uint32_t signal = 0, counter = 0;
  ncclWindow_t window = nullptr;
  size_t place = 64;
  int bits = 64;
};

struct Case {
  const char* name;
  const char* report;  // as a regular expression
  std::function<void(NcclRanks&, ncclDevComm&, Fields&)> spoil;
  std::function<void(const ncclGin&, ncclTeam, const Fields&)> call;
};
std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.name;
}

void put(const ncclGin& gin, ncclTeam team, const Fields& f) {
  gin.put(team, f.peer, f.window, f.destination, f.window, f.source, f.bytes, ncclGin_WeakSignalInc{f.signal},
          ncclGin_WeakCounterInc{f.counter});
}
void strong(const ncclGin& gin, ncclTeam team, const Fields& f) {
  gin.signal(f.team.value_or(team), f.peer, ncclGin_StrongSignalInc{f.signal});
}
void va(const ncclGin& gin, ncclTeam team, const Fields& f) {
  gin.signal(team, f.peer, ncclGin_WeakVASignalInc{f.window, f.place});
}
void get(const ncclGin& gin, ncclTeam team, const Fields& f) {
  gin.get(team, f.peer, f.window, f.source, f.window, f.destination, f.bytes);
}

// The caller and rank 2.
void connect_two(NcclRanks& ranks, ncclDevComm&, Fields&) {
  static constexpr uint32_t kConnected[] = {0b0101};
  ranks.view().connected = kConnected;
}

const Case kCases[] = {
    {"peer_too_high", REACHES_REPORT(GIN_ERR_KERNEL_PEER, "ncclGin::put by rank 0.*peer 4 .*peers are 0 to 3"),
     [](NcclRanks&, ncclDevComm&, Fields& f) { f.peer = 4; }, put},
    {"peer_negative", REACHES_REPORT(GIN_ERR_KERNEL_PEER, "peer -1 "),
     [](NcclRanks&, ncclDevComm&, Fields& f) { f.peer = -1; }, put},
    {"team_outside_the_communicator",
     REACHES_REPORT(GIN_ERR_KERNEL_PEER, "peer 1 of the team's 2 would be rank -2 of the communicator, which has none"),
     [](NcclRanks&, ncclDevComm&, Fields& f) {
       f.team = ncclTeam{2, 0, -2};
     },
     strong},
    {"team_of_nobody", "peer 1 .*is outside the team; the team has no ranks",
     [](NcclRanks&, ncclDevComm&, Fields& f) {
       f.team = ncclTeam{0, 0, 1};
     },
     strong},
    {"peer_off_rail", REACHES_REPORT(GIN_ERR_KERNEL_PEER_OFF_RAIL, "rank 1 is not on the caller's rail"),
     [](NcclRanks&, ncclDevComm& comm, Fields&) { comm.ginContextsRailed = true; }, put},
    {"peer_unconnected", REACHES_REPORT(GIN_ERR_KERNEL_PEER_UNCONNECTED, "rank 1 is not connected"), connect_two, put},
    {"get_unconnected", "rank 1 is not connected", connect_two, get},
    {"null_window", REACHES_REPORT(GIN_ERR_KERNEL_WINDOW_NULL, "the window is NULL"),
     [](NcclRanks&, ncclDevComm&, Fields& f) { f.window = nullptr; }, put},
    {"deregistered_window", REACHES_REPORT(GIN_ERR_KERNEL_WINDOW_DEAD, "not registered"),
     [](NcclRanks&, ncclDevComm&, Fields& f) { f.window->communicator = f.window->live = 0; }, put},
    {"foreign_window", REACHES_REPORT(GIN_ERR_KERNEL_WINDOW_FOREIGN, "another communicator"),
     [](NcclRanks&, ncclDevComm&, Fields& f) { f.window->communicator = 78; }, put},
    {"destination_end",
     REACHES_REPORT(GIN_ERR_KERNEL_DESTINATION,
                    "to rank 1: destination offset 4033 \\+ 64 bytes lies outside the window of 4096 bytes"),
     [](NcclRanks&, ncclDevComm&, Fields& f) { f.destination = 4033; }, put},
    {"destination_wraps", "destination offset",
     [](NcclRanks&, ncclDevComm&, Fields& f) { f.destination = ~size_t{0} - 8; }, put},
    {"smaller_target", "destination offset 0 \\+ 64 bytes lies outside the window of 63 bytes",
     [](NcclRanks& ranks, ncclDevComm&, Fields&) { ranks.set_size(1, 63); }, put},
    {"source_end", REACHES_REPORT(GIN_ERR_KERNEL_SOURCE, "source offset 4096 \\+ 64"),
     [](NcclRanks&, ncclDevComm&, Fields& f) { f.source = 4096; }, put},
    {"signal_index", REACHES_REPORT(GIN_ERR_KERNEL_SIGNAL_INDEX, "signal 24 is beyond the 24 granted; ids are 0 to 23"),
     [](NcclRanks&, ncclDevComm&, Fields& f) { f.signal = 24; }, put},
    {"counter_index", REACHES_REPORT(GIN_ERR_KERNEL_COUNTER_INDEX, "counter 8 is beyond the 8 granted"),
     [](NcclRanks&, ncclDevComm&, Fields& f) { f.counter = 8; }, put},
    {"strong_without", REACHES_REPORT(GIN_ERR_KERNEL_STRONG_SIGNAL, "strong signal .*ginStrongSignalsRequired"),
     [](NcclRanks&, ncclDevComm& comm, Fields&) { comm.ginStrongLegacySignals = false; }, strong},
    {"va_without", REACHES_REPORT(GIN_ERR_KERNEL_VA_SIGNAL, "ginVaSignalsRequired"),
     [](NcclRanks& ranks, ncclDevComm&, Fields&) { ranks.view().vaSignals = false; }, va},
    {"put_segment_tag",
     REACHES_REPORT(GIN_ERR_KERNEL_SEGMENT_TAG, "host memory on some rank.*pass ncclGin_SegmentMixed"),
     [](NcclRanks&, ncclDevComm&, Fields& f) { f.window->flags |= kAnyginWindowHostMemory; }, put},
    {"get_segment_tag", "ncclGin::get.*host memory on some rank",
     [](NcclRanks&, ncclDevComm&, Fields& f) { f.window->flags |= kAnyginWindowHostMemory; }, get},
    {"va_unordered", REACHES_REPORT(GIN_ERR_KERNEL_SIGNAL_UNORDERED, "NCCL_WIN_STRICT_ORDERING"),
     [](NcclRanks&, ncclDevComm&, Fields& f) { f.window->flags = 1; }, va},
    {"va_misaligned", REACHES_REPORT(GIN_ERR_KERNEL_SIGNAL_MISALIGNED, "signal offset 68 is not a multiple of 8"),
     [](NcclRanks&, ncclDevComm&, Fields& f) { f.place = 68; }, va},
    {"va_range", REACHES_REPORT(GIN_ERR_KERNEL_SIGNAL_BOUNDS, "signal offset 4096 \\+ 8 bytes"),
     [](NcclRanks&, ncclDevComm&, Fields& f) { f.place = 4096; }, va},
    {"get_remote_end", "ncclGin::get by rank 0.*source offset 4096",
     [](NcclRanks&, ncclDevComm&, Fields& f) { f.source = 4096; }, get},
    {"get_local_end", "destination offset 4096", [](NcclRanks&, ncclDevComm&, Fields& f) { f.destination = 4096; },
     get},
    {"no_gin", REACHES_REPORT(GIN_ERR_KERNEL_NO_CONTEXTS, "no GIN contexts"),
     [](NcclRanks&, ncclDevComm& comm, Fields&) { comm.ginConnectionCount = 0; }, put},
    {"destroyed_communicator", REACHES_REPORT(GIN_ERR_KERNEL_DEVCOMM_DEAD, "destroyed"),
     [](NcclRanks& ranks, ncclDevComm&, Fields&) { ranks.view().communicator = 0; }, put},
    {"reserved_signal", REACHES_REPORT(GIN_ERR_KERNEL_SIGNAL_RESERVED, "signal 0 .*belongs to a barrier"),
     [](NcclRanks& ranks, ncclDevComm&, Fields&) { ranks.view().reservedSignalEnd = 1; }, put},
    {"bits", REACHES_REPORT(GIN_ERR_KERNEL_BITS, "a comparison of 65 bits; bits are 1 to 64"),
     [](NcclRanks&, ncclDevComm&, Fields& f) { f.bits = 65; },
     [](const ncclGin& gin, ncclTeam team, const Fields& f) {
       gin.readSignal(f.signal, f.bits);
       put(gin, team, f);
     }},
    {"read_signal_index", "ncclGin::readSignal by rank 0.*signal 24 ",
     [](NcclRanks&, ncclDevComm&, Fields& f) { f.signal = 24; },
     [](const ncclGin& gin, ncclTeam team, const Fields& f) {
       gin.readSignal(f.signal);
       put(gin, team, f);
     }},
};

class NcclMisuse : public NcclGinRig, public ::testing::WithParamInterface<Case> {
 protected:
  Fields fields() {
    Fields f;
    f.window = ordered_;
    return f;
  }
};

TEST_P(NcclMisuse, the_corrected_call_is_posted) {
  const ncclGin gin(comm_, 0);
  GetParam().call(gin, ncclTeamWorld(comm_), fields());
  EXPECT_EQ(posted().size(), 1u);
}

TEST_P(NcclMisuse, is_named_before_anything_leaves) {
  Fields f = fields();
  GetParam().spoil(ranks_, comm_, f);
  const ncclGin gin(comm_, 0);
  EXPECT_DEATH(GetParam().call(gin, ncclTeamWorld(comm_), f), GetParam().report);
  EXPECT_TRUE(posted().empty());
}

INSTANTIATE_TEST_SUITE_P(All, NcclMisuse, ::testing::ValuesIn(kCases),
                         [](const auto& param) { return std::string(param.param.name); });

// Sessions over loads and stores, and multicast addresses.
class NcclSessionMisuse : public NcclGinRig {
 protected:
  void lsa_barrier(ncclTeam team, uint32_t index, bool multimem = false) {
    const ncclCoopThread one;
    ncclLsaBarrierSession<ncclCoopThread> session(one, comm_, team, comm_.lsaBarrier, index, multimem);
  }
};

TEST_F(NcclSessionMisuse, is_named) {
  lsa_barrier(ncclTeamLsa(comm_), 1);
  EXPECT_DEATH(lsa_barrier(ncclTeamLsa(comm_), 2), REACHES_REPORT(GIN_ERR_KERNEL_BARRIER_INDEX, "barrier index 2 "));
  EXPECT_DEATH(lsa_barrier(ncclTeamWorld(comm_), 1), REACHES_REPORT(GIN_ERR_KERNEL_PEER_OFF_LSA, "LSA rank 3"));
  EXPECT_DEATH(lsa_barrier(ncclTeamLsa(comm_), 1, true),
               REACHES_REPORT(GIN_ERR_KERNEL_MULTICAST_TEAM, "reaches 0 of the team's 2 ranks"));
  EXPECT_DEATH(
      {
        ncclLLA2ASession<ncclCoopThread> session(ncclCoopThread{}, comm_, ncclTeamLsa(comm_), {0, 1}, 0, 1);
        session.send(0, 1, 7u);
      },
      REACHES_REPORT(GIN_ERR_KERNEL_SLOT, "slot 1 of 1"));
  comm_.resourceWindow = nullptr;
  EXPECT_DEATH(lsa_barrier(ncclTeamLsa(comm_), 1), REACHES_REPORT(GIN_ERR_KERNEL_NO_RESOURCES, "no barriers"));
}

TEST_F(NcclSessionMisuse, of_multicast_addresses_is_named) {
  alignas(16) __half from[16] = {}, first[16] = {}, second[16] = {};
  char* const place = reserve_multimem(4096);
  ASSERT_NE(place, nullptr);
  char* const replicas[] = {reinterpret_cast<char*>(first), reinterpret_cast<char*>(second)};
  map_multimem(place, sizeof(first), replicas);
  auto* const both = reinterpret_cast<__half*>(place);
  from[7] = __float2half(3);
  ncclMultimemCopy(ncclCoopThread{}, from, both, 8);
  EXPECT_EQ(__half2float(first[7]), 3);
  EXPECT_EQ(__half2float(second[7]), 3);
  EXPECT_DEATH(ncclMultimemCopy(ncclCoopThread{}, from, both, 9),
               REACHES_REPORT(GIN_ERR_KERNEL_MULTICAST_NARROW, "1 elements of fewer than 4 bytes"));
  EXPECT_DEATH(ncclMultimemCopy(ncclCoopThread{}, from, first, 8),
               REACHES_REPORT(GIN_ERR_KERNEL_MULTICAST_ADDRESS, "16 bytes at what is no multicast address"));
  unmap_multimem(place);
  release_multimem(place, 4096);
}

class CountingListener final : public MisuseListener {
 public:
  bool on_misuse(const Misuse& misuse, const char* text) override {
    std::fprintf(stderr, "listener: kind %d, %s\n", static_cast<int>(misuse.kind), text);
    return true;
  }
};

class NcclMisuseListener : public NcclGinRig {};

TEST_F(NcclMisuseListener, hears_the_report) {
  CountingListener listener;
  ranks_.view().misuseSink = static_cast<MisuseListener*>(&listener);
  const ncclGin gin(comm_, 0);
  EXPECT_DEATH(gin.resetCounter(99), "listener: kind " + std::to_string(static_cast<int>(MisuseKind::kCounterIndex)) +
                                         ", ncclGin's counter by rank 0, context 0: counter 99");
}

TEST_F(NcclMisuseListener, the_place_is_in_the_callers_code) {
  const ncclGin gin(comm_, 0);
  EXPECT_DEATH(gin.resetCounter(99), "at nccl_misuse_test.cc:" + std::to_string(__LINE__));
}

}  // namespace
}  // namespace anygin::testing
