// SPDX-License-Identifier: Apache-2.0
// The stream-ordered queue of one rank of a communicator: what the host's one-sided and two-sided calls put on a
// stream. Tasks begin when the stream gets to them and run in an engine, over a transport of their own; the stream goes
// on when they are finished. Nothing blocks a thread.
//
//   queue.launch(stream, [=] { return std::vector<LaneTask>{{lane, std::make_shared<PutTask>(...)}}; }, "...");
//   queue.launch_wait(stream, Channel::kHostRma, {{peer, 2}}, "...");      two more signals of `peer`
//
// On a stream that captures, tasks are made and signals counted each time that a replay gets there.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "anygin/backends/backend.h"
#include "anygin/backends/transport.h"
#include "anygin/base/bootstrap.h"
#include "anygin/base/engine.h"
#include "anygin/comm/host_task.h"

namespace anygin::simt {
class Stream;
}

namespace anygin::comm {

struct LaneTask {
  LaneId lane;
  std::shared_ptr<HostTask> task;
};

struct SignalCount {
  Rank source = 0;
  uint64_t count = 0;
  uint32_t selector = 0;  // which of the channel's signals
};

struct StreamPoint;
class StreamGate;
class StreamHold;
struct SignalWait;

struct HostQueueOpening {
  Bootstrap& bootstrap;
  BackendListener& listener;  // hears of operations that failed
  std::shared_ptr<verbs::Nic> nic;
  int traffic_class = 0;
  uint32_t selectors = 1;  // signals of the channels of one-sided operations, for each source
};

class HostQueue final : public Engine {
 public:
  static constexpr uint32_t kNoRegion = ~uint32_t{0};

  // Why there is none with these options; empty if there is one. The same on every rank.
  static std::string why_none(const Options& options);
  // Collective. What the opening refers to outlives the queue.
  static Result<std::unique_ptr<HostQueue>> open(const HostQueueOpening& opening);
  ~HostQueue() override;

  // --- Host threads ---
  // Collective.
  Status register_window(WindowId id, char* base, uint64_t bytes, bool strict_ordering);
  // Local; no task uses it any more.
  void deregister_window(WindowId id);
  // Collective. Memory of the library's own that tasks use until the queue ends; it outlives the queue.
  Result<uint32_t> add_region(char* base, uint64_t bytes) { return transport_->register_region({base, bytes, false}); }
  // The transport's region of a window; kNoRegion if it is not registered.
  uint32_t region_of(WindowId id) const;
  // Not 0: what is queued on the stream becomes part of a graph, and goes through a channel of its own.
  static uint64_t capture_of(const simt::Stream* stream);
  // Queues tasks on `stream`. `make` runs now, or for a stream that captures on each replay, in the engine: it gives
  // new tasks each time. `what` is for reports. kCudaError if the stream's device is lost.
  Status launch(simt::Stream* stream, std::function<std::vector<LaneTask>()> make, const std::string& what);
  // Holds `stream` until `counts` more signals have come than all earlier waits of the channel asked for.
  Status launch_wait(simt::Stream* stream, Channel channel, std::vector<SignalCount> counts, const std::string& what);

  // --- Any thread ---
  // Anything on a stream that did not get there, in a lane, or on its way? What graphs hold does not count.
  bool pending() const;
  // Does a stream have to come to what was queued on it?
  bool holds_streams() const { return on_streams_.load(std::memory_order_acquire) != 0; }
  // Anything on its way?
  bool busy() const { return transport_->busy(); }
  // Fails what is in flight; streams that wait here end as after a failed kernel. Idempotent.
  void abort(const std::string& why);

