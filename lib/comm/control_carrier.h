// SPDX-License-Identifier: Apache-2.0
// What carries the control plane of a process: how ranks meet, links between them, and the loop on which messages come
// in. Sockets and a thread (socket_carrier.h), or what the World brings (World::control).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "anygin/base/options.h"
#include "anygin/comm/member.h"
#include "anygin/comm/unique_id.h"

namespace anygin::comm {

enum class MessageType : uint16_t { kGather = 1, kAbort = 2, kLeave = 3, kMeet = 4 };

struct Message {
  MessageType type = MessageType::kGather;
  uint64_t sequence = 0;
  std::string kind;  // kGather, kMeet: what the collective call is
  std::string bytes;
  int fd = -1;  // sent: stays the sender's; received: the receiver's to close
};

// One connection between two ranks: messages in order, with descriptors. Sending never blocks.
class ControlLink {
 public:
  // Called on the loop.
  class Receiver {
   public:
    virtual ~Receiver() = default;
    virtual void on_message(int peer, Message message) = 0;
    virtual void on_end(int peer) = 0;  // once; nothing comes after it
  };

  virtual ~ControlLink() = default;
  // Messages are delivered from now on.
  virtual void start() = 0;
  // On return nothing is delivered any more. Sending still works. Not from the loop.
  virtual void stop() = 0;
  // Any thread. False once the connection is gone.
  virtual bool send(const Message& message) = 0;
};

// Where a process's control work is done, one piece after the other. What runs here is short and never blocks.
class ControlLoop {
 public:
  virtual ~ControlLoop() = default;
  // Runs `work` soon. Any thread.
  virtual void post(std::function<void()> work) = 0;
  // What was posted before has run. Not from the loop.
  virtual void drain() = 0;
  // Calls `beat` every `period_ns`, approximately; a carrier that judges hangs itself need not. Once, at the start.
  virtual void set_beat(uint64_t period_ns, std::function<void()> beat) = 0;
};

// How long joining may take: a minute, or ANYGIN_HANG_TIMEOUT if that is longer; without end if that is 0. Ranks start
// one after the other, so a short hang timeout does not shorten it.
inline constexpr uint64_t kJoinTimeoutNs = 60'000'000'000;
inline constexpr uint64_t kJoinWarnNs = 3'000'000'000;
struct Patience {
  uint64_t warn_after_ns = 0;     // then again and again: say who is missing; 0: never
  uint64_t give_up_after_ns = 0;  // 0: never
};
Patience join_patience(uint64_t hang_timeout_ns);

// The ranks of a communicator have met; now they connect.
class Assembly {
 public:
  virtual ~Assembly() = default;
  virtual const std::vector<Member>& members() const = 0;  // in rank order
  // To every other rank, in rank order; null at the own place.
  virtual Result<std::vector<std::unique_ptr<ControlLink>>> connect(ControlLink::Receiver& receiver) = 0;
  // This rank is connected to all others and has started its links.
  virtual void confirm() = 0;
};

class ControlCarrier {
 public:
  virtual ~ControlCarrier() = default;
  virtual ControlLoop& loop() = 0;
  // The id of a new communicator.
  virtual Result<UniqueId> open_place(const Options& options) = 0;
  // Called by every rank before it meets the others.
  virtual Status prepare(const UniqueId& id, Rank rank, const Options& options) = 0;
  // Collective. Blocks until all ranks are there.
  virtual Result<std::unique_ptr<Assembly>> assemble(const UniqueId& id, const Member& me, Patience patience) = 0;
};

}  // namespace anygin::comm
