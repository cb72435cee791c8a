// SPDX-License-Identifier: Apache-2.0
// `anygin check`: a program in the simulated world, seed after seed; `anygin replay`: one of those runs again.
#pragma once

#include <string>
#include <vector>

#include "sim_run.h"

namespace anygin::tools {

inline constexpr int kExitFinding = 1;
inline constexpr int kExitHang = 4;
inline constexpr int kExitNotDeterministic = 5;

struct CheckRequest {
  SimRunRequest run;          // seed: the first
  uint64_t seeds = 100;       // how many
  std::string shard = "0/1";  // i/n: every n-th seed from the i-th on
  double budget_s = 0;        // ends after so many seconds; 0: when the seeds are done
  int jobs = 1;
  bool keep_going = false;  // past the first failure
  bool twice = false;       // every seed twice, and compare
  bool once = false;        // no seed twice, unless it fails
  bool minimise = true;
  std::string junit_file;
  std::string digests_file;      // a line a seed: what happened, as 64 bits
  std::string out_folder = ".";  // for choices of failing runs
};
int run_check(const CheckRequest& request);

struct ReplayRequest {
  SimRunRequest run;
  bool profile_given = false;
};
// Repeats a run by seed, or by a file of choices, and shows its output.
int run_replay(const ReplayRequest& request);

struct TraceRequest {
  SimRunRequest run;
  std::string out_file = "anygin-trace.json";
  static bool is_still(const std::string& file) { return file.size() > 4 && file.ends_with(".svg"); }
};
// One run as a picture for ui.perfetto.dev.
int run_trace(const TraceRequest& request);

// "i/n" with i < n. False if it is neither.
bool parse_shard(const std::string& text, uint64_t* index, uint64_t* count);
// The command line that repeats the run.
std::string replay_line(const SimRunRequest& run, const std::string& choices_file);

}  // namespace anygin::tools
