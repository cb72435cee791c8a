// SPDX-License-Identifier: Apache-2.0
// The control link of production: one authenticated socket between two ranks.
#pragma once

#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "anygin/comm/control_carrier.h"
#include "anygin/comm/control_thread.h"

namespace anygin::comm {

// The wire form of a message, without its descriptor.
std::string encode(const Message& message);
// Takes the first whole message off `buffer`; `has_fd` says whether a descriptor belongs to it. Sets `*broken` if the
// bytes are no message.
std::optional<Message> take_message(std::string& buffer, bool* has_fd, bool* broken);

class Link final : public ControlLink, public ControlThread::Client {
 public:
  Link(ControlThread& thread, Receiver& receiver, int peer, Socket socket);
  ~Link() override;
  void start() override;
  void stop() override;
  bool send(const Message& message) override;
  void on_readable() override;
  void on_writable() override;

 private:
  struct Outgoing {
    std::string bytes;
    Socket fd;  // a copy: the message may leave later than its sender closes the original
  };
  bool flush_locked();
  void end();

  ControlThread& thread_;
  Receiver& receiver_;
  const int peer_;
  Socket socket_;
  ControlThread::ClientId id_ = 0;

  std::mutex mutex_;  // id_, outgoing_, wants_writable_, gone_
  std::deque<Outgoing> outgoing_;
  bool wants_writable_ = false;
  bool gone_ = false;

  std::string incoming_;  // control thread only, as all below
  std::vector<int> fds_;
};

}  // namespace anygin::comm
