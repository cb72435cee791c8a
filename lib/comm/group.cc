// SPDX-License-Identifier: Apache-2.0
#include "anygin/comm/group.h"

#include <algorithm>
#include <thread>
#include <vector>

#include "anygin/base/host_threads.h"
#include "anygin/simt/device.h"

namespace anygin::comm {
namespace {

struct Group {
  int depth = 0;
  std::vector<GroupJob> jobs;
  Status error;  // the last one of the calls
};

Group& own_group() {
  thread_local Group group;
  return group;
}

// Jobs of one communicator, and where they stand in the group.
struct Lane {
  const Communicator* communicator = nullptr;
  std::vector<size_t> jobs;
};

std::vector<Lane> sort_by_communicator(const std::vector<GroupJob>& jobs) {
  std::vector<Lane> lanes;
  for (size_t i = 0; i < jobs.size(); ++i) {
    const Communicator* communicator = jobs[i].communicator;
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

void run_lane(const Lane& lane, const std::vector<GroupJob>& jobs, std::vector<Status>& results) {
  const int before = simt::current_device();
  for (const size_t i : lane.jobs) {
    simt::set_current_device(jobs[i].device);
    results[i] = jobs[i].run();
  }
  simt::set_current_device(before);
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
  ANYGIN_TRY(check_captures(jobs));
  std::vector<Status> results(jobs.size());
  const std::vector<Lane> lanes = sort_by_communicator(jobs);
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
  Status last;
  for (const Status& result : results) {
    if (!result.ok()) last = result;
  }
  return last;
}

}  // namespace anygin::comm
