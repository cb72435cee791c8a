// SPDX-License-Identifier: Apache-2.0
// The host's one-sided operations (contract 3): put with signal, signal, wait for signals. Checked arguments only; the
// calls put them on a stream through the host queue.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "anygin/base/status.h"
#include "anygin/comm/host_queue.h"

namespace anygin::comm {

class Communicator;

// A put and its signal; without bytes the signal alone.
struct HostPut {
  Rank peer = 0;
  RegionRef source, destination;
  uint64_t bytes = 0;
};

// Cuts a put into operations that a transport takes, in order; only the last one carries the signal.
class PutTask final : public HostTask {
 public:
  // At most `piece_bytes` an operation.
  PutTask(Channel channel, const HostPut& put, uint64_t piece_bytes = Transport::kBytesMax);

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

}  // namespace anygin::comm
