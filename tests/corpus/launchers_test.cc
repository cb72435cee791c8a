// SPDX-License-Identifier: Apache-2.0
// An example of the tree, started as other launchers start it: their variables and nothing else of ours.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "compile/command_runner.h"

namespace anygin {
namespace {

using ::testing::HasSubstr;

// Two processes with `variables`, in which @ is the rank; each says that its part is right.
CommandResult run_two(const std::string& variables) {
  std::string script;
  for (const char* rank : {"0", "1"}) {
    std::string own = variables;
    for (size_t at = own.find('@'); at != std::string::npos; at = own.find('@')) own.replace(at, 1, rank);
    script += "env " + own + " " ANYGIN_RING " & ";
  }
  return run_command("sh -c '" + script + "wait'");
}

// A port for one test: not of the range that connections draw their own from.
int port_of_test(int number) {
  return 15000 + (getpid() * 4 + number) % 15000;
}

void expect_both(const CommandResult& run) {
  EXPECT_EQ(run.code, 0);
  EXPECT_THAT(run.output, HasSubstr("rank 0 of 2: sum 9: PASSED"));
  EXPECT_THAT(run.output, HasSubstr("rank 1 of 2: sum 9: PASSED"));
}

TEST(Launchers, torchrun) {
  expect_both(run_two("RANK=@ LOCAL_RANK=@ WORLD_SIZE=2 LOCAL_WORLD_SIZE=2 MASTER_ADDR=$(hostname) MASTER_PORT=" +
                      std::to_string(port_of_test(0)) + " GROUP_RANK=0 TORCHELASTIC_RUN_ID=none"));
}

TEST(Launchers, srun) {
  expect_both(
      run_two("SLURM_PROCID=@ SLURM_LOCALID=@ SLURM_NTASKS=2 SLURM_STEP_NUM_TASKS=2 SLURM_STEP_TASKS_PER_NODE=2 "
              "SLURM_NODEID=0 SLURM_STEP_ID=0 SLURM_JOB_ID=" +
              std::to_string(getpid())));
}

TEST(Launchers, mpirun_of_a_program_without_mpi) {
  const std::string place = " NCCL_COMM_ID=127.0.0.1:" + std::to_string(port_of_test(2));
  expect_both(run_two("OMPI_COMM_WORLD_RANK=@ OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_LOCAL_RANK=@" + place));
}

TEST(Launchers, a_batch_script_is_no_rank) {
  const CommandResult run = run_command("env SLURM_PROCID=0 SLURM_NTASKS=2 SLURM_JOB_ID=7 " ANYGIN_RING " -r 2");
  expect_both(run);
}

TEST(Launchers, without_a_place_to_meet_it_says_what_is_missing) {
  const CommandResult run = run_command("env PMI_RANK=0 PMI_SIZE=2 " ANYGIN_RING);
  EXPECT_EQ(run.code, 2);
  EXPECT_THAT(run.output, HasSubstr("set NCCL_COMM_ID=host:port"));
}

}  // namespace
}  // namespace anygin
