// SPDX-License-Identifier: Apache-2.0
// Commands with a time limit, several at a time; what they say is kept.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace anygin::tools {

struct Task {
  std::vector<std::string> command;
  std::vector<std::string> environment;  // NAME=value, beside what is inherited
  double limit_s = 20;
};

struct TaskEnd {
  int exit_code = -1;  // 124: it ran into its limit and was ended, with all it started; 128 + the signal that ended it
  double seconds = 0;
  std::string output;  // both streams; the end of it if there is much
};

// Calls done(index, end) as each ends, on this thread, which is the only one of the process.
void run_tasks(const std::vector<Task>& tasks, int at_a_time, const std::function<void(size_t, const TaskEnd&)>& done);

}  // namespace anygin::tools
