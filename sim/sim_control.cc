// SPDX-License-Identifier: Apache-2.0
#include "anygin/sim/sim_control.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "anygin/base/order.h"
#include "anygin/base/world.h"

namespace anygin::sim {

// Where the ranks of one communicator meet, and the two ends of each pair's link.
struct SimControl::Place {
  std::string name;
  int size = 0;
  std::map<Rank, comm::Member> members;
  bool complete() const { return size > 0 && members.size() == static_cast<size_t>(size); }
  std::map<std::pair<Rank, Rank>, Link*> ends;  // (own rank, peer): the end that the own rank holds
  // What was sent to an end that is not there yet.
  std::map<std::pair<Rank, Rank>, std::deque<std::optional<comm::Message>>> early;
};

// One end. An empty message is the end of the connection.
class SimControl::Link final : public comm::ControlLink {
 public:
  Link(SimControl& control, std::shared_ptr<Place> place, Receiver& receiver, Rank own, Rank peer)
      : control_(control),
        place_(std::move(place)),
        receiver_(receiver),
        own_(own),
        peer_(peer),
        number_(++control.links_made_) {
    place_->ends[{own, peer}] = this;
    inbox_ = std::move(place_->early[{own, peer}]);
  }
  ~Link() override {
    stop();
    place_->ends.erase({own_, peer_});
    deliver(std::nullopt);
    for (const std::optional<comm::Message>& left : inbox_) {
      if (left && left->fd >= 0) ::close(left->fd);
    }
  }

  void start() override {
    control_.links_[number_] = this;
    started_ = true;
    control_.ready_links_ += inbox_.empty() ? 0 : 1;
  }
  void stop() override {
    if (!started_) return;
    started_ = false;
    control_.links_.erase(number_);
    control_.ready_links_ -= inbox_.empty() ? 0 : 1;
  }
  bool send(const comm::Message& message) override {
    if (ended_) return false;
    comm::Message copy = message;
    if (message.fd >= 0) copy.fd = ::fcntl(message.fd, F_DUPFD_CLOEXEC, 0);
    deliver(std::move(copy));
    return true;
  }

  Rank peer() const { return peer_; }
  // The other end is gone; what it sent before is still delivered.
  void cut() {
    inbox_.push_back(std::nullopt);
    if (started_ && inbox_.size() == 1) ++control_.ready_links_;
    cut_ = true;
  }
  bool has_messages() const { return !inbox_.empty(); }
  void take_one() {
    std::optional<comm::Message> message = std::move(inbox_.front());
    inbox_.pop_front();
    control_.ready_links_ -= inbox_.empty() ? 1 : 0;
    if (message) return receiver_.on_message(peer_, std::move(*message));
    ended_ = true;
    receiver_.on_end(peer_);
  }

 private:
  void deliver(std::optional<comm::Message> message) {
    const auto found = place_->ends.find({peer_, own_});
    if (found == place_->ends.end()) {
      place_->early[{peer_, own_}].push_back(std::move(message));
      return;
    }
    Link& other = *found->second;
    if (other.cut_) return;
    other.inbox_.push_back(std::move(message));
    if (other.started_ && other.inbox_.size() == 1) ++control_.ready_links_;
  }

  SimControl& control_;
  const std::shared_ptr<Place> place_;
  Receiver& receiver_;
  const Rank own_, peer_;
  const uint64_t number_;
  bool started_ = false;
  bool ended_ = false;
  bool cut_ = false;
  std::deque<std::optional<comm::Message>> inbox_;
};

class SimControl::Party final : public comm::Assembly {
 public:
  Party(SimControl& control, std::shared_ptr<Place> place, Rank rank)
      : control_(control), place_(std::move(place)), rank_(rank) {
    for (const auto& [at, member] : place_->members) members_.push_back(member);
  }
  const std::vector<comm::Member>& members() const override { return members_; }
  Result<std::vector<std::unique_ptr<comm::ControlLink>>> connect(comm::ControlLink::Receiver& receiver) override {
    std::vector<std::unique_ptr<comm::ControlLink>> links(members_.size());
    for (Rank peer = 0; peer < place_->size; ++peer) {
      if (peer == rank_) continue;
      links[static_cast<size_t>(peer)] = std::make_unique<Link>(control_, place_, receiver, rank_, peer);
    }
    return links;
  }
  void confirm() override {}

