// SPDX-License-Identifier: Apache-2.0
// `anygin perf` prints its table, ranks as threads and as processes; its figures are not judged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <sstream>

#include "compile/command_runner.h"

namespace anygin {
namespace {

using ::testing::HasSubstr;

struct Row {
  std::string operation;
  long bytes = 0, turns = 0;
  double median = 0, least = 0, most = 0, rate = 0, bandwidth = 0;
};

std::vector<Row> rows_of(const std::string& table) {
  std::vector<Row> rows;
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) {
    Row row;
    std::istringstream in(line);
    if (line.rfind('#', 0) == 0) continue;
    if (in >> row.operation >> row.bytes >> row.turns >> row.median >> row.least >> row.most >> row.rate >>
        row.bandwidth)
      rows.push_back(row);
  }
  return rows;
}

class PerfCommand : public ::testing::TestWithParam<std::string> {};

TEST_P(PerfCommand, prints_a_row_for_each_operation_and_size) {
  const CommandResult run = run_command(ANYGIN_TOOL " perf --min 8 --max 128 --turns 3 " + GetParam(), 18);
  ASSERT_EQ(run.code, 0) << run.output;
  EXPECT_THAT(run.output,
              HasSubstr("# anygin perf: target cpu, backend proxy, NIC emu, fabric direct, profile inorder; 2 "
                        "ranks as " +
                        std::string(GetParam().empty() ? "threads" : "processes")));
  std::vector<std::string> names;
  for (const Row& row : rows_of(run.output)) {
    names.push_back(row.operation + " " + std::to_string(row.bytes));
    EXPECT_EQ(row.turns, 3);
    EXPECT_GT(row.least, 0);
    EXPECT_LE(row.least, row.median);
    EXPECT_LE(row.median, row.most);
    EXPECT_GT(row.rate, 0);
    EXPECT_EQ(row.bandwidth > 0, row.bytes > 0);
  }
  EXPECT_THAT(names, ::testing::ElementsAre("signal 0", "putValue+signal 8", "put+signal 8", "put+signal 32",
                                            "put+signal 128", "get+flush 8", "get+flush 32", "get+flush 128"))
      << run.output;
}

INSTANTIATE_TEST_SUITE_P(placements, PerfCommand, ::testing::Values("", "--procs"),
                         [](const auto& placement) { return placement.param.empty() ? "threads" : "processes"; });

TEST(PerfCommandUsage, says_what_would_be_right) {
  const CommandResult sizes = run_command(ANYGIN_TOOL " perf --min 64 --max 8", 18);
  EXPECT_EQ(sizes.code, 2) << sizes.output;
  EXPECT_THAT(sizes.output, HasSubstr("--min 64 --max 8: the first is to be the smaller"));
  const CommandResult turns = run_command(ANYGIN_TOOL " perf --turns 0", 18);
  EXPECT_EQ(turns.code, 2) << turns.output;
}

}  // namespace
}  // namespace anygin
