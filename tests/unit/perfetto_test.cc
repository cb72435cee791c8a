// SPDX-License-Identifier: Apache-2.0
// The event stream is read back, and becomes a picture with lanes and arrows.
#include "perfetto.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace anygin::tools {
namespace {

using ::testing::HasSubstr;

constexpr const char* kEvents = R"({"anygin_trace":1,"pid":5}
{"t":1000000,"kind":"launch","context":1,"operation":9,"bytes":1,"value":1,"grid":2}
{"t":2000000,"kind":"lane_start","context":1,"grid":2}
{"t":3000000,"kind":"wait_begin","rank":1,"operation":1,"heap":1,"offset":64,"value":1,"grid":2}
{"t":4000000,"kind":"source_read","rank":0,"peer":1,"context":2,"operation":2,"heap":1,"offset":128,"bytes":8}
{"t":5000000,"kind":"visible","rank":1,"peer":0,"context":1,"operation":2,"heap":1,"offset":256,"bytes":8}
{"t":6000000,"kind":"signal","rank":1,"peer":0,"context":1,"operation":3,"heap":1,"offset":64,"bytes":8,"value":1}
{"t":7000000,"kind":"wait_end","rank":1,"operation":1,"heap":1,"offset":64,"value":1,"grid":2}
{"t":8000000,"kind":"lane_exit","context":1,"grid":2}
)";

TEST(Perfetto, EventsAreReadBack) {
  Result<std::vector<FileEvent>> events = read_events(kEvents);
  ASSERT_TRUE(events.ok()) << events.status().message();
  ASSERT_EQ(events->size(), 8u);
  EXPECT_EQ((*events)[3].kind, "source_read");
  EXPECT_EQ((*events)[3].time_ps, 4000000u);
  EXPECT_EQ((*events)[3].rank, 0);
  EXPECT_EQ((*events)[3].peer, 1);
  EXPECT_EQ((*events)[3].offset, 128u);
  EXPECT_EQ((*events)[0].rank, -1);
  EXPECT_FALSE(read_events("{\"t\":1}\nnonsense\n").ok());
  EXPECT_FALSE(read_events("{\"t\":x}\n").ok());
}

TEST(Perfetto, BlocksWaitsAndNicsHaveLanesAndASignalPointsAtItsWait) {
  const std::string picture = to_perfetto(*read_events(kEvents));
  EXPECT_THAT(picture, HasSubstr(R"("name":"process_name","pid":2,"tid":0,"args":{"name":"rank 1"})"));
  EXPECT_THAT(picture, HasSubstr(R"("name":"waitSignal -> 1","ts":3.0000,"dur":4.0000)"));
  EXPECT_THAT(picture, HasSubstr(R"("name":"block","ts":2.0000,"dur":6.0000)"));
  EXPECT_THAT(picture, HasSubstr("8 bytes visible from 0"));
  EXPECT_THAT(picture, HasSubstr("signal from 0: 1"));
  size_t starts = 0, ends = 0;
  for (size_t at = 0; (at = picture.find("\"ph\":\"s\"", at)) != std::string::npos; ++at) ++starts;
  for (size_t at = 0; (at = picture.find("\"ph\":\"f\"", at)) != std::string::npos; ++at) ++ends;
  EXPECT_EQ(starts, 2u);  // source to signal, signal to wait
  EXPECT_EQ(ends, 2u);
}

}  // namespace
}  // namespace anygin::tools
