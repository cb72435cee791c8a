// SPDX-License-Identifier: Apache-2.0
// One authenticated connection between two ranks: messages in order, with descriptors. Sending never blocks.
#pragma once

#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "anygin/comm/control_thread.h"

namespace anygin::comm {

enum class MessageType : uint16_t { kGather = 1, kAbort = 2, kLeave = 3 };

struct Message {
  MessageType type = MessageType::kGather;
  uint64_t sequence = 0;
  std::string kind;  // kGather: what the collective call is
  std::string bytes;
  int fd = -1;  // sent: stays the sender's; received: the receiver's to close
};

// The wire form of a message, without its descriptor.
std::string encode(const Message& message);
// Takes the first whole message off `buffer`; `has_fd` says whether a descriptor belongs to it. Sets `*broken` if the
// bytes are no message.
std::optional<Message> take_message(std::string& buffer, bool* has_fd, bool* broken);

class Link final : public ControlThread::Client {
 public:
  // Called on the control thread.
  class Receiver {
   public:
    virtual ~Receiver() = default;
    virtual void on_message(int peer, Message message) = 0;
    virtual void on_end(int peer) = 0;  // once; nothing comes after it
  };

  Link(ControlThread& thread, Receiver& receiver, int peer, Socket socket);
  ~Link() override;
  // Messages are delivered from now on.
  void start();
  // On return nothing is delivered any more. Sending still works. Not from the control thread.
  void stop();

  // Any thread. False once the connection is gone.
  bool send(const Message& message);
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
