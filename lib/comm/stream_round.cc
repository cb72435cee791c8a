// SPDX-License-Identifier: Apache-2.0
#include "anygin/comm/stream_round.h"

#include <fmt/format.h>

#include <algorithm>

#include "anygin/simt/device.h"

namespace anygin::comm {

Status StreamRound::join(std::string_view name, simt::Stream* stream) {
  const uint64_t capture = HostQueue::capture_of(stream);
  if (!streams_.empty() && capture != capture_) {
    return Status(Cause::kCaptureMixed, name,
                  "the communicator's streams in a group must all be captured by one graph, or none of them");
  }
  capture_ = capture;
  if (std::find(streams_.begin(), streams_.end(), stream) == streams_.end()) streams_.push_back(stream);
  return Status();
}

Status StreamRound::launch() {
  if (streams_.empty()) return Status();
  ANYGIN_TRY(chain(true));
  ANYGIN_TRY(launch_on(streams_.front()));
  return chain(false);
}

// Before: the launch comes behind what all streams have. After: what comes on any of them is behind it.
Status StreamRound::chain(bool before) const {
  for (size_t i = 1; i < streams_.size(); ++i) {
    simt::Stream* from = before ? streams_[i] : streams_.front();
    simt::Stream* to = before ? streams_.front() : streams_[i];
    simt::Event* event = simt::create_event(false);
    int error = simt::record_event(event, from);
    if (error == 0) error = simt::stream_wait_event(to, event);
    simt::destroy_event(event);
    if (error != 0)
      return Status(Cause::kCudaCall, "group", fmt::format("its streams cannot be joined: cudaError {}", error));
  }
  return Status();
}

}  // namespace anygin::comm
