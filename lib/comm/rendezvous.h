// SPDX-License-Identifier: Apache-2.0
// How ranks that share only an id find each other: all connect to a root over TCP, which hands each the table of all.
#pragma once

#include <atomic>
#include <future>
#include <memory>
#include <vector>

#include "anygin/base/net_socket.h"
#include "anygin/comm/control_carrier.h"
#include "anygin/comm/member.h"
#include "anygin/comm/unique_id.h"

namespace anygin::comm {

// Serves one communicator, on a thread of its own, and ends.
class Root {
 public:
  // Listens at host:port (0: any). The patience begins when the first rank connects.
  static Result<std::unique_ptr<Root>> start(const std::string& host, uint16_t port, const Token& token,
                                             Patience patience);
  ~Root();  // ends at once; ranks that still wait get an error

  uint16_t port() const { return port_; }
  bool ended() const { return ended_.load(); }

 private:
  Root(Socket listener, uint16_t port, const Token& token, Patience patience);
  void serve();

  struct Guest;
  void receive_guest(std::vector<Guest>& guests);
  bool watch_guests(std::vector<Guest>& guests);
  void answer_all(std::vector<Guest>& guests, std::string_view answer);
  void fail(std::vector<Guest>& guests, const std::string& why);
  std::string who_is_missing(const std::vector<Guest>& guests) const;
  void say_who_is_missing(const std::vector<Guest>& guests, uint64_t waited_ns) const;

  Socket listener_;
  const uint16_t port_;
  const Token token_;
  const Patience patience_;
  std::string failure_;   // once set, every guest gets it
  unsigned refused_ = 0;  // connections that did not know the token
  std::atomic<bool> stop_{false};
  std::atomic<bool> ended_{false};
  std::future<void> thread_done_;  // ready once its thread is done with it
};

// The rank's side. On success `connection` stays open until confirm(): the root reports on it when another rank fails
// before all have connected to each other.
struct Meeting {
  std::vector<Member> members;  // in rank order
  Socket connection;
};
Result<Meeting> meet(const UniqueId& id, const Member& me, Patience patience);
// This rank is connected to all others.
void confirm(Meeting& meeting);
// What the root wrote on a connection that became readable before confirm().
Status failure_of(const Meeting& meeting);

}  // namespace anygin::comm
