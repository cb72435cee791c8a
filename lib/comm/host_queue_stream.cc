// SPDX-License-Identifier: Apache-2.0
// The stream's side of the host queue: each launch is three operations of the stream: begin, wait, end.
#include <fmt/format.h>

#include "anygin/base/mutant.h"
#include "anygin/comm/host_queue.h"
#include "anygin/comm/stream_gate.h"
#include "anygin/simt/capture.h"
#include "anygin/simt/cuda_error.h"
#include "anygin/simt/device.h"

namespace anygin::comm {
namespace {

struct StreamSteps {
  std::function<void()> begin;  // may be null
  std::function<bool()> over;
};

// Nothing on the stream runs after a wait without hope: its device is lost, as after a kernel that failed.
Status put_on(simt::Stream* stream, const std::shared_ptr<StreamGate>& gate, const StreamSteps& steps,
              const std::string& what) {
  const int device = simt::stream_device(stream);
  int error = 0;
  if (steps.begin) {
    error = simt::enqueue_host_work(stream, [begin = steps.begin] {
      begin();
      return 0;
    });
  }
  if (error == 0)
    error = simt::enqueue_wait(
        stream, [gate, over = steps.over] { return over() || gate->hopeless(); }, what);
  if (error == 0) {
    error = simt::enqueue_host_work(stream, [gate, over = steps.over, device, what] {
      if (!over())
        simt::poison_device(device, simt::kCudaLaunchFailure, what + ": " + gate->why(), AbortCause::kAborted);
      return 0;
    });
  }
  if (error == 0) return Status();
  return Status(Cause::kCudaCall, "stream",
                fmt::format("{} cannot be queued: device {}: cudaError {}", what, device, error));
}

}  // namespace

uint64_t HostQueue::capture_of(const simt::Stream* stream) {
  uint64_t capture = 0;
  return simt::capture_status(stream, &capture) != 0 ? capture : 0;
}

StreamHold::StreamHold(HostQueue& queue, std::shared_ptr<StreamGate> gate, std::shared_ptr<StreamPoint> point)
    : gate_(std::move(gate)), point_(std::move(point)) {
  queue.on_streams_.fetch_add(1, std::memory_order_acq_rel);
}

StreamHold::~StreamHold() {
  if (point_ && !point_->reached.load(std::memory_order_acquire)) point_->abandoned.store(true);
  gate_->with([](HostQueue& queue) {
    queue.on_streams_.fetch_sub(1, std::memory_order_acq_rel);
    queue.look_again();
  });
}

Status HostQueue::launch(simt::Stream* stream, std::function<std::vector<LaneTask>()> make, const std::string& what) {
  if (capture_of(stream) != 0) {
    // Replays of one graph do not overlap: each finds the point of its own begin.
    const auto point = std::make_shared<std::shared_ptr<StreamPoint>>();
    const auto begin = [gate = gate_, point, make = std::move(make)] {
      point->reset();
      gate->with([&](HostQueue& queue) { *point = queue.line_up(make(), true); });
    };
    return put_on(stream, gate_, {begin, [point] { return *point && (*point)->over(); }}, what);
  }
  const std::shared_ptr<StreamPoint> point = line_up(make(), false);
  const auto hold = std::make_shared<StreamHold>(*this, gate_, point);
  const auto begin = [gate = gate_, hold, point] {
    point->reached.store(true, std::memory_order_release);
    gate->with([](HostQueue& queue) { queue.look_again(); });
  };
  return put_on(stream, gate_, {begin, [hold, point] { return point->over() || MUTANT(rma_stream_runs_ahead); }}, what);
}

Status HostQueue::launch_wait(simt::Stream* stream, Channel channel, std::vector<SignalCount> counts,
                              const std::string& what) {
  const auto came = [](HostQueue& queue, const SignalWait& wait) {
    for (const SignalCount& one : wait.wanted) {
      if (queue.signals_from(wait.channel, one.source, one.selector) < one.count) return false;
    }
    return true;
  };
  const auto over = [gate = gate_, came](const std::shared_ptr<SignalWait>& wait) {
    bool all = false;
    gate->with([&](HostQueue& queue) { all = wait && came(queue, *wait); });
    return all;
  };
  if (capture_of(stream) != 0) {
    const auto wait = std::make_shared<std::shared_ptr<SignalWait>>();
    const auto begin = [gate = gate_, wait, channel, counts = std::move(counts)] {
      if (MUTANT(rma_replay_counts_once) && *wait) return;
      wait->reset();
      gate->with([&](HostQueue& queue) { *wait = queue.expect(channel, counts); });
    };
    return put_on(stream, gate_, {begin, [over, wait] { return over(*wait); }}, what);
  }
  const std::shared_ptr<SignalWait> wait = expect(channel, counts);
  const auto hold = std::make_shared<StreamHold>(*this, gate_, nullptr);
  return put_on(stream, gate_, {nullptr, [over, hold, wait] { return over(wait); }}, what);
}

}  // namespace anygin::comm
