// SPDX-License-Identifier: Apache-2.0
#include "anygin/comm/group.h"

#include <algorithm>
#include <thread>
#include <vector>

#include "anygin/base/host_threads.h"
#include "anygin/base/log.h"
#include "anygin/base/mutant.h"
#include "anygin/comm/communicator.h"
#include "anygin/comm/process_state.h"
#include "anygin/simt/device.h"

namespace anygin::comm {
namespace {

struct Group {
  int depth = 0;
  std::vector<GroupJob> jobs;
  Status error;  // the last one of the calls
};

// A thread's group. What is left in it when the thread ends was never done, and nobody else would say so.
struct GroupOfThread {
  Group group;
  ~GroupOfThread() {
    if (group.jobs.empty() || !group.error.ok()) return;
    log(LogLevel::kWarn,
        "group: a thread ends within one: the calls since ncclGroupStart were not made; ncclGroupEnd makes them");
  }
};

Group& own_group() {
  thread_local GroupOfThread own;
  return own.group;
}

// Jobs of one communicator, and where they stand in the group.
struct Lane {
  Communicator* communicator = nullptr;
  std::vector<size_t> jobs;
};

bool is_blocking(const GroupJob& job) {
  return job.communicator != nullptr ? job.communicator->blocking() : job.blocking;
}

// May it wait for other ranks? Rounds are only put on streams.
bool may_wait(const GroupJob& job) {
  return job.kind == JobKind::kJoin || job.kind == JobKind::kWindow || job.kind == JobKind::kDevComm;
}

std::vector<Lane> sort_by_communicator(const std::vector<GroupJob>& jobs) {
  std::vector<Lane> lanes;
  for (size_t i = 0; i < jobs.size(); ++i) {
    Communicator* communicator = jobs[i].communicator;
    const auto same = [&](const Lane& lane) { return communicator != nullptr && lane.communicator == communicator; };
    auto lane = std::find_if(lanes.begin(), lanes.end(), same);
    if (lane == lanes.end()) lane = lanes.insert(lanes.end(), Lane{communicator, {}});
    lane->jobs.push_back(i);
  }
  for (Lane& lane : lanes) {
    std::stable_sort(lane.jobs.begin(), lane.jobs.end(),
                     [&](size_t a, size_t b) { return jobs[a].kind < jobs[b].kind; });
  }
  return lanes;
}

Status last_failure(const std::vector<Status>& results) {
  Status last;
  for (const Status& result : results) {
    if (!result.ok()) last = result;
  }
  return last;
}

void run_lane(const Lane& lane, const std::vector<GroupJob>& jobs, std::vector<Status>& results) {
  const int before = simt::current_device();
  for (const size_t i : lane.jobs) {
    simt::set_current_device(jobs[i].device);
    results[i] = jobs[i].run();
  }
  simt::set_current_device(before);
}

// The jobs of non-blocking communicators. Those that only put work on streams are done at once.
Status run_in_background(const std::vector<Lane>& lanes, const std::vector<GroupJob>& jobs) {
  const auto shared = std::make_shared<const std::vector<GroupJob>>(jobs);
  std::vector<Status> results(jobs.size());
  bool goes_on = false;
  for (const Lane& lane : lanes) {
    if (std::none_of(lane.jobs.begin(), lane.jobs.end(), [&](size_t i) { return may_wait(jobs[i]); })) {
      run_lane(lane, jobs, results);
      continue;
    }
    goes_on = true;
    if (lane.communicator != nullptr) lane.communicator->begin_work();
    for (const size_t i : lane.jobs) {
      if (jobs[i].begin) jobs[i].begin();
    }
    ProcessState::get().in_background([lane, shared] {
      std::vector<Status> outcomes(shared->size());
      run_lane(lane, *shared, outcomes);
      if (lane.communicator != nullptr) lane.communicator->end_work(last_failure(outcomes));
    });
  }
  const Status failed = last_failure(results);
  if (!failed.ok() || !goes_on) return failed;
  return Status(Cause::kInProgress, "group", "it goes on in the background; ncclCommGetAsyncError tells its result");
}

// Another thread may have ended a communicator since its calls were put into the group.
Status check_lives(const std::vector<GroupJob>& jobs) {
  for (const GroupJob& job : jobs) {
    if (job.communicator == nullptr || ProcessState::get().is_alive(job.communicator)) continue;
    return Status(Cause::kCommInvalid, "group",
                  "a communicator of its calls was destroyed before it ended; nothing of the group was done");
  }
  return Status();
}

Status check_captures(const std::vector<GroupJob>& jobs) {
  bool some = false, others = false;
  for (const GroupJob& job : jobs) {
    if (!job.round) continue;
    (job.round->capture() != 0 ? some : others) = true;
  }
  if (!some || !others) return Status();
  return Status(Cause::kCaptureMixed, "group",
                "streams of one communicator capture and those of another do not; all or none would be right");
}

}  // namespace

bool group_active() {
  return own_group().depth > 0;
}

bool group_holds(const Communicator* communicator) {
  const std::vector<GroupJob>& jobs = own_group().jobs;
  return std::any_of(jobs.begin(), jobs.end(), [&](const GroupJob& job) { return job.communicator == communicator; });
}

void group_drop(const Communicator* communicator) {
  std::erase_if(own_group().jobs,
                [&](const GroupJob& job) { return job.communicator == communicator && job.kind != JobKind::kJoin; });
}

void group_start() {
  ++own_group().depth;
}

void group_note(const Status& status) {
  if (group_active() && !status.ok()) own_group().error = status;
}

std::shared_ptr<GroupRound> group_round(JobKind kind, const Communicator* communicator) {
  for (const GroupJob& job : own_group().jobs) {
    if (job.round && job.kind == kind && job.communicator == communicator) return job.round;
  }
  return nullptr;
}

Status group_submit(GroupJob job) {
  if (group_active()) {
    const std::vector<GroupJob>& others = own_group().jobs;
    if (!others.empty() && is_blocking(others.front()) != is_blocking(job)) {
      return Status(Cause::kBlockingMixed, "group",
                    "calls on blocking and on non-blocking communicators; a group of each would be right");
    }
    own_group().jobs.push_back(std::move(job));
    return Status();
  }
  group_start();
  own_group().jobs.push_back(std::move(job));
  return group_end();
}

Status group_end() {
  Group& group = own_group();
  if (group.depth == 0) return Status(Cause::kGroupNotOpen, "group", "it ends without a start in this thread");
  if (--group.depth > 0) return Status();
  const std::vector<GroupJob> jobs = std::move(group.jobs);
  const Status error = std::move(group.error);
  group = Group{};
  if (!error.ok()) return error;
  ANYGIN_TRY(check_lives(jobs));
  ANYGIN_TRY(check_captures(jobs));
  std::vector<Status> results(jobs.size());
  const std::vector<Lane> lanes = sort_by_communicator(jobs);
  if (!jobs.empty() && !is_blocking(jobs.front()) && !MUTANT(comm_waits_though_non_blocking))
    return run_in_background(lanes, jobs);
  std::vector<std::thread> helpers;
  for (size_t i = 1; i < lanes.size(); ++i) {
    helpers.emplace_back([&, i] {
      const ApiCall call("group end (helper thread)");
      run_lane(lanes[i], jobs, results);
    });
  }
  if (!lanes.empty()) run_lane(lanes[0], jobs, results);
  {
    const BlockingCall waiting;
    for (std::thread& helper : helpers) helper.join();
  }
  return last_failure(results);
}

Status group_simulate() {
  Group& group = own_group();
  if (group.depth == 0) return Status(Cause::kGroupNotOpen, "group", "it ends without a start in this thread");
  if (MUTANT(group_simulation_runs)) return group_end();
  if (--group.depth > 0) return Status();
  const Status error = std::move(group.error);
  group = Group{};
  return error;
}

}  // namespace anygin::comm
