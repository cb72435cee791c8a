// SPDX-License-Identifier: Apache-2.0
#include "anygin/comm/host_rma.h"

#include <fmt/format.h>

#include <algorithm>

namespace anygin::comm {

PutTask::PutTask(Channel channel, const HostPut& put, uint64_t piece_bytes)
    : channel_(channel), put_(put), piece_bytes_(std::min(piece_bytes, Transport::kBytesMax)) {}

void PutTask::step(HostQueue& queue) {
  Op op;
  op.kind = OpKind::kPut;
  op.bytes = std::min(piece_bytes_, put_.bytes - posted_);
  op.local = {put_.source.region, put_.source.offset + posted_};
  op.remote = {put_.destination.region, put_.destination.offset + posted_};
  posted_ += op.bytes;
  posted_all_ = posted_ == put_.bytes;
  if (posted_all_) op.signal = queue.signal_of(channel_);
  ++in_flight_;
  queue.post({channel_, put_.peer}, op);
}

std::string PutTask::describe() const {
  return put_.bytes == 0 ? "a signal" : fmt::format("a put of {} bytes", put_.bytes);
}

}  // namespace anygin::comm
