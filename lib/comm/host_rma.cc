// SPDX-License-Identifier: Apache-2.0
#include "anygin/comm/host_rma.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "anygin/base/mutant.h"
#include "anygin/comm/communicator.h"

namespace anygin::comm {

// --- A put -----------------------------------------------------------------------------------------------------------
PutTask::PutTask(Channel channel, const HostPut& put, uint64_t piece_bytes)
    : channel_(channel), put_(put), piece_bytes_(piece_bytes) {}

void PutTask::step(HostQueue& queue) {
  const bool windows_there =
      put_.bytes == 0 || (queue.is_registered(put_.source.region) && queue.is_registered(put_.destination.region));
  if (!windows_there) {
    return queue.fail(AbortCause::kMisuse, put_.peer, Cause::kSignalPending,
                      fmt::format("{} to rank {}: its window was deregistered before its stream came to it; behind "
                                  "the stream would be right",
                                  describe(), put_.peer));
  }
  Op op;
  op.kind = OpKind::kPut;
  op.bytes = std::min(piece_bytes_, put_.bytes - posted_);
  op.local = {put_.source.region, put_.source.offset + posted_};
  op.remote = {put_.destination.region, put_.destination.offset + posted_};
  posted_ += op.bytes;
  posted_all_ = posted_ == put_.bytes;
  if (posted_all_ || MUTANT(rma_signal_each_piece)) op.signal = queue.signal_of(channel_, put_.selector);
  ++in_flight_;
  queue.post({channel_, put_.peer}, op);
}

std::string PutTask::describe() const {
  return put_.bytes == 0 ? "a signal" : fmt::format("a put of {} bytes", put_.bytes);
}

// --- The calls of a group --------------------------------------------------------------------------------------------
Status HostRmaRound::add(HostRmaCall call) {
  ANYGIN_TRY(join(call.name, call.stream));
  calls_.push_back(std::move(call));
  return Status();
}

Status HostRmaRound::launch_on(simt::Stream* stream) {
  for (size_t at = 0; at < calls_.size();) {
    size_t end = at;
    while (end < calls_.size() && std::holds_alternative<HostPut>(calls_[end].what)) ++end;
    if (end == at) {
      ANYGIN_TRY(launch_wait(calls_[at++], stream));
    } else {
      ANYGIN_TRY(launch_puts(at, end, stream));
      at = end;
    }
  }
  return Status();
}

// Puts to different peers are in different lanes: they run at the same time.
Status HostRmaRound::launch_puts(size_t first, size_t end, simt::Stream* stream) {
  const Channel channel = capture() != 0 ? Channel::kCapturedHostRma : Channel::kHostRma;
  std::vector<HostPut> puts;
  for (size_t i = first; i < end; ++i) puts.push_back(std::get<HostPut>(calls_[i].what));
  HostQueue& queue = *communicator_.host_queue();
  const uint64_t piece = queue.piece_bytes();
  const std::string what = fmt::format("{} of rank {} to rank {}{}", calls_[first].name, communicator_.rank(),
                                       puts.front().peer, puts.size() == 1 ? "" : " and others of its group");
  return queue.launch(
      stream,
      [channel, puts, piece] {
        std::vector<LaneTask> tasks;
        for (const HostPut& put : puts) {
          tasks.push_back({{channel, put.peer}, std::make_shared<PutTask>(channel, put, piece)});
        }
        return tasks;
      },
      what);
}

Status HostRmaRound::launch_wait(const HostRmaCall& call, simt::Stream* stream) {
  const Channel channel = capture() != 0 ? Channel::kCapturedHostRma : Channel::kHostRma;
  return communicator_.host_queue()->launch_wait(stream, channel, std::get<HostWait>(call.what).counts,
                                                 fmt::format("{} of rank {}", call.name, communicator_.rank()));
}

Status submit_host_rma(Communicator& communicator, HostRmaCall call) {
  return submit_to_round<HostRmaRound>(JobKind::kHostRma, communicator, communicator.device(), std::move(call));
}

}  // namespace anygin::comm
