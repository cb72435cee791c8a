// SPDX-License-Identifier: Apache-2.0
// The devices of this process and their streams: one of the three process-wide objects (docs/decisions/0001).
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "anygin/simt/device.h"
#include "anygin/simt/stream.h"

namespace anygin::simt {

// Thread-safe. Never destroyed.
class DeviceTable {
 public:
  explicit DeviceTable(int devices);

  int count() const { return static_cast<int>(devices_.size()); }
  DeviceLoad& load(int device) { return devices_[static_cast<size_t>(device)].load; }

  // Puts `operation` on the stream, behind what CUDA's legacy default stream makes it wait for.
  // Returns its ticket there.
  uint64_t enqueue(Stream& stream, StreamOperation operation);
  std::shared_ptr<Stream> create(int device, Stream::Kind kind);
  // False if it is not live.
  bool destroy(Stream* stream);
  Stream* resolve(void* handle, int device);
  // All whose work synchronize_device() waits for.
  std::vector<std::shared_ptr<Stream>> streams_of(int device);

  // Handles of live events.
  void add(Event* event);
  // False if it is not live.
  bool remove(Event* event);
  bool is_live(Event* event);

 private:
  struct Device {
    DeviceLoad load;
    std::shared_ptr<Stream> legacy;
    std::vector<std::shared_ptr<Stream>> streams;  // created ones, in order
    std::vector<std::shared_ptr<Stream>> retired;  // destroyed ones whose work may not be complete
  };

  void wait_for(Stream& stream, const std::shared_ptr<Stream>& other);

  std::mutex mutex_;
  std::deque<Device> devices_;
  std::set<Event*> events_;  // asked for membership only
  uint64_t last_stream_id_ = 0;
};

DeviceTable& device_table();

// What is put on `waiting` from now on comes after the operation `ticket` of the stream with the id `stream`: an event
// for whoever records them. A ticket of 0 orders nothing.
void trace_stream_edge(const Stream& waiting, uint64_t stream, uint64_t ticket);

}  // namespace anygin::simt
