// SPDX-License-Identifier: Apache-2.0
// Groups of calls (contract 2.4): per thread, nestable; what was submitted runs at the outermost end. A call outside a
// group is a group of its own.
#pragma once

#include <functional>

#include "anygin/base/status.h"

namespace anygin::comm {

class Communicator;

enum class JobKind : uint8_t { kJoin, kWindow, kDevComm, kHostRma };  // run in this order within a communicator

struct GroupJob {
  JobKind kind = JobKind::kJoin;
  const Communicator* communicator = nullptr;  // null for a join: each is a communicator of its own
  int device = 0;                              // current while it runs
  std::function<Status()> run;
};

void group_start();
// Runs the jobs: those of one communicator in order, several communicators at the same time on threads of their own.
// If a call of the group failed nothing runs. Returns the last error of the group. kInvalidUsage without a start.
Status group_end();
bool group_active();
// Runs the job now, or at the end of the group.
Status group_submit(GroupJob job);
// A call inside a group failed before it became a job.
void group_note(const Status& status);

}  // namespace anygin::comm
