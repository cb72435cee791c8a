// SPDX-License-Identifier: Apache-2.0
#include "anygin/sim/litmus/rank_meeting.h"

#include <fcntl.h>

#include <cstring>
#include <thread>

namespace anygin::litmus {

class RankMeeting::Member final : public Bootstrap {
 public:
  Member(RankMeeting& meeting, Rank rank) : meeting_(meeting), rank_(rank) {}
  Rank rank() const override { return rank_; }
  int size() const override { return meeting_.ranks_; }
  Result<std::vector<Gift>> all_gather(const char* kind, const Gift& mine) override {
    return meeting_.all_gather(rank_, kind, mine);
  }

 private:
  RankMeeting& meeting_;
  const Rank rank_;
};

RankMeeting::RankMeeting(int ranks) : ranks_(ranks), given_(static_cast<size_t>(ranks)) {
  for (Rank rank = 0; rank < ranks; ++rank) members_.push_back(std::make_unique<Member>(*this, rank));
}

RankMeeting::~RankMeeting() = default;

Status RankMeeting::run_on_all(const std::function<Status(Bootstrap&)>& body) {
  std::vector<std::thread> threads;
  for (auto& member : members_) {
    threads.emplace_back([this, &body, &member] {
      const Status status = body(*member);
      if (!status.ok()) leave(status);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return failed_;
}

void RankMeeting::leave(const Status& why) {
  const std::lock_guard lock(mutex_);
  if (failed_.ok()) failed_ = why;
  changed_.notify_all();
}

// A round ends when all have arrived; what it gathered stays until the next one ends, which no rank that still reads it
// has entered.
Result<std::vector<Gift>> RankMeeting::all_gather(Rank rank, const char* kind, const Gift& mine) {
  std::unique_lock lock(mutex_);
  if (arrived_ > 0 && std::strcmp(kind, kind_) != 0) {
    failed_ = Status(Code::kInternalError, kind, std::string("other ranks are in '") + kind_ + "'");
    changed_.notify_all();
  }
  kind_ = kind;
  given_[static_cast<size_t>(rank)] = mine;
  const uint64_t round = round_;
  if (++arrived_ == ranks_) {
    taken_ = given_;
    arrived_ = 0;
    ++round_;
    changed_.notify_all();
  } else {
    changed_.wait(lock, [&] { return round_ != round || !failed_.ok(); });
  }
  if (!failed_.ok()) return failed_;
  std::vector<Gift> gifts = taken_;
  for (Gift& gift : gifts) {
    if (gift.fd >= 0) gift.fd = fcntl(gift.fd, F_DUPFD_CLOEXEC, 0);
  }
  return gifts;
}

}  // namespace anygin::litmus
