// SPDX-License-Identifier: Apache-2.0
#include "support/local_bootstrap.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>

namespace anygin::testing {

struct LocalBootstrapGroup::State {
  explicit State(int n) : ranks(n), given(static_cast<size_t>(n)), entered(static_cast<size_t>(n)) {}

  Result<std::vector<Gift>> all_gather(int rank, const char* kind, const Gift& mine);
  std::string missing() const;
  std::vector<Gift> copy_gifts() const;

  const int ranks;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Gift> given;
  std::vector<const char*> entered;  // the kind each rank is in; null: not in
  int arrived = 0;
  int leaving = 0;  // ranks that have not yet taken the result of the round that is complete
  std::string failed;
};

class LocalBootstrapGroup::Member final : public Bootstrap {
 public:
  Member(State& state, int rank) : state_(state), rank_(rank) {}
  Rank rank() const override { return rank_; }
  int size() const override { return state_.ranks; }
  Result<std::vector<Gift>> all_gather(const char* kind, const Gift& mine) override {
    return state_.all_gather(rank_, kind, mine);
  }

 private:
  State& state_;
  const int rank_;
};

std::string LocalBootstrapGroup::State::missing() const {
  std::string text;
  for (size_t i = 0; i < entered.size(); ++i) {
    if (!entered[i]) text += fmt::format(" {}", i);
  }
  return text;
}

std::vector<Gift> LocalBootstrapGroup::State::copy_gifts() const {
  std::vector<Gift> gifts = given;
  for (Gift& gift : gifts) {
    if (gift.fd >= 0) gift.fd = fcntl(gift.fd, F_DUPFD_CLOEXEC, 0);
  }
  return gifts;
}

Result<std::vector<Gift>> LocalBootstrapGroup::State::all_gather(int rank, const char* kind, const Gift& mine) {
  constexpr auto kPatience = std::chrono::seconds(10);
  const auto me = static_cast<size_t>(rank);
  std::unique_lock lock(mutex);
  const auto fail = [&](std::string why) {
    if (failed.empty()) failed = std::move(why);
    changed.notify_all();
    return Status(Cause::kProtocol, kind, failed);
  };
  // A rank may be back before the others took the last round's result.
  changed.wait_for(lock, kPatience, [&] { return leaving == 0 || !failed.empty(); });
  if (!failed.empty()) return fail({});
  for (const char* other : entered) {
    if (other && std::strcmp(other, kind) != 0) {
      return fail(fmt::format("rank {} is in '{}', another in '{}'", rank, kind, other));
    }
  }
  given[me] = mine;
  entered[me] = kind;
  if (++arrived == ranks) {
    leaving = ranks;
    changed.notify_all();
  } else if (!changed.wait_for(lock, kPatience, [&] { return leaving > 0 || !failed.empty(); })) {
    return fail(fmt::format("waited 10 s in vain for ranks{}", missing()));
  }
  if (leaving == 0) return fail({});
  std::vector<Gift> gifts = copy_gifts();
  if (--leaving == 0) {
    arrived = 0;
    std::fill(entered.begin(), entered.end(), nullptr);
    changed.notify_all();
  }
  return gifts;
}

LocalBootstrapGroup::LocalBootstrapGroup(int ranks) : state_(std::make_unique<State>(ranks)) {
  for (int rank = 0; rank < ranks; ++rank) members_.push_back(std::make_unique<Member>(*state_, rank));
}

LocalBootstrapGroup::~LocalBootstrapGroup() = default;

int LocalBootstrapGroup::size() const {
  return state_->ranks;
}

Bootstrap& LocalBootstrapGroup::rank(int rank) {
  return *members_.at(static_cast<size_t>(rank));
}

void LocalBootstrapGroup::abort() {
  std::lock_guard lock(state_->mutex);
  if (state_->failed.empty()) state_->failed = "aborted";
  state_->changed.notify_all();
}

void LocalBootstrapGroup::run_on_all(const std::function<void(int rank)>& body) {
  std::vector<std::thread> threads;
  for (int rank = 0; rank < state_->ranks; ++rank) threads.emplace_back([&body, rank] { body(rank); });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace anygin::testing