 private:
  SimControl& control_;
  const std::shared_ptr<Place> place_;
  const Rank rank_;
  std::vector<comm::Member> members_;
};

// --- Meeting ---------------------------------------------------------------------------------------------------------

Result<comm::UniqueId> SimControl::open_place(const Options&) {
  comm::UniqueId id;
  id.host = "127.0.0.1";  // nobody listens there: the token alone names the place
  const uint64_t number = ++places_;
  for (size_t i = 0; i < sizeof(number); ++i) id.token[i] = static_cast<unsigned char>(number >> (8 * i));
  return id;
}

Status SimControl::prepare(const comm::UniqueId&, Rank, const Options&) {
  return Status();
}

Result<std::unique_ptr<comm::Assembly>> SimControl::assemble(const comm::UniqueId& id, const comm::Member& me,
                                                             comm::Patience) {
  const auto refuse = [&](std::string why) { return Status(Cause::kJoinRefused, "rendezvous", std::move(why)); };
  const std::string token(id.token.begin(), id.token.end());
  std::shared_ptr<Place>& slot = open_places_[token];
  if (!slot) {
    slot = std::make_shared<Place>();
    slot->name = fmt::format("simulated-{}", open_places_.size());
    slot->size = me.size;
  }
  const std::shared_ptr<Place> place = slot;
  if (place->size != me.size) {
    return refuse(fmt::format("rank {} was told that there are {} ranks, others that there are {}", me.rank, me.size,
                              place->size));
  }
  if (place->complete()) return refuse(fmt::format("rank {}: an id serves one communicator", me.rank));
  comm::Member mine = me;
  mine.listener = place->name;
  if (!place->members.emplace(me.rank, mine).second)
    return refuse(fmt::format("two threads joined as rank {}", me.rank));
  WaitReason reason;
  reason.rank = me.rank;
  const Place* const here = place.get();
  (void)wait_until([here] { return here->complete(); }, nullptr, reason);
  return std::unique_ptr<comm::Assembly>(std::make_unique<Party>(*this, place, me.rank));
}

void SimControl::describe_pending(std::vector<std::string>& out) const {
  for (const auto& [token, place] : open_places_) {
    if (place->complete()) continue;
    std::vector<Rank> missing;
    for (Rank rank = 0; rank < place->size; ++rank) {
      if (place->members.count(rank) == 0) missing.push_back(rank);
    }
    out.push_back(fmt::format("joining: {} of {} ranks are there; missing: {}", place->members.size(), place->size,
                              fmt::join(missing, ", ")));
  }
}

// --- Loop ------------------------------------------------------------------------------------------------------------

void SimControl::post(std::function<void()> work) {
  posted_.push_back(std::move(work));
  ++posts_;
}

void SimControl::drain() {
  const uint64_t until = posts_;
  const uint64_t* const run = &posts_run_;
  (void)wait_until([run, until] { return *run >= until; }, nullptr, WaitReason{});
}

bool SimControl::lose(Rank rank) {
  bool known = false;
  for (const auto& [number, link] : links_) {
    if (link->peer() != rank) continue;
    link->cut();
    known = true;
  }
  return known;
}

void SimControl::ready(ActionList& out) {
  if (!posted_.empty()) out.add(id_, kPosted, 0);
  if (ready_links_ == 0) return;
  for (const auto& [number, link] : links_) {
    if (link->has_messages()) out.add(id_, kMessage, number);
  }
}

void SimControl::run(const Action& action, Time) {
  if (action.kind == kMessage) {
    links_.at(action.name)->take_one();
    return;
  }
  const std::function<void()> work = std::move(posted_.front());
  posted_.pop_front();
  work();
  ++posts_run_;
}

}  // namespace anygin::sim
