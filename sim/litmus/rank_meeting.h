// SPDX-License-Identifier: Apache-2.0
// The Bootstrap of ranks that are set up on threads of one process, one at a time: a rank runs to its next collective
// call, then the next rank has its turn. So everything that ranks share is made in the same order each time.
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
  void wait_for_turn(std::unique_lock<std::mutex>& lock, Rank rank);
  void pass_turn(Rank from);
  bool left_alone(Rank rank) const;

  const int ranks_;
  std::vector<std::unique_ptr<Member>> members_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Rank turn_ = 0;
  std::vector<bool> ended_;
  std::vector<uint64_t> rounds_;     // that each rank has entered
  std::vector<Gift> given_, taken_;  // of the round under way, of the one that ended last
  const char* kind_ = "";            // of the round under way
  Status failed_;
};

}  // namespace anygin::litmus
