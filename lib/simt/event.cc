// SPDX-License-Identifier: Apache-2.0
#include "anygin/simt/event.h"

#include "anygin/base/host_threads.h"
#include "anygin/base/mutant.h"
#include "anygin/base/world.h"
#include "anygin/simt/capture.h"
#include "anygin/simt/cuda_error.h"
#include "anygin/simt/device.h"
#include "anygin/simt/device_table.h"
#include "anygin/simt/host_wait.h"
#include "anygin/simt/stream.h"

namespace anygin::simt {

void EventState::complete(uint64_t ticket, Time now) {
  uint64_t seen = completed.load(std::memory_order_relaxed);
  if (seen >= ticket) return;  // recorded again in another stream, which was faster
  when.store(now, std::memory_order_relaxed);
  while (seen < ticket && !completed.compare_exchange_weak(seen, ticket, std::memory_order_acq_rel)) {
  }
}

Event* resolve_event(void* handle) {
  auto* event = static_cast<Event*>(handle);
  return device_table().is_live(event) ? event : nullptr;
}

Event* create_event(bool timing) {
  auto* event = new Event(timing);
  device_table().add(event);
  return event;
}

void destroy_event(Event* event) {
  if (device_table().remove(event)) delete event;
}

int record_event(Event* event, Stream* stream) {
  if (!event || !stream) return kCudaInvalidResourceHandle;
  if (const int error = device_error(stream->device())) return error;
  const std::shared_ptr<Capture> capture = stream->capture();
  {
    const std::lock_guard lock(event->mutex);
    event->captured_in = capture;
    event->behind = capture ? capture->tails(*stream) : std::vector<size_t>();
  }
  if (capture) return kCudaSuccess;
  const uint64_t ticket = event->state->recorded.fetch_add(1, std::memory_order_acq_rel) + 1;
  const uint64_t place = device_table().enqueue(*stream, RecordOperation{event->state, ticket});
  event->state->device.store(stream->device(), std::memory_order_relaxed);
  event->state->stream.store(stream->id(), std::memory_order_relaxed);
  event->state->place.store(place, std::memory_order_relaxed);
  return kCudaSuccess;
}

static bool is_captured(Event& event) {
  const std::lock_guard lock(event.mutex);
  return event.captured_in != nullptr;
}

// The error of the device that the event was recorded on.
static int error_of(const EventState& state) {
  const int device = state.device.load(std::memory_order_relaxed);
  return device >= 0 ? device_error(device) : static_cast<int>(kCudaSuccess);
}

int query_event(Event* event) {
  if (!event) return kCudaInvalidResourceHandle;
  if (is_captured(*event)) return kCudaCapturedEvent;
  if (const int error = error_of(*event->state)) return error;
  return event->state->reached(event->state->recorded.load(std::memory_order_acquire)) ? kCudaSuccess
                                                                                       : answer_later(kCudaNotReady);
}

int synchronize_event(Event* event) {
  if (!event) return kCudaInvalidResourceHandle;
  if (is_captured(*event)) return kCudaCapturedEvent;
  const ApiCall call("waiting for an event");
  const std::shared_ptr<EventState> state = event->state;
  const uint64_t ticket = state->recorded.load(std::memory_order_acquire);
  block_host_until([&] { return state->reached(ticket); });
  return error_of(*state);
}

// `done` if the wait is one of a graph. Waits never leave or enter a graph otherwise: both captures are lost then.
static int wait_in_capture(Stream& stream, Event& event, bool* done) {
  const std::lock_guard lock(event.mutex);
  const std::shared_ptr<Capture> own = stream.capture(), of_event = event.captured_in;
  if (!own && !of_event) return kCudaSuccess;
  if (!of_event) {
    own->invalidate();
    return kCudaStreamCaptureIsolation;
  }
  if (own && own != of_event) {
    own->invalidate();
    of_event->invalidate();
    return kCudaStreamCaptureMerge;
  }
  if (!of_event->valid()) return own ? kCudaStreamCaptureInvalidated : kCudaCapturedEvent;
  if (stream.kind() == Stream::Kind::kLegacy) return kCudaStreamCaptureImplicit;
  of_event->join(stream, event.behind);
  if (!own) stream.set_capture(of_event);
  *done = true;
  return kCudaSuccess;
}

int stream_wait_event(Stream* stream, Event* event) {
  if (!event || !stream) return kCudaInvalidResourceHandle;
  if (const int error = device_error(stream->device())) return error;
  if (Stream::any_captures() || is_captured(*event)) {
    bool done = false;
    const int error = wait_in_capture(*stream, *event, &done);
    if (done || error) return error;
  }
  const std::shared_ptr<EventState> state = event->state;
  const uint64_t ticket = state->recorded.load(std::memory_order_acquire);
  trace_stream_edge(*stream, state->stream.load(std::memory_order_relaxed),
                    state->place.load(std::memory_order_relaxed));
  if (state->reached(ticket) || MUTANT(simt_edge_dropped)) return kCudaSuccess;
  device_table().enqueue(*stream, WaitOperation{[state, ticket] { return state->reached(ticket); }, "an event"});
  return kCudaSuccess;
}

int event_elapsed_ns(Event* start, Event* stop, uint64_t* ns) {
  if (!start || !stop || !ns) return kCudaInvalidValue;
  for (const Event* event : {start, stop}) {
    const uint64_t recorded = event->state->recorded.load(std::memory_order_acquire);
    if (!event->timing || recorded == 0) return kCudaInvalidResourceHandle;
    if (!event->state->reached(recorded)) return kCudaNotReady;
  }
  const Time from = start->state->when.load(std::memory_order_relaxed);
  const Time to = stop->state->when.load(std::memory_order_relaxed);
  *ns = to > from ? (to - from) / kNanosecond : 0;
  return kCudaSuccess;
}

}  // namespace anygin::simt
