// SPDX-License-Identifier: Apache-2.0
#include "anygin/base/trace_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iterator>

#include "anygin/base/env_real.h"
#include "anygin/base/log.h"

namespace anygin {
namespace {

constexpr std::string_view kKindNames[] = {
    "lane_start", "lane_exit", "block_barrier", "wait_begin", "wait_end", "post",   "source_read", "local_done",
    "visible",    "signal",    "completion",    "flush",      "abort",    "launch", "stream_edge", "decode"};
static_assert(std::size(kKindNames) == static_cast<size_t>(TraceKind::kKinds));

std::string path_of_process(std::string path) {
  for (size_t at; (at = path.find("%p")) != std::string::npos;) path.replace(at, 2, std::to_string(process_id()));
  return path;
}

bool is_regular(int fd) {
  struct stat about {};
  return fstat(fd, &about) == 0 && S_ISREG(about.st_mode);
}

// Empties the file and keeps its lock until it is closed; null, errno EWOULDBLOCK: another process writes it.
std::FILE* open_alone(const std::string& path) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) return nullptr;
  const bool regular = is_regular(fd);  // a terminal or a pipe may be shared
  if (regular && (flock(fd, LOCK_EX | LOCK_NB) != 0 || ftruncate(fd, 0) != 0)) {
    const int why = errno;
    close(fd);
    errno = why;
    return nullptr;
  }
  return fdopen(fd, "w");
}

}  // namespace

std::string_view name_of(TraceKind kind) {
  ANYGIN_ASSERT(kind < TraceKind::kKinds);
  return kKindNames[static_cast<size_t>(kind)];
}

std::string trace_line(Time when, const TraceEvent& event) {
  std::string line = fmt::format(R"({{"t":{},"kind":"{}")", when, name_of(event.kind));
  const auto field = [&line](std::string_view name, uint64_t value) {
    if (value != 0) line += fmt::format(R"(,"{}":{})", name, value);
  };
  if (event.rank >= 0) line += fmt::format(R"(,"rank":{})", event.rank);
  if (event.peer >= 0) line += fmt::format(R"(,"peer":{})", event.peer);
  field("context", event.context);
  field("operation", event.operation);
  field("heap", event.at.heap.value);
  field("offset", event.at.offset);
  field("bytes", event.bytes);
  field("value", event.value);
  field("grid", event.grid);
  field("lane", event.lane);
  field("call_site", reinterpret_cast<uintptr_t>(event.call_site));
  return line + "}";
}

Result<std::unique_ptr<TraceFile>> TraceFile::open(const std::string& path, Clock& clock) {
  std::string own_path = path_of_process(path);
  std::FILE* file = open_alone(own_path);
  if (!file && errno == EWOULDBLOCK) {
    const std::string taken = own_path;
    own_path += fmt::format(".{}", process_id());
    log(LogLevel::kWarn,
        "ANYGIN_TRACE: another process writes '{}'; this one writes '{}' (%p in the name: a file each)", taken,
        own_path);
    file = open_alone(own_path);
  }
  if (!file) {
    return Status(Cause::kFile, "ANYGIN_TRACE", fmt::format("cannot write '{}': {}", own_path, std::strerror(errno)));
  }
  return std::unique_ptr<TraceFile>(new TraceFile(file, clock));
}

TraceFile::TraceFile(std::FILE* file, Clock& clock) : clock_(clock), file_(file) {
  enabled_ = true;
  // A line at a time: what was recorded is there even if the process is killed.
  std::setvbuf(file_, nullptr, _IOLBF, 1 << 16);
  std::fputs(fmt::format("{{\"anygin_trace\":{},\"pid\":{}}}\n", kTraceVersion, process_id()).c_str(), file_);
}

TraceFile::~TraceFile() {
  std::fclose(file_);
}

void TraceFile::record(const TraceEvent& event) {
  std::lock_guard lock(mutex_);
  std::fputs((trace_line(clock_.now(), event) + "\n").c_str(), file_);
}

void TraceRecorder::record(const TraceEvent& event) {
  std::lock_guard lock(mutex_);
  events_.push_back({clock_.now(), event});
}

std::vector<TraceRecorder::Stamped> TraceRecorder::events() const {
  std::lock_guard lock(mutex_);
  return events_;
}

std::vector<TraceEvent> TraceRecorder::events_of(TraceKind kind) const {
  std::lock_guard lock(mutex_);
  std::vector<TraceEvent> found;
  for (const Stamped& stamped : events_) {
    if (stamped.event.kind == kind) found.push_back(stamped.event);
  }
  return found;
}

void TraceRecorder::clear() {
  std::lock_guard lock(mutex_);
  events_.clear();
}

}  // namespace anygin
