// SPDX-License-Identifier: Apache-2.0
// Groups of calls (contract 2.4): per thread, nestable; what was submitted runs at the outermost end. A call outside a
// group is a group of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "anygin/base/status.h"

namespace anygin::comm {

class Communicator;

// Run in this order within a communicator.
enum class JobKind : uint8_t { kJoin, kWindow, kDevComm, kHostRma, kExchange };

// Calls of one kind and communicator that are launched together at the end of the group.
class GroupRound {
 public:
  virtual ~GroupRound() = default;
  virtual Status launch() = 0;
  // The capture that its streams are in; 0: none.
  virtual uint64_t capture() const = 0;
};

struct GroupJob {
  JobKind kind = JobKind::kJoin;
  Communicator* communicator = nullptr;  // of a join the parent; null without one: each is a communicator of its own
  int device = 0;                        // current while it runs
  std::function<Status()> run;
  std::shared_ptr<GroupRound> round = nullptr;  // what `run` launches, if it is one
  bool blocking = true;                         // for a join without a communicator; others are asked
  std::function<void()> begin = nullptr;        // at the end of the group, before anything goes on in the background
};

void group_start();
// Does the open group of this thread hold calls on the communicator, to be made at its end?
bool group_holds(const Communicator* communicator);
// The calls on the communicator in the open group of this thread are not made: it was aborted. Its children are asked
// for in vain: the group ends with an error.
void group_drop(const Communicator* communicator);
// Runs the jobs: those of one communicator in order, several communicators at the same time on threads of their own.
// Those of non-blocking communicators that may wait for other ranks go on in the background: kInProgress.
// If a call of the group failed, or a communicator of it lives no more, nothing runs; kInvalidUsage if streams of some
// rounds capture and of others do not. Returns the last error of the group. kInvalidUsage without a start.
Status group_end();
// Ends the group as group_end() does, and runs nothing.
Status group_simulate();
bool group_active();
// Runs the job now, or at the end of the group. kInvalidArgument if the group has jobs of communicators that are
// blocking and this one is not, or the other way round.
Status group_submit(GroupJob job);
// The round of the open group that has this kind and communicator, or null.
std::shared_ptr<GroupRound> group_round(JobKind kind, const Communicator* communicator);
// A call inside a group failed before it became a job.
void group_note(const Status& status);

}  // namespace anygin::comm