  // --- Tasks: token held ---
  Rank rank() const { return rank_; }
  int size() const { return size_; }
  // What a put is cut into.
  uint64_t piece_bytes() const { return piece_bytes_; }
  void set_piece_bytes_for_test(uint64_t bytes) { piece_bytes_ = bytes; }
  bool has_room(LaneId lane) const { return transport_->has_room(context_of(lane.channel), lane.peer); }
  // From step() and completed() only. Fills in context, peer and cookie. has_room() was true.
  void post(LaneId lane, Op op);
  // Is the region registered here? Windows may be deregistered while a put waits for its stream.
  bool is_registered(uint32_t region) const { return transport_->region_bytes(region, rank_) != 0; }
  // A task cannot go on: ends the communicator, and the waits of streams.
  void fail(AbortCause cause, Rank peer, Cause why_cause, const std::string& why);
  // One signal of this rank at whatever peer the operation goes to.
  SignalPart signal_of(Channel channel, uint32_t selector = 0) const;
  // Signals that came from `source`; what it wrote before them is visible.
  uint64_t signals_from(Channel channel, Rank source, uint32_t selector = 0) const;

  // --- Engine ---
  EngineId id() const override { return id_; }
  std::string_view name() const override { return "host queue"; }
  bool has_work() const override;
  void ready(ActionList& out) override;
  void run(const Action& action, Time now) override;
  void describe_pending(std::vector<std::string>& out) const override;

 private:
  friend class StreamHold;
  enum ActionKind : uint16_t { kStep = 1, kPoll = 2 };  // kStep's name is channel << 32 | peer
  static constexpr size_t kPollBatch = 16;
  static constexpr uint32_t kDepth = 64;
  static constexpr size_t kRmaChannels = 2;  // kHostRma and kCapturedHostRma
  struct Entry;
  using Lane = std::deque<std::shared_ptr<Entry>>;

  HostQueue(std::unique_ptr<Transport> transport, const HostQueueOpening& opening);
  Status allocate_cells();
  Status share(int traffic_class);
  std::shared_ptr<StreamPoint> line_up(std::vector<LaneTask> tasks, bool reached);
  std::shared_ptr<SignalWait> expect(Channel channel, const std::vector<SignalCount>& counts);
  uint32_t context_of(Channel channel) const { return *first_context_ + static_cast<uint32_t>(channel); }
  // Cells of a channel: [selector][source]; those of one-sided operations come first and have several selectors.
  size_t cell_index(Channel channel, Rank source, uint32_t selector) const {
    const auto at = static_cast<size_t>(channel);
    const size_t row = at < kRmaChannels ? at * selectors_ + selector : at + kRmaChannels * (selectors_ - size_t{1});
    return row * static_cast<size_t>(size_) + static_cast<size_t>(source);
  }
  std::vector<std::shared_ptr<Entry>> heads();
  void step(LaneId lane);
  void poll();
  void complete(const OpCompletion& completion);
  void settle(Entry& entry);
  void look_again();

  // Fixed after open.
  const std::unique_ptr<Transport> transport_;
  BackendListener& listener_;
  const Rank rank_;
  const int size_;
  const uint32_t selectors_;
  const EngineId id_;
  const std::shared_ptr<StreamGate> gate_;
  uint64_t piece_bytes_ = Transport::kBytesMax;
  uint64_t* cells_ = nullptr;  // by cell_index(): peers add
  std::optional<uint32_t> cell_region_, first_context_;
  // Engine only.
  std::map<uint64_t, std::shared_ptr<Entry>> in_flight_;  // by cookie
  std::shared_ptr<Entry> current_;                        // its task runs
  uint64_t last_cookie_ = 0;
  bool skip_poll_ = false;  // the last poll found nothing: end the step instead of polling again
  // Any thread.
  std::atomic<bool> more_{false};        // lanes changed
  std::atomic<bool> looking_{false};     // a task waits for what nobody tells
  std::atomic<uint32_t> on_streams_{0};  // holds of streams that are not through
  std::atomic<uint32_t> in_lanes_{0};

  mutable std::mutex mutex_;  // all below
  std::map<LaneId, Lane> lanes_;
  std::vector<uint64_t> expected_;  // as cells_
  std::vector<std::weak_ptr<SignalWait>> waits_;
  std::map<uint16_t, uint32_t> regions_;  // by window
};

}  // namespace anygin::comm
