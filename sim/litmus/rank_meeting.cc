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

RankMeeting::RankMeeting(int ranks)
    : ranks_(ranks),
      ended_(static_cast<size_t>(ranks)),
      rounds_(static_cast<size_t>(ranks)),
      given_(static_cast<size_t>(ranks)) {
  for (Rank rank = 0; rank < ranks; ++rank) members_.push_back(std::make_unique<Member>(*this, rank));
}

RankMeeting::~RankMeeting() = default;

Status RankMeeting::run_on_all(const std::function<Status(Bootstrap&)>& body) {
  std::vector<std::thread> threads;
  for (auto& member : members_) {
    threads.emplace_back([this, &body, &member] {
      const Rank rank = member->rank();
      std::unique_lock lock(mutex_);
      wait_for_turn(lock, rank);
      lock.unlock();
      const Status status = body(*member);
      lock.lock();
      if (!status.ok() && failed_.ok()) failed_ = status;
      ended_[static_cast<size_t>(rank)] = true;
      pass_turn(rank);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return failed_;
}

void RankMeeting::wait_for_turn(std::unique_lock<std::mutex>& lock, Rank rank) {
  changed_.wait(lock, [&] { return turn_ == rank; });
}

// To the next rank that has not ended.
void RankMeeting::pass_turn(Rank from) {
  for (int i = 1; i <= ranks_; ++i) {
    turn_ = (from + i) % ranks_;
    if (!ended_[static_cast<size_t>(turn_)]) break;
  }
  changed_.notify_all();
}

// Has a rank ended that did not enter the round of this one?
bool RankMeeting::left_alone(Rank rank) const {
  for (size_t other = 0; other < rounds_.size(); ++other) {
    if (ended_[other] && rounds_[other] < rounds_[static_cast<size_t>(rank)]) return true;
  }
  return false;
}

// Every rank has one turn a round, so a rank whose turn comes again finds the round complete. The last rank keeps what
// was gathered: it arrives in the next round only after all others have left this one.
Result<std::vector<Gift>> RankMeeting::all_gather(Rank rank, const char* kind, const Gift& mine) {
  std::unique_lock lock(mutex_);
  if (rank == 0) kind_ = kind;
  if (failed_.ok() && std::strcmp(kind, kind_) != 0) {
    failed_ = Status(Cause::kProtocol, kind, std::string("rank 0 is in '") + kind_ + "'");
  }
  given_[static_cast<size_t>(rank)] = mine;
  ++rounds_[static_cast<size_t>(rank)];
  if (rank == ranks_ - 1) taken_ = given_;
  pass_turn(rank);
  wait_for_turn(lock, rank);
  if (failed_.ok() && left_alone(rank)) {
    failed_ = Status(Cause::kProtocol, kind, "a rank has ended and does not come");
  }
  if (!failed_.ok()) return failed_;
  std::vector<Gift> gifts = taken_;
  for (Gift& gift : gifts) {
    if (gift.fd >= 0) gift.fd = fcntl(gift.fd, F_DUPFD_CLOEXEC, 0);
  }
  return gifts;
}

}  // namespace anygin::litmus
