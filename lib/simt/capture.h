// SPDX-License-Identifier: Apache-2.0
// Stream capture: while a stream captures, what is queued on it becomes nodes of a graph. Other streams join by waiting
// for an event that was recorded in it. Host threads.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "anygin/simt/graph.h"

namespace anygin::simt {

class Stream;

enum class CaptureMode : int { kGlobal, kThreadLocal, kRelaxed };  // as cudaStreamCaptureMode

// One capture, of one or several streams. Thread-safe.
class Capture {
 public:
  Capture(uint64_t id, CaptureMode mode, Stream& origin);

  uint64_t id() const { return id_; }
  bool valid() const;
  // Nothing more can come of it.
  void invalidate();
  bool ends_here(const Stream& stream) const { return &stream == origin_; }
  bool may_end_on_this_thread() const;

  void add(Stream& stream, StreamOperation operation);
  void add(Stream& stream, const GraphBody& child);
  // The nodes that whatever comes next in `stream` depends on.
  std::vector<size_t> tails(const Stream& stream) const;
  // `stream` depends on `nodes` too; it captures from now on.
  void join(Stream& stream, const std::vector<size_t>& nodes);

  // The graph; null if it was invalidated. `error` is why, a cudaError_t. Streams capture no more.
  std::shared_ptr<GraphBody> end(int* error);

 private:
  bool all_joined() const;

  const uint64_t id_;
  const CaptureMode mode_;
  Stream* const origin_;
  const uint64_t thread_;
  mutable std::mutex mutex_;
  bool valid_ = true;
  std::shared_ptr<GraphBody> body_;
  struct Member {
    std::shared_ptr<Stream> stream;
    std::vector<size_t> tails;
  };
  std::map<uint64_t, Member> members_;  // by stream id
};

// --- What the runtime API asks. All return a cudaError_t ---
int begin_capture(Stream* stream, CaptureMode mode);
int end_capture(Stream* stream, std::shared_ptr<GraphBody>* graph);
// 0 none, 1 active, 2 invalidated, as cudaStreamCaptureStatus; the capture's id if it is one.
int capture_status(const Stream* stream, uint64_t* id);
// May `stream` be waited for or asked? kCudaStreamCaptureUnsupported, and the capture is lost, if it captures.
int refuse_while_capturing(Stream* stream);
// May the legacy stream of a device be used? Not while a stream that it would wait for captures.
int refuse_legacy_while_capturing(const Stream* stream);
int refuse_device_while_capturing(int device);

}  // namespace anygin::simt
