// SPDX-License-Identifier: Apache-2.0
// Streams know their capture; events know the capture they were recorded in and the nodes they stand behind.
#include "anygin/simt/capture.h"

#include <algorithm>
#include <atomic>

#include "anygin/base/env_real.h"
#include "anygin/simt/cuda_error.h"
#include "anygin/simt/device_table.h"

namespace anygin::simt {
namespace {

uint64_t next_capture_id() {
  static std::atomic<uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

struct NodeOf {
  NodeWork operator()(LaunchOperation& launch) const { return KernelNode{std::move(launch.grid)}; }
  NodeWork operator()(HostOperation& host) const { return std::move(host); }
  NodeWork operator()(WaitOperation& wait) const { return std::move(wait); }
  NodeWork operator()(RecordOperation& record) const { return record.event; }
};

void append_new(std::vector<size_t>& to, const std::vector<size_t>& more) {
  for (size_t one : more) {
    if (std::find(to.begin(), to.end(), one) == to.end()) to.push_back(one);
  }
}

}  // namespace

Capture::Capture(uint64_t id, CaptureMode mode, Stream& origin)
    : id_(id), mode_(mode), origin_(&origin), thread_(thread_id()), body_(std::make_shared<GraphBody>()) {
  members_[origin.id()] = {origin.shared_from_this(), {}};
}

bool Capture::valid() const {
  const std::lock_guard lock(mutex_);
  return valid_;
}

void Capture::invalidate() {
  const std::lock_guard lock(mutex_);
  valid_ = false;
}

bool Capture::may_end_on_this_thread() const {
  return mode_ == CaptureMode::kRelaxed || thread_ == thread_id();
}

void Capture::add(Stream& stream, StreamOperation operation) {
  const std::lock_guard lock(mutex_);
  if (!valid_) return;
  std::vector<size_t>& tails = members_[stream.id()].tails;
  tails = {body_->add(stream.device(), tails, std::visit(NodeOf{}, operation))};
}

void Capture::add(Stream& stream, const GraphBody& child) {
  const std::lock_guard lock(mutex_);
  std::vector<size_t>& tails = members_[stream.id()].tails;
  tails = body_->add(child, tails);
}

std::vector<size_t> Capture::tails(const Stream& stream) const {
  const std::lock_guard lock(mutex_);
  const auto member = members_.find(stream.id());
  return member == members_.end() ? std::vector<size_t>() : member->second.tails;
}

void Capture::join(Stream& stream, const std::vector<size_t>& nodes) {
  const std::lock_guard lock(mutex_);
  Member& member = members_[stream.id()];
  member.stream = stream.shared_from_this();
  append_new(member.tails, nodes);
}

// The origin's last nodes are behind those of every other stream.
bool Capture::all_joined() const {
  std::vector<bool> reached(body_->nodes.size());
  const auto origin = members_.find(origin_->id());
  for (size_t tail : origin->second.tails) reached[tail] = true;
  for (size_t i = body_->nodes.size(); i-- > 0;) {
    if (!reached[i]) continue;
    for (size_t earlier : body_->nodes[i].after) reached[earlier] = true;
  }
  return std::all_of(reached.begin(), reached.end(), [](bool one) { return one; });
}

std::shared_ptr<GraphBody> Capture::end(int* error) {
  const std::lock_guard lock(mutex_);
  for (auto& [id, member] : members_) member.stream->set_capture(nullptr);
  *error = !valid_ ? kCudaStreamCaptureInvalidated : all_joined() ? kCudaSuccess : kCudaStreamCaptureUnjoined;
  valid_ = false;
  return *error == kCudaSuccess ? body_ : nullptr;
}

// --- What the runtime API asks ---

int begin_capture(Stream* stream, CaptureMode mode) {
  if (stream->kind() == Stream::Kind::kLegacy) return kCudaStreamCaptureUnsupported;
  if (stream->capture()) return kCudaIllegalState;
  stream->set_capture(std::make_shared<Capture>(next_capture_id(), mode, *stream));
  return kCudaSuccess;
}

int end_capture(Stream* stream, std::shared_ptr<GraphBody>* graph) {
  const std::shared_ptr<Capture> capture = stream->capture();
  if (!capture) return kCudaIllegalState;
  if (!capture->may_end_on_this_thread()) return kCudaStreamCaptureWrongThread;
  int error = kCudaSuccess;
  if (!capture->ends_here(*stream)) {
    capture->invalidate();
    return kCudaStreamCaptureUnmatched;
  }
  *graph = capture->end(&error);
  return error;
}

int capture_status(const Stream* stream, uint64_t* id) {
  const std::shared_ptr<Capture> capture = stream->capture();
  if (!capture) return 0;
  *id = capture->id();
  return capture->valid() ? 1 : 2;
}

int refuse_while_capturing(Stream* stream) {
  const std::shared_ptr<Capture> capture = stream->capture();
  if (!capture) return kCudaSuccess;
  capture->invalidate();
  return kCudaStreamCaptureUnsupported;
}

static int refuse_if_any(int device, bool blocking_only, int error) {
  for (const std::shared_ptr<Stream>& stream : device_table().streams_of(device)) {
    if (blocking_only && stream->kind() != Stream::Kind::kBlocking) continue;
    if (const std::shared_ptr<Capture> capture = stream->capture()) {
      capture->invalidate();
      return error;
    }
  }
  return kCudaSuccess;
}

int refuse_legacy_while_capturing(const Stream* stream) {
  if (stream->kind() != Stream::Kind::kLegacy || !Stream::any_captures()) return kCudaSuccess;
  return refuse_if_any(stream->device(), true, kCudaStreamCaptureImplicit);
}

int refuse_device_while_capturing(int device) {
  if (!Stream::any_captures()) return kCudaSuccess;
  return refuse_if_any(device, false, kCudaStreamCaptureUnsupported);
}

}  // namespace anygin::simt
