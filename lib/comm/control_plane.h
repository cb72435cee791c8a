// SPDX-License-Identifier: Apache-2.0
// What the ranks of one communicator say to each other on the host: join, all-gather, abort, leave
// (docs/decisions/0010). Death is end-of-file on a connection whose rank has not left; a stopped process is alive.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "anygin/base/bootstrap.h"
#include "anygin/base/wait.h"
#include "anygin/comm/control_carrier.h"
#include "anygin/comm/member.h"
#include "anygin/comm/unique_id.h"

namespace anygin::comm {

// Called on the control loop; does not block.
class ControlListener {
 public:
  virtual ~ControlListener() = default;
  virtual void on_peer_abort(Rank from, AbortCause cause, const std::string& text) = 0;
  virtual void on_peer_death(Rank peer, const std::string& text) = 0;
};

struct ControlOpening {
  ControlCarrier& carrier;
  ControlListener& listener;
  UniqueId id;
  Member me;  // rank, size, device, process and settings; the carrier adds the listener
  Patience patience;
  const uint32_t* abort_word = nullptr;  // set: every wait of the control plane ends
};

class ControlPlane final : public Bootstrap, public ControlLink::Receiver {
 public:
  // Collective. Blocks until all ranks are connected to each other.
  static Result<std::unique_ptr<ControlPlane>> join(const ControlOpening& opening);
  ~ControlPlane() override;

  Rank rank() const override { return rank_; }
  int size() const override { return static_cast<int>(peers_.size()); }
  const std::vector<Member>& members() const { return members_; }
  Result<std::vector<Gift>> all_gather(const char* kind, const Gift& mine) override;

  // The same among `ranks` (this one included, in ascending order), also after an abort: the others do not take part.
  // Who makes it with another `what` makes another call. Parts in the order of `ranks`. Fails as soon as one of them
  // has died or left.
  Result<std::vector<std::string>> gather_among(const std::vector<Rank>& ranks, const std::string& what,
                                                const std::string& mine);
  // Every gather_among fails from now on. Any thread.
  void end_meetings();

  // Tells every rank that is still there. Any thread, never blocks.
  void tell_abort(AbortCause cause, const std::string& text);
  // This rank takes part no more; its end is no death. Any thread.
  void leave();
  // The listener hears nothing any more, and nothing comes in. Not from the control loop.
  void stop();
  // One line if a collective call waits now: which one, and for which ranks. Any thread.
  std::string describe_wait() const;
  // Has every rank of another process left or died?
  bool others_gone() const { return remote_present_.load() == 0; }
  bool is_local(Rank rank) const;  // of this process
  bool is_gone(Rank rank) const;

 private:
  struct Peer {
    std::unique_ptr<ControlLink> link;  // null at the own place
    std::deque<Message> gathers;
    std::deque<Message> meets;  // parts of gather_among
    bool left = false, dead = false;
    bool counted_out = false;  // of missing_ and remote_present_
    bool present() const { return !left && !dead; }
  };

  ControlPlane(const ControlOpening& opening, std::vector<Member> members);
  void on_message(int peer, Message message) override;
  void on_end(int peer) override;
  void count_out_locked(Peer& peer, size_t index);
  Status check_complete_locked(const char* kind) const;
  bool met_locked(const std::vector<Rank>& ranks, const std::string& what) const;
  Status check_kinds_locked(const char* kind) const;
  std::vector<Gift> take_locked(const Gift& mine);
  void broadcast(const Message& message);

  const Rank rank_;
  const uint32_t* const abort_word_;
  ControlListener& listener_;
  const std::vector<Member> members_;

  std::mutex collective_mutex_;  // one collective call at a time
  mutable std::mutex mutex_;     // all below but the atomics and the links, which are fixed after join()
  std::vector<Peer> peers_;
  uint64_t sequence_ = 0;
  bool gathering_ = false;
  const char* gathering_kind_ = "";
  std::string meeting_kind_;     // of the gather_among that waits
  uint32_t meetings_end_ = 0;    // an AbortCause, as an abort word
  std::atomic<int> missing_{0};  // peers whose part of the current all-gather has not come
  std::atomic<int> remote_present_{0};
  std::atomic<bool> leaving_{false};
};

}  // namespace anygin::comm
