// SPDX-License-Identifier: Apache-2.0
// `anygin perf` prints its tables and writes its files, ranks as threads and as processes; its figures are not judged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "compile/command_runner.h"

namespace anygin {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// A line of a table: what it is of, then its figures.
struct Row {
  std::string operation;
  int ranks = 0, threads = 0, contexts = 0;
  long bytes = 0, turns = 0;
  std::vector<double> figures;  // median, least, most of the first quantity, then the others
};

// Operations may be of two words.
Row row_of(const std::string& line) {
  Row row;
  const size_t name_ends = line.find("  ");
  row.operation = line.substr(0, name_ends);
  std::istringstream in(name_ends == std::string::npos ? "" : line.substr(name_ends));
  in >> row.ranks >> row.threads >> row.contexts >> row.bytes >> row.turns;
  for (double figure = 0; in >> figure;) row.figures.push_back(figure);
  return row;
}

std::vector<Row> rows_of(const std::string& table) {
  std::vector<Row> rows;
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && line[0] != '#') rows.push_back(row_of(line));
  }
  return rows;
}

CommandResult perf(const std::string& arguments) {
  return run_command(ANYGIN_TOOL " perf " + arguments, 18);
}

std::string text_of(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

// What a row is about, e.g. "put+signal 2x1x1 32".
std::vector<std::string> subjects_of(const CommandResult& run, size_t figures) {
  std::vector<std::string> subjects;
  for (const Row& row : rows_of(run.output)) {
    std::ostringstream subject;
    subject << row.operation << ' ' << row.ranks << 'x' << row.threads << 'x' << row.contexts << ' ' << row.bytes;
    subjects.push_back(subject.str());
    EXPECT_EQ(row.figures.size(), figures) << run.output;
    if (row.figures.size() < 3) continue;
    EXPECT_GT(row.figures[1], 0) << run.output;
    EXPECT_LE(row.figures[1], row.figures[0]) << run.output;
    EXPECT_LE(row.figures[0], row.figures[2]) << run.output;
  }
  return subjects;
}

class PerfCommand : public ::testing::TestWithParam<std::string> {};

TEST_P(PerfCommand, prints_a_row_for_each_operation_and_size) {
  const CommandResult run = perf("--min 8 --max 128 --turns 3 " + GetParam());
  ASSERT_EQ(run.code, 0) << run.output;
  EXPECT_THAT(run.output, HasSubstr("# anygin perf: target cpu, backend proxy, NIC emu, fabric direct, profile "
                                    "inorder; ranks as " +
                                    std::string(GetParam().empty() ? "threads" : "processes")));
  EXPECT_THAT(run.output, HasSubstr("us median"));
  EXPECT_THAT(subjects_of(run, 5),
              ElementsAre("signal 2x1x1 0", "putValue+signal 2x1x1 8", "put+signal 2x1x1 8", "put+signal 2x1x1 32",
                          "put+signal 2x1x1 128", "get+flush 2x1x1 8", "get+flush 2x1x1 32", "get+flush 2x1x1 128"))
      << run.output;
}

TEST_P(PerfCommand, measures_barriers_by_ranks) {
  const CommandResult run = perf("barrier --ranks 2,3 --turns 20 " + GetParam());
  ASSERT_EQ(run.code, 0) << run.output;
  EXPECT_THAT(subjects_of(run, 3), ElementsAre("network 2x32x1 0", "hybrid 2x32x1 0", "node 2x32x1 0",
                                               "network 3x32x1 0", "hybrid 3x32x1 0", "node 3x32x1 0"))
      << run.output;
}

TEST_P(PerfCommand, measures_an_all_to_all_and_a_ring_of_sends_by_size) {
  const CommandResult run = perf("alltoall sendrecv --ranks 3 --min 8 --max 5000 --turns 2 " + GetParam());
  ASSERT_EQ(run.code, 0) << run.output;
  EXPECT_THAT(subjects_of(run, 4),
              ElementsAre("put 3x32x1 8", "put 3x32x1 32", "put 3x32x1 128", "put 3x32x1 512", "put 3x32x1 2048",
                          "put 3x32x1 5000", "ring 3x1x1 8", "ring 3x1x1 32", "ring 3x1x1 128", "ring 3x1x1 512",
                          "ring 3x1x1 2048", "ring 3x1x1 5000"))
      << run.output;
}

TEST_P(PerfCommand, measures_a_mixture_of_experts_by_both_ways) {
  const CommandResult run = perf("moe --ranks 2 --tokens 128 --turns 200 " + GetParam());
  ASSERT_EQ(run.code, 0) << run.output;
  EXPECT_THAT(run.output, HasSubstr("Mtoken/s"));
  EXPECT_THAT(run.output, HasSubstr("CPU us/token"));
  EXPECT_THAT(subjects_of(run, 6), ElementsAre("kernels route 2x128x16 256", "host routes 2x128x16 256")) << run.output;
}

INSTANTIATE_TEST_SUITE_P(placements, PerfCommand, ::testing::Values("", "--procs"),
                         [](const auto& placement) { return placement.param.empty() ? "threads" : "processes"; });

TEST(PerfCommandRate, has_a_row_for_each_number_of_threads_and_contexts) {
  const CommandResult run = perf("rate --threads 1,40 --contexts 1,3 --turns 80");
  ASSERT_EQ(run.code, 0) << run.output;
  EXPECT_THAT(subjects_of(run, 3), ElementsAre("put 2x1x1 8", "put 2x40x1 8", "put 2x1x3 8", "put 2x40x3 8"))
      << run.output;
}

TEST(PerfCommandFiles, hold_values_line_by_line_and_curves) {
  const std::string csv = ::testing::TempDir() + "anygin_perf.csv", svg = ::testing::TempDir() + "anygin_perf.svg";
  const CommandResult run =
      perf("rate barrier --ranks 2 --threads 1,4 --contexts 2 --turns 10 --csv " + csv + " --svg " + svg);
  ASSERT_EQ(run.code, 0) << run.output;
  std::istringstream lines(text_of(csv));
  std::vector<std::string> subjects;
  for (std::string line; std::getline(lines, line);) {
    size_t at = 0;  // the figures are left out
    for (int comma = 0; comma < 8; ++comma) at = line.find(',', at) + 1;
    subjects.push_back(line.substr(0, at));
    EXPECT_EQ(std::count(line.begin(), line.end(), ','), 10) << line;
  }
  EXPECT_THAT(subjects,
              ElementsAre("test,operation,ranks,threads,contexts,bytes,turns,quantity,", "rate,put,2,1,2,8,10,Mop/s,",
                          "rate,put,2,4,2,8,8,Mop/s,", "barrier,network,2,32,1,0,1,us,",
                          "barrier,hybrid,2,32,1,0,1,us,", "barrier,node,2,32,1,0,1,us,"));
  const std::string picture = text_of(svg);
  EXPECT_THAT(picture, StartsWith("<svg xmlns="));
  EXPECT_THAT(picture, EndsWith("</svg>\n"));
  for (const char* text : {">rate<", ">barrier<", ">2 contexts<", ">network<", ">Mop/s<"})
    EXPECT_THAT(picture, HasSubstr(text));
}

TEST(PerfCommandTable, is_read_line_by_line_and_a_wrong_one_is_named) {
  const std::string file = ::testing::TempDir() + "anygin_routing.csv";
  const auto run_with = [&](const std::string& lines) {
    std::ofstream(file) << "token,expert_a,weight_a,expert_b,weight_b\n" + lines;
    return perf("moe --ranks 2 --tokens 8 --turns 1 --table " + file);
  };
  EXPECT_EQ(run_with("0,3,9,15,7\n1,0,16,2,0\n").code, 0);
  for (const std::string bad : {"1,3,9,16,7", "1,-1,9,15,7", "1,3,9,3,7", "2,3,9,15,7", "1,3,9,15", "one", ""}) {
    const CommandResult run = run_with("0,3,9,15,7\n" + bad + "\n2,3,9,15,7\n");
    EXPECT_EQ(run.code, 2) << run.output;
    EXPECT_THAT(run.output,
                HasSubstr(file + ": line 3: token,expert,weight,expert,weight with two experts of 0 to 15"));
  }
  EXPECT_EQ(run_with("").code, 2);
}

struct Refused {
  const char* arguments;
  int code;
  const char* why;
};

void PrintTo(const Refused& refused, std::ostream* out) {
  *out << refused.arguments;
}

class PerfCommandUsage : public ::testing::TestWithParam<Refused> {};

TEST_P(PerfCommandUsage, says_what_would_be_right) {
  const CommandResult run = perf(GetParam().arguments);
  EXPECT_EQ(run.code, GetParam().code) << run.output;
  const size_t at = run.output.find(GetParam().why);
  ASSERT_NE(at, std::string::npos) << run.output;
  EXPECT_EQ(run.output.find(GetParam().why, at + 1), std::string::npos) << "said twice: " << run.output;
}

INSTANTIATE_TEST_SUITE_P(
    options, PerfCommandUsage,
    ::testing::Values(Refused{"--min 64 --max 8", 2, "--min 64 --max 8: the first is to be the smaller"},
                      Refused{"--max 2000000000", 2, "the second at most 1 GiB"},
                      Refused{"--turns 0", 2, "--turns 0: a number from 1 on would be right"},
                      Refused{"rate --threads 1,2000", 2, "--threads 1,2000: numbers from 1 to 1024 would be right"},
                      Refused{"rate --contexts 1,,2", 2, "--contexts : a number from 1 on would be right"},
                      Refused{"speed", 2, "speed not in {all,puts,rate,barrier,alltoall,moe,sendrecv}"},
                      Refused{"puts --ranks 4", 2, "puts on 4 ranks: 2 would be right"},
                      Refused{"--procs rate --ranks 3", 2, "rate on 3 ranks: 2 would be right"},
                      Refused{"moe --ranks 3", 2, "moe on 3 ranks: a divisor of 16 experts would be right"},
                      Refused{"moe --ranks 8 --tokens 7", 2, "--tokens 7: at least one a rank would be right"},
                      Refused{"moe --table /nowhere/t.csv", 2, "/nowhere/t.csv: no such file"},
                      Refused{"--csv /nowhere/p.csv", 3, "cannot write /nowhere/p.csv: No such file or directory"},
                      Refused{"--svg /nowhere/p.svg", 3, "cannot write /nowhere/p.svg: No such file or directory"}),
    [](const auto& refused) { return "case_" + std::to_string(refused.index); });

}  // namespace
}  // namespace anygin
