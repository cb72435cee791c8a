// SPDX-License-Identifier: Apache-2.0
// `anygin run`: the ranks of one job as processes of this host. No daemon: the run owns everything and leaves nothing.
#pragma once

#include <string>
#include <vector>

namespace anygin::tools {

struct RunRequest {
  int ranks = 1;
  int nodes = 1;         // consecutive ranks share a node, as evenly as it goes
  double timeout_s = 0;  // 0: none
  bool labels = true;    // each line of output begins with its rank
  std::vector<std::string> command;
};

// Exit codes of tools (docs/decisions/0014).
inline constexpr int kExitUsage = 2;
inline constexpr int kExitEnvironment = 3;

// "2x4" when the ranks divide evenly, else "3,2,2".
std::string topology_text(int ranks, int nodes);
// The variables that rank `rank` of the job gets.
std::vector<std::string> rank_environment(const RunRequest& request, int rank, int port, const std::string& token);
// Empty if `program` can be started by us; else why not and what to do.
std::string refusal(const std::string& program);

// What the author of a command line that was not understood may have meant; empty: no idea.
std::string usage_hint(const std::vector<std::string>& arguments);

// Runs the job to its end and returns its exit code: 0, or that of the rank that failed first.
int run_job(const RunRequest& request);

}  // namespace anygin::tools
