// SPDX-License-Identifier: Apache-2.0
// `anygin conformance`: the matrix, its report, what it refuses; and its programs as ranks that others start.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "anygin/base/whole_file.h"
#include "compile/command_runner.h"
#include "conformance_matrix.h"
#include "junit.h"

namespace anygin::tools {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

CommandResult conformance(const std::string& options) {
  return run_command(ANYGIN_TOOL " conformance " + options, 18);
}
const char* const kProgram = ANYGIN_PREFIX_DIR "/libexec/anygin/conformance/conformance_signals";

TEST(ConformanceCommand, prints_a_row_for_the_line_and_a_column_for_each_arm) {
  const CommandResult run = conformance("--case P7 --arm '*/direct/relaxed/*'");
  EXPECT_EQ(run.code, 0) << run.output;
  EXPECT_EQ(run.output,
            "a  cpu/proxy/emu/direct/relaxed/threads\n"
            "b  cpu/proxy/emu/direct/relaxed/procs\n"
            "line          a     b\n"
            "P7            ok    ok\n"
            "2 runs of 1 cases on 2 arms: 2 passed, 0 failed, 0 not on their arm\n");
}

TEST(ConformanceCommand, says_where_a_case_does_not_run_and_why) {
  const CommandResult run = conformance("--case P29 --arm '*/relaxed/threads'");
  EXPECT_EQ(run.code, 0) << run.output;
  EXPECT_THAT(run.output, HasSubstr("P29           -     -\n"));
  EXPECT_THAT(run.output,
              HasSubstr("not on 2 arms: P29_a_host_put_of_more_than_a_gibibyte_is_one_signal: a gibibyte each time"));
  EXPECT_THAT(run.output, HasSubstr("0 runs of 1 cases on 2 arms: 0 passed, 0 failed, 2 not on their arm\n"));
}

TEST(ConformanceCommand, writes_a_report_of_each_run) {
  const std::string file = ::testing::TempDir() + "anygin_conformance" + std::to_string(getpid()) + ".xml";
  const CommandResult run = conformance("--case P7 --arm '*/direct/inorder/threads' --junit " + file);
  ASSERT_EQ(run.code, 0) << run.output;
  const Result<std::string> report = read_file(file);
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_THAT(*report, HasSubstr("<testsuite name=\"anygin conformance\" tests=\"1\" failures=\"0\" skipped=\"0\""));
  EXPECT_THAT(*report, HasSubstr("<testcase classname=\"cpu/proxy/emu/direct/inorder/threads\" "
                                 "name=\"P7_putValue_copies_at_the_call_and_writes_its_size_only\" time="));
  std::remove(file.c_str());
}

TEST(ConformanceCommand, a_case_that_fails_is_told_with_its_output_and_exit_code_1) {
  // A knob that no library knows ends the program before it starts.
  const CommandResult run = run_command(
      "env ANYGIN_NO_SUCH_KNOB=1 " ANYGIN_TOOL " conformance --case P7 --arm '*/direct/inorder/threads'", 18);
  EXPECT_EQ(run.code, 1) << run.output;
  EXPECT_THAT(run.output, HasSubstr("P7            FAIL\n"));
  EXPECT_THAT(run.output, HasSubstr("FAILED P7_putValue_copies_at_the_call_and_writes_its_size_only on "
                                    "cpu/proxy/emu/direct/inorder/threads: exit code 2"));
  EXPECT_THAT(run.output, HasSubstr("ANYGIN_NO_SUCH_KNOB"));
  EXPECT_THAT(run.output, HasSubstr("1 runs of 1 cases on 1 arms: 0 passed, 1 failed, 0 not on their arm"));
}

TEST(ConformanceCommand, lists_without_running) {
  const CommandResult run = conformance("--list");
  EXPECT_EQ(run.code, 0) << run.output;
  EXPECT_THAT(run.output, HasSubstr("arm  cpu/proxy/emu/sim/srd/threads\n"));
  EXPECT_THAT(run.output, HasSubstr("case P2_a_strong_signal_covers_earlier_puts (12 arms)\n"));
  EXPECT_THAT(run.output, HasSubstr("case P29_a_host_put_of_more_than_a_gibibyte_is_one_signal (2 arms)\n"));
}

TEST(ConformanceCommand, takes_a_case_by_its_first_words) {
  const CommandResult run = conformance("--list --case P2 --arm '*/sim/inorder/*'");
  EXPECT_EQ(run.output,
            "arm  cpu/proxy/emu/sim/inorder/threads\n"
            "case P2_a_strong_signal_covers_earlier_puts (1 arms)\n");
}

TEST(ConformanceCommand, says_what_is_missing) {
  const CommandResult hw = conformance("--nic hw");
  EXPECT_EQ(hw.code, 3) << hw.output;
  EXPECT_THAT(hw.output, HasSubstr("--nic hw: this AnyGIN drives the software NIC only"));
  const CommandResult unknown = conformance("--case P99");
  EXPECT_EQ(unknown.code, 2) << unknown.output;
  EXPECT_THAT(unknown.output, HasSubstr("no case matches 'P99'; --list shows all"));
  const CommandResult arm = conformance("--arm 'cpu/gdaki/*'");
  EXPECT_EQ(arm.code, 2) << arm.output;
  EXPECT_THAT(arm.output, HasSubstr("no arm matches 'cpu/gdaki/*'"));
#if !defined(ANYGIN_MUTANTS)
  const CommandResult mutants = conformance("--mutants");
  EXPECT_EQ(mutants.code, 3) << mutants.output;
  EXPECT_THAT(mutants.output, HasSubstr("./dev build --preset mutants"));
#endif
}

// --- Its programs are ranks like any others
// ----------------------------------------------------------------------------
TEST(ConformanceProgram, anygin_run_starts_its_ranks) {
  const CommandResult run =
      run_command(std::string(ANYGIN_TOOL " run -n 2 -- ") + kProgram + " P2_a_strong_signal_covers_earlier_puts", 18);
  EXPECT_EQ(run.code, 0) << run.output;
}

TEST(ConformanceProgram, srun_s_variables_start_its_ranks) {
  const std::string one = std::string("SLURM_STEP_NUM_TASKS=2 SLURM_LOCALID=$r SLURM_PROCID=$r ") + kProgram +
                          " P2_a_strong_signal_covers_earlier_puts";
  const CommandResult run = run_command(
      "bash -c 'export NCCL_COMM_ID=127.0.0.1:" + std::to_string(15000 + getpid() % 15000) +
          " ANYGIN_COMM_TOKEN=00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff; for r in 0 1; do " +
          one + " & ids+=($!); done; for id in ${ids[@]}; do wait $id || exit 1; done'",
      18);
  EXPECT_EQ(run.code, 0) << run.output;
}

TEST(ConformanceProgram, mpirun_starts_its_ranks) {
  if (std::system("command -v mpirun >/dev/null 2>&1") != 0) GTEST_SKIP() << "no mpirun on this machine";
  const CommandResult run = run_command(
      ANYGIN_OWN_TMPDIR " env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 NCCL_COMM_ID=127.0.0.1:" +
          std::to_string(15000 + getpid() % 15000) +
          " ANYGIN_COMM_TOKEN=00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff mpirun -n 2 " +
          kProgram + " P2_a_strong_signal_covers_earlier_puts",
      18);
  EXPECT_EQ(run.code, 0) << run.output;
}

TEST(ConformanceProgram, refuses_another_number_of_ranks) {
  const CommandResult run =
      run_command(std::string(ANYGIN_TOOL " run -n 3 -- ") + kProgram + " P2_a_strong_signal_covers_earlier_puts", 18);
  EXPECT_EQ(run.code, 2) << run.output;
  EXPECT_THAT(run.output, HasSubstr("P2_a_strong_signal_covers_earlier_puts is a case of 2 ranks, and 3 were started"));
}

// --- The table and the report by themselves
// -------------------------------------------------------------------------------
TEST(ConformanceMatrix, lines_are_in_the_order_of_their_numbers_and_one_failure_fails_the_cell) {
  ConformanceMatrix matrix({{"one"}, {"two"}});
  const ConformanceCase two{"", "P2_a"}, ten{"", "P10_P11_a"}, again{"", "P10_b"}, misuse{"", "M6_R_a"},
      scenario{"", "Scenario_O1_O2_a"};
  matrix.passed(ten, {"one"});
  matrix.failed(again, {"one"}, "exit code 1");
  matrix.passed(two, {"one"});
  matrix.passed(misuse, {"two"});
  matrix.not_here(scenario, {"two"}, "the reason");
  EXPECT_EQ(matrix.text(),
            "a  one\n"
            "b  two\n"
            "line          a     b\n"
            "M6·R          -     ok\n"
            "P2            ok    -\n"
            "P10           FAIL  -\n"
            "P11           ok    -\n"
            "scenario O1   -     -\n"
            "scenario O2   -     -\n"
            "FAILED P10_b on one: exit code 1\n"
            "not on 1 arm: Scenario_O1_O2_a: the reason\n");
  EXPECT_EQ(matrix.passes(), 3);
  EXPECT_EQ(matrix.failures(), 1);
  EXPECT_EQ(matrix.elsewhere(), 1);
}

TEST(JunitReport, counts_and_escapes) {
  const std::string report = junit_report("a<b>", {{"g", "passes", 0.5},
                                                   {"g", "fails", 1, {{"x \"y\"", "\x1b[1m<&\n"}}},
                                                   {"", "fails twice", 0, {{"a", ""}, {"b", "c"}}, "", 7},
                                                   {"g", "elsewhere", 0, {}, "why"}});
  EXPECT_EQ(report,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
            "<testsuite name=\"a&lt;b&gt;\" tests=\"10\" failures=\"3\" skipped=\"1\" time=\"1.500\">\n"
            "<testcase classname=\"g\" name=\"passes\" time=\"0.500\"/>\n"
            "<testcase classname=\"g\" name=\"fails\" time=\"1.000\"><failure message=\"x "
            "&quot;y&quot;\">?[1m&lt;&amp;\n</failure></testcase>\n"
            "<testcase name=\"fails twice\" time=\"0.000\"><failure message=\"a\"></failure>"
            "<failure message=\"b\">c</failure></testcase>\n"
            "<testcase classname=\"g\" name=\"elsewhere\" time=\"0.000\"><skipped message=\"why\"/></testcase>\n"
            "</testsuite>\n</testsuites>\n");
}

}  // namespace
}  // namespace anygin::tools
