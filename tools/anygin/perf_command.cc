// SPDX-License-Identifier: Apache-2.0
#include "perf_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "anygin/base/options.h"
#include "info_command.h"
#include "run_command.h"

namespace anygin::tools {
namespace {

#if defined(ANYGIN_RANKS_SHARE_GPU)
constexpr const char* kTarget = "cuda";
#else
constexpr const char* kTarget = "cpu";
#endif

void print_head(const PerfRequest& request) {
  const Options& chosen = options();
  fmt::print("# anygin perf: target {}, backend proxy, NIC {}, fabric {}, profile {}; 2 ranks as {}, one thread each\n",
             kTarget, chosen.nic, chosen.fabric, name_of(chosen.profile), request.procs ? "processes" : "threads");
  fmt::print("# us: half a round trip, of get+flush the whole; Mop/s and GB/s: posted in a row, then flushed\n");
  std::fflush(stdout);
}

}  // namespace

int run_perf(const PerfRequest& request) {
  std::vector<std::string> command = {
      own_prefix() + "/bin/anygin-perf",  "--min",   std::to_string(request.least_bytes), "--max",
      std::to_string(request.most_bytes), "--turns", std::to_string(request.turns)};
  print_head(request);
  if (request.procs) {
    RunRequest run;
    run.ranks = 2;
    run.labels = false;
    run.command = std::move(command);
    return run_job(run);
  }
  command.insert(command.end(), {"-r", "2"});
  std::vector<char*> arguments;
  for (std::string& argument : command) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  execv(arguments.front(), arguments.data());
  fmt::print(stderr, "anygin perf: {}: {}\n", command.front(), std::strerror(errno));
  return kExitEnvironment;
}

}  // namespace anygin::tools
