// SPDX-License-Identifier: Apache-2.0
// Where the event stream goes: a file of JSON lines, the memory of a test, or nowhere.
#pragma once

#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "anygin/base/status.h"
#include "anygin/base/trace.h"

namespace anygin {

std::string_view name_of(TraceKind kind);

// One event as a line of JSON without newline. Fields of zero are left out, but for "t" (picoseconds) and "kind".
std::string trace_line(Time when, const TraceEvent& event);

class NullTrace final : public TraceSink {
 public:
  void record(const TraceEvent&) override {}
};

// Writes a line an event, after a first line with the schema's version and the process id. Thread-safe. Every process
// of a run writes a file of its own: "%p" in the path becomes the process id; without it, a process that finds the file
// being written by another one adds "." and its process id to the name, and says so.
class TraceFile final : public TraceSink {
 public:
  static Result<std::unique_ptr<TraceFile>> open(const std::string& path, Clock& clock);
  ~TraceFile() override;
  void record(const TraceEvent& event) override;

 private:
  TraceFile(std::FILE* file, Clock& clock);

  Clock& clock_;
  std::mutex mutex_;
  std::FILE* file_;
};

// Keeps events in memory, stamped, in the order they came. Thread-safe.
class TraceRecorder final : public TraceSink {
 public:
  struct Stamped {
    Time when;
    TraceEvent event;
  };

  explicit TraceRecorder(Clock& clock) : clock_(clock) { enabled_ = true; }
  void record(const TraceEvent& event) override;
  std::vector<Stamped> events() const;
  std::vector<TraceEvent> events_of(TraceKind kind) const;
  void clear();

 private:
  Clock& clock_;
  mutable std::mutex mutex_;
  std::vector<Stamped> events_;
};

}  // namespace anygin
