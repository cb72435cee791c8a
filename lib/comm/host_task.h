// SPDX-License-Identifier: Apache-2.0
// What a host queue runs at a point of a stream: a put, a send, a step of a collective.
#pragma once

#include <cstdint>
#include <string>

#include "anygin/backends/op.h"
#include "anygin/base/ids.h"

namespace anygin::comm {

class HostQueue;

// Each has a transport context and signal cells of its own, one a source rank: what goes through one channel is never
// counted in another.
enum class Channel : uint32_t {
  kHostRma,          // host one-sided operations
  kCapturedHostRma,  // those that graphs replay
  kSend,             // sends and receives: slots that are filled, and slots that are given back
  kReceive,
  kCollectiveSend,  // the same of collectives
  kCollectiveReceive,
  kChannels
};

// A lane is a FIFO of tasks, those of one (channel, peer): the first one is stepped when its stream is there, the next
// one once it was issued. Tasks of different lanes do not wait for each other.
struct LaneId {
  Channel channel = Channel::kHostRma;
  Rank peer = 0;
  friend bool operator<(LaneId a, LaneId b) { return a.channel != b.channel ? a.channel < b.channel : a.peer < b.peer; }
};

// A state machine of the queue's engine. Every call holds the engine's token: bounded work, no waiting.
class HostTask {
 public:
  virtual ~HostTask() = default;
  // Is there something to do now? Pure: looks at cells, room and its own state.
  virtual bool can_step(const HostQueue& queue) const = 0;
  virtual void step(HostQueue& queue) = 0;
  // An operation that it posted is locally complete. Failed ones end the communicator and are not told.
  virtual void completed(HostQueue& queue, const OpCompletion& completion) = 0;
  // The next task of the lane may begin.
  virtual bool issued() const = 0;
  // The stream may go on. Implies issued().
  virtual bool finished() const = 0;
  // One line for the hang report.
  virtual std::string describe() const = 0;
};

}  // namespace anygin::comm
