// SPDX-License-Identifier: Apache-2.0
// One rank's sends, receives and collectives: calls become transfers, transfers become tasks of the host queue, which
// begins them when their stream is there. User memory is any device memory: data goes through slots of our own.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "anygin/backends/backend.h"
#include "anygin/comm/exchange_core.h"
#include "anygin/comm/host_queue.h"
#include "anygin/comm/stream_round.h"

namespace anygin::comm {

class Communicator;

// A sum whose contributions are multiplied first.
struct ScaledSum {
  Element element = Element::kInt8;
  const char* scalar = nullptr;       // read in stream order
  std::shared_ptr<const void> owner;  // of a scalar that was read at the call
  bool live = true;
};

class Exchange {
 public:
  // Collective. All that is named outlives it; the queue's engine is stopped before it ends.
  static Result<std::unique_ptr<Exchange>> open(HostQueue& queue, BackendListener& listener, int device);
  ~Exchange();

  // Queues the calls: they begin together, when the stream is there, and it goes on when all are done. Enqueued on
  // return, no more.
  Status launch(const std::vector<CallRequest>& requests, simt::Stream* stream);

  // Operators that the program made, numbered from 0. Any thread.
  size_t add_sum(const ScaledSum& sum);
  // Empty: there is none, or it was destroyed.
  std::optional<ScaledSum> find_sum(size_t index) const;
  bool remove_sum(size_t index);

 private:
  class Port;
  class Task;
  Exchange(HostQueue& queue, BackendListener& listener, ExchangeShape shape, char* memory);
  std::vector<LaneTask> make_tasks(const std::vector<CallRequest>& requests);

  HostQueue& queue_;
  BackendListener& listener_;
  char* const memory_;
  uint32_t region_ = 0;  // fixed after open
  ExchangeCore core_;    // the queue's engine only

  mutable std::mutex mutex_;  // sums_
  std::vector<ScaledSum> sums_;
};

struct ExchangeCall {
  CallRequest request;
  simt::Stream* stream = nullptr;
};

// The calls of a group on one communicator.
class ExchangeRound final : public StreamRound {
 public:
  explicit ExchangeRound(Communicator& communicator);

  Status add(const ExchangeCall& call);

 private:
  Status launch_on(simt::Stream* stream) override { return exchange_.launch(requests_, stream); }

  Exchange& exchange_;
  std::vector<CallRequest> requests_;
};

// Now, or with the thread's group.
Status submit_exchange(Communicator& communicator, const ExchangeCall& call);

}  // namespace anygin::comm
