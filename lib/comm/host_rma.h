// SPDX-License-Identifier: Apache-2.0
// The host's one-sided operations (contract 3): put with signal, signal, wait for signals. What is checked before comes
// here; it goes on a stream through the host queue.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "anygin/base/status.h"
#include "anygin/comm/host_queue.h"
#include "anygin/comm/stream_round.h"

namespace anygin::comm {

class Communicator;

// A put and its signal; without bytes the signal alone.
struct HostPut {
  Rank peer = 0;
  RegionRef source, destination;
  uint64_t bytes = 0;
  uint32_t selector = 0;  // of the signal
};

struct HostWait {
  std::vector<SignalCount> counts;
};

struct HostRmaCall {
  const char* name = "";  // for reports; static storage
  simt::Stream* stream = nullptr;
  std::variant<HostPut, HostWait> what;
};

// Now, or at the end of the thread's group. kInvalidUsage if the communicator's streams in the group are not all in the
// same capture, or all in none.
Status submit_host_rma(Communicator& communicator, HostRmaCall call);

// Cuts a put into operations that a transport takes, in order; only the last one carries the signal.
class PutTask final : public HostTask {
 public:
  // At most `piece_bytes` an operation.
  PutTask(Channel channel, const HostPut& put, uint64_t piece_bytes);

  bool can_step(const HostQueue& queue) const override { return queue.has_room({channel_, put_.peer}); }
  void step(HostQueue& queue) override;
  void completed(HostQueue&, const OpCompletion&) override { --in_flight_; }
  bool issued() const override { return posted_all_; }
  bool finished() const override { return posted_all_ && in_flight_ == 0; }
  std::string describe() const override;

 private:
  const Channel channel_;
  const HostPut put_;
  const uint64_t piece_bytes_;
  uint64_t posted_ = 0;  // bytes
  uint32_t in_flight_ = 0;
  bool posted_all_ = false;
};

// The one-sided calls of a group and communicator: puts and signals that follow each other are one batch, each wait is
// one of its own.
class HostRmaRound final : public StreamRound {
 public:
  explicit HostRmaRound(Communicator& communicator) : communicator_(communicator) {}

  Status add(HostRmaCall call);

 private:
  Status launch_on(simt::Stream* stream) override;
  Status launch_puts(size_t first, size_t end, simt::Stream* stream);
  Status launch_wait(const HostRmaCall& call, simt::Stream* stream);

  Communicator& communicator_;
  std::vector<HostRmaCall> calls_;
};

}  // namespace anygin::comm
