// SPDX-License-Identifier: Apache-2.0
#include "event_file.h"

#include <fmt/format.h>

#include <charconv>

namespace anygin::tools {
namespace {

struct Field {
  std::string_view name;
  uint64_t FileEvent::*member;
};
constexpr Field kFields[] = {
    {"t", &FileEvent::time_ps},   {"context", &FileEvent::context}, {"operation", &FileEvent::operation},
    {"heap", &FileEvent::heap},   {"offset", &FileEvent::offset},   {"bytes", &FileEvent::bytes},
    {"value", &FileEvent::value}, {"grid", &FileEvent::grid},       {"lane", &FileEvent::lane}};

template <typename T>
bool to_number(std::string_view text, T* out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
  return error == std::errc() && end == text.data() + text.size();
}

bool set(FileEvent& event, std::string_view name, std::string_view value) {
  if (name == "kind") {
    if (value.size() < 2 || value.front() != '"' || value.back() != '"') return false;
    event.kind = value.substr(1, value.size() - 2);
    return true;
  }
  if (name == "rank") return to_number(value, &event.rank);
  if (name == "peer") return to_number(value, &event.peer);
  for (const Field& field : kFields) {
    if (field.name == name) return to_number(value, &(event.*field.member));
  }
  return true;
}

// {"name":value,...} with values that hold neither commas nor colons.
bool parse_line(std::string_view line, FileEvent* event) {
  if (line.size() < 2 || line.front() != '{' || line.back() != '}') return false;
  line = line.substr(1, line.size() - 2);
  while (!line.empty()) {
    const std::string_view entry = line.substr(0, line.find(','));
    line.remove_prefix(std::min(line.size(), entry.size() + 1));
    const size_t colon = entry.find(':');
    if (colon == std::string_view::npos || colon < 2) return false;
    if (!set(*event, entry.substr(1, colon - 2), entry.substr(colon + 1))) return false;
  }
  return true;
}

}  // namespace

Result<std::vector<FileEvent>> read_events(std::string_view text) {
  std::vector<FileEvent> events;
  for (size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (number == 1 && line.find("anygin_trace") != std::string_view::npos) continue;
    FileEvent event;
    if (!parse_line(line, &event)) {
      return Status(Cause::kToolInput, "event file", fmt::format("line {} is no event: {}", number, line));
    }
    events.push_back(std::move(event));
  }
  return events;
}

}  // namespace anygin::tools
