// SPDX-License-Identifier: Apache-2.0
#include "anygin/simt/device_table.h"

#include <algorithm>
#include <map>

#include "anygin/base/host_threads.h"
#include "anygin/base/options.h"
#include "anygin/base/world.h"
#include "anygin/simt/capture.h"
#include "anygin/simt/cuda_error.h"
#include "anygin/simt/host_share.h"
#include "anygin/simt/host_wait.h"

namespace anygin::simt {

namespace {

constexpr uintptr_t kLegacyHandle = 1;
constexpr uintptr_t kPerThreadHandle = 2;
constexpr uint32_t kBlocksPerMultiprocessor = 32;
constexpr int kDevicesAtLeast = 8;

thread_local int this_threads_device = 0;

// The calling thread's own stream of each device; its work still completes when the thread ends.
struct ThreadStreams {
  std::map<int, std::shared_ptr<Stream>> of_device;
  ~ThreadStreams() {
    for (const auto& [device, stream] : of_device) device_table().destroy(stream.get());
  }
};

Stream* stream_of_this_thread(int device) {
  thread_local ThreadStreams streams;
  std::shared_ptr<Stream>& stream = streams.of_device[device];
  if (!stream) stream = device_table().create(device, Stream::Kind::kBlocking);
  return stream.get();
}

bool valid_device(int device) {
  return device >= 0 && device < device_table().count();
}

}  // namespace

void trace_stream_edge(const Stream& waiting, uint64_t stream, uint64_t ticket) {
  TraceSink& sink = world().trace;
  if (ticket == 0 || !sink.enabled()) return;
  TraceEvent event;
  event.kind = TraceKind::kStreamEdge;
  event.context = static_cast<uint32_t>(waiting.device());
  event.operation = waiting.id();
  event.bytes = stream;
  event.value = ticket;
  sink.record(event);
}

DeviceTable::DeviceTable(int devices) : devices_(static_cast<size_t>(devices)) {
  const DeviceProperties properties;
  for (int device = 0; device < devices; ++device) {
    DeviceLoad& load = devices_[static_cast<size_t>(device)].load;
    load.device = device;
    load.lanes_max = static_cast<uint32_t>(properties.multiprocessors * properties.threads_per_multiprocessor);
    load.blocks_max = static_cast<uint32_t>(properties.multiprocessors) * kBlocksPerMultiprocessor;
    devices_[static_cast<size_t>(device)].legacy =
        std::make_shared<Stream>(++last_stream_id_, Stream::Kind::kLegacy, load);
  }
}

void DeviceTable::wait_for(Stream& stream, const std::shared_ptr<Stream>& other) {
  if (other.get() == &stream) return;
  const uint64_t ticket = other->ticket();
  trace_stream_edge(stream, other->id(), ticket);
  if (other->reached(ticket)) return;
  stream.enqueue(WaitOperation{[other, ticket] { return other->reached(ticket); }, "the default stream"});
}

uint64_t DeviceTable::enqueue(Stream& stream, StreamOperation operation) {
  if (const std::shared_ptr<Capture> capture = stream.capture()) {
    capture->add(stream, std::move(operation));
    return 0;
  }
  if (stream.kind() == Stream::Kind::kLegacy) {
    for (const std::shared_ptr<Stream>& other : streams_of(stream.device())) {
      if (other->kind() == Stream::Kind::kBlocking) wait_for(stream, other);
    }
  } else if (stream.kind() == Stream::Kind::kBlocking) {
    wait_for(stream, devices_[static_cast<size_t>(stream.device())].legacy);
  }
  return stream.enqueue(std::move(operation));
}

std::shared_ptr<Stream> DeviceTable::create(int device, Stream::Kind kind) {
  const std::lock_guard lock(mutex_);
  Device& owner = devices_[static_cast<size_t>(device)];
  owner.streams.push_back(std::make_shared<Stream>(++last_stream_id_, kind, owner.load));
  return owner.streams.back();
}

bool DeviceTable::destroy(Stream* stream) {
  const std::lock_guard lock(mutex_);
  for (Device& device : devices_) {
    const auto found = std::find_if(device.streams.begin(), device.streams.end(),
                                    [&](const auto& one) { return one.get() == stream; });
    if (found == device.streams.end()) continue;
    std::erase_if(device.retired, [](const auto& one) { return one->drained(); });
    device.retired.push_back(std::move(*found));
    device.streams.erase(found);
    return true;
  }
  return false;
}

Stream* DeviceTable::resolve(void* handle, int device) {
  const auto value = reinterpret_cast<uintptr_t>(handle);
  if (value == 0 || value == kLegacyHandle) return devices_[static_cast<size_t>(device)].legacy.get();
  if (value == kPerThreadHandle) return stream_of_this_thread(device);
  const std::lock_guard lock(mutex_);
  for (const Device& one : devices_) {
    if (one.legacy.get() == handle) return one.legacy.get();
    for (const auto& stream : one.streams) {
      if (stream.get() == handle) return stream.get();
    }
  }
  return nullptr;
}

std::vector<std::shared_ptr<Stream>> DeviceTable::streams_of(int device) {
  const std::lock_guard lock(mutex_);
  const Device& owner = devices_[static_cast<size_t>(device)];
  std::vector<std::shared_ptr<Stream>> streams = owner.streams;
  streams.push_back(owner.legacy);
  streams.insert(streams.end(), owner.retired.begin(), owner.retired.end());
  return streams;
}

void DeviceTable::add(Event* event) {
  const std::lock_guard lock(mutex_);
  events_.insert(event);
}

bool DeviceTable::remove(Event* event) {
  const std::lock_guard lock(mutex_);
  return events_.erase(event) != 0;
}

bool DeviceTable::is_live(Event* event) {
  const std::lock_guard lock(mutex_);
  return events_.count(event) != 0;
}

DeviceTable& device_table() {
  static DeviceTable& table =
      *new DeviceTable(options().devices > 0 ? options().devices : std::max(kDevicesAtLeast, processes_of_host()));
  return table;
}

// --- device.h: devices and streams ---

int device_count() {
  return device_table().count();
}

DeviceProperties device_properties(int) {
  DeviceProperties properties;
  properties.memory_bytes = world().heap.capacity();
  return properties;
}

int current_device() {
  return this_threads_device;
}

int set_current_device(int device) {
  if (!valid_device(device)) return kCudaInvalidDevice;
  this_threads_device = device;
  return kCudaSuccess;
}

Stream* resolve_stream(void* handle) {
  return device_table().resolve(handle, current_device());
}

Stream* create_stream(int device, bool non_blocking) {
  if (!valid_device(device)) return nullptr;
  return device_table().create(device, non_blocking ? Stream::Kind::kNonBlocking : Stream::Kind::kBlocking).get();
}

int destroy_stream(Stream* stream) {
  return device_table().destroy(stream) ? kCudaSuccess : kCudaInvalidResourceHandle;
}

int stream_device(const Stream* stream) {
  return stream->device();
}

int enqueue_host_work(Stream* stream, std::function<int()> work) {
  if (!stream || !work) return kCudaInvalidValue;
  if (const int error = device_error(stream->device())) return error;
  device_table().enqueue(*stream, HostOperation{std::move(work)});
  return kCudaSuccess;
}

int enqueue_wait(Stream* stream, std::function<bool()> ready, std::string what) {
  if (!stream || !ready) return kCudaInvalidValue;
  if (const int error = device_error(stream->device())) return error;
  device_table().enqueue(*stream, WaitOperation{std::move(ready), std::move(what)});
  return kCudaSuccess;
}

int synchronize_stream(Stream* stream) {
  if (!stream) return kCudaInvalidResourceHandle;
  const ApiCall call("waiting for a stream");
  const std::shared_ptr<Stream> kept = stream->shared_from_this();
  const uint64_t ticket = kept->ticket();
  block_host_until([&] { return kept->reached(ticket); });
  return query_stream(stream);
}

int query_stream(Stream* stream) {
  if (!stream) return kCudaInvalidResourceHandle;
  if (const int error = device_error(stream->device())) return error;
  if (const int error = stream->error()) return error;
  return stream->drained() ? kCudaSuccess : answer_later(kCudaNotReady);
}

int synchronize_device(int device) {
  if (!valid_device(device)) return kCudaInvalidDevice;
  const ApiCall call("waiting for a device");
  for (const std::shared_ptr<Stream>& stream : device_table().streams_of(device)) {
    const uint64_t ticket = stream->ticket();
    block_host_until([&] { return stream->reached(ticket); });
  }
  return device_error(device);
}

}  // namespace anygin::simt
