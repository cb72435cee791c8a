// SPDX-License-Identifier: Apache-2.0
// What `anygin perf` wrote is read back and arranged: a chart for each test and quantity, a curve for each of what it
// compares.
#include "perf_charts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace anygin::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kHead = std::string(kPerfColumns) + "\n";
const std::string kTwo = kHead +
                         "puts,put+signal,2,1,1,8,2000,us,1.5,1,3\n"
                         "puts,put+signal,2,1,1,8,2000,GB/s,0.25,0.2,0.5\n"
                         "puts,put+signal,2,1,1,1024,500,us,2.5,2,4\n"
                         "puts,signal,2,1,1,0,2000,us,1,0.5,2\n"
                         "rate,put,2,32,4,8,1984,Mop/s,0.5,0.25,2\n";

TEST(PerfCharts, EveryMemberIsReadBack) {
  const Result<std::vector<PerfRow>> rows = read_perf_rows(kHead + "rate,put,2,32,4,8,1984,Mop/s,0.5,0.25,2e+06\n");
  ASSERT_TRUE(rows.ok()) << rows.status().message();
  ASSERT_EQ(rows->size(), 1u);
  const PerfRow& row = rows->front();
  EXPECT_EQ(row.test, "rate");
  EXPECT_EQ(row.operation, "put");
  EXPECT_THAT((std::vector<uint64_t>{row.ranks, row.threads, row.contexts, row.bytes, row.turns}),
              ElementsAre(2, 32, 4, 8, 1984));
  EXPECT_EQ(row.quantity, "Mop/s");
  EXPECT_THAT((std::vector<double>{row.median, row.least, row.most}), ElementsAre(0.5, 0.25, 2e6));
}

TEST(PerfCharts, ALineThatIsNoneIsNamed) {
  EXPECT_THAT(read_perf_rows("").status().message(), HasSubstr("line 1: ''"));
  EXPECT_THAT(read_perf_rows("a,b\n").status().message(), HasSubstr("line 1: 'a,b'"));
  const std::string good = "rate,put,2,32,4,8,1984,Mop/s,0.5,0.25,2";
  EXPECT_TRUE(read_perf_rows(kHead + good + "\n").ok());
  for (const std::string& bad :
       {std::string("rate,put,2"), good + ",7", std::string("rate,put,two,32,4,8,1984,Mop/s,0.5,0.25,2"),
        std::string("speed,put,2,32,4,8,1984,Mop/s,0.5,0.25,2"), std::string("rate,put,2,32,4,8,1984,Mop/s,,0.25,2")}) {
    EXPECT_THAT(read_perf_rows(kHead + good + "\n" + bad + "\n").status().message(),
                HasSubstr("line 3: '" + bad + "'"));
  }
}

TEST(PerfCharts, AreOneForEachTestAndQuantityInOrder) {
  const std::vector<Chart> charts = charts_of(*read_perf_rows(kTwo));
  ASSERT_EQ(charts.size(), 3u);
  EXPECT_EQ(charts[0].title + charts[0].y_label + charts[0].x_label, "putsusbytes");
  EXPECT_EQ(charts[1].title + charts[1].y_label + charts[1].x_label, "putsGB/sbytes");
  EXPECT_EQ(charts[2].title + charts[2].y_label + charts[2].x_label, "rateMop/sthreads");
  EXPECT_TRUE(charts[0].bytes);
  EXPECT_FALSE(charts[2].bytes);
  ASSERT_EQ(charts[0].curves.size(), 2u);
  EXPECT_EQ(charts[0].curves[0].first, "put+signal");
  const std::vector<ChartPoint>& points = charts[0].curves[0].second;
  ASSERT_EQ(points.size(), 2u);
  EXPECT_THAT((std::vector<double>{points[1].x, points[1].y, points[1].least, points[1].most}),
              ElementsAre(1024, 2.5, 2, 4));
  EXPECT_EQ(charts[2].curves[0].first, "4 contexts");
}

TEST(PerfCharts, APictureShowsWhatHasAPlace) {
  const std::string picture = charts_svg(charts_of(*read_perf_rows(kTwo)));
  EXPECT_THAT(picture, HasSubstr(">puts</text>"));
  EXPECT_THAT(picture, HasSubstr(">1 Ki</text>"));
  EXPECT_THAT(picture, HasSubstr(">threads</text>"));
  EXPECT_THAT(picture, HasSubstr("<title>put+signal: 2.5 at 1024, 2 to 4</title>"));
  EXPECT_THAT(picture, Not(HasSubstr(">signal")));  // of nothing: no place on a logarithmic axis
  EXPECT_THAT(picture, Not(HasSubstr("nan")));
  EXPECT_THAT(picture, Not(HasSubstr("inf")));
}

TEST(PerfCharts, APointLiesInProportionToItsLogarithm) {
  Chart chart;
  chart.curves = {{"a<b", {{1, 1, 1, 1}, {2, 10, 10, 10}, {4, 100, 100, 100}}}};
  const std::string picture = charts_svg({chart});
  EXPECT_THAT(picture, HasSubstr("points=\"76.0,286.0 302.0,172.0 528.0,58.0 \""));
  EXPECT_THAT(picture, HasSubstr(">a&lt;b</text>"));
}

TEST(PerfCharts, NoPointsAreAnEmptySheet) {
  Chart chart;
  chart.curves = {{"nothing", {{0, 0, 0, 0}}}};
  EXPECT_THAT(charts_svg({chart}), Not(HasSubstr("<circle")));
  EXPECT_THAT(charts_svg({}), HasSubstr("</svg>"));
}

}  // namespace
}  // namespace anygin::tools
