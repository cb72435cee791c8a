// SPDX-License-Identifier: Apache-2.0
// The Bootstrap of ranks that are set up on threads of one process. No clock: a rank that fails leaves, and the others
// then fail with its reason.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "anygin/base/bootstrap.h"

namespace anygin::litmus {

class RankMeeting {
 public:
  explicit RankMeeting(int ranks);
  ~RankMeeting();

  // Runs `body` for each rank on a thread of its own and joins them. The first failure, if there is one.
  Status run_on_all(const std::function<Status(Bootstrap&)>& body);

 private:
  class Member;

  Result<std::vector<Gift>> all_gather(Rank rank, const char* kind, const Gift& mine);
  void leave(const Status& why);

  const int ranks_;
  std::vector<std::unique_ptr<Member>> members_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Gift> given_, taken_;  // of the round under way, of the one that ended last
  int arrived_ = 0;
  uint64_t round_ = 0;
  const char* kind_ = "";
  Status failed_;
};

}  // namespace anygin::litmus
