// SPDX-License-Identifier: Apache-2.0
#include "anygin/sim/choice_trace.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

namespace anygin::sim {
namespace {

constexpr std::string_view kHeader = "anygin choices 1";
constexpr std::array<std::string_view, static_cast<size_t>(ChoiceKind::kKinds)> kNames = {
    "engine-order", "lane-order", "source-read", "granules", "overlap", "delay", "fault"};

std::string_view take_line(std::string_view* text) {
  const size_t end = text->find('\n');
  const std::string_view line = text->substr(0, end);
  text->remove_prefix(end == std::string_view::npos ? text->size() : end + 1);
  return line;
}

// "engine-order = 3f0a" or "delay # 7"; "*" before it marks a deviation from the canonical answer.
bool parse_line(std::string_view line, ChoiceRecord* out) {
  out->canonical = line.substr(0, 1) != "*";
  if (!out->canonical) line.remove_prefix(1);
  const size_t space = line.find(' ');
  if (space == std::string_view::npos || line.size() < space + 4) return false;
  size_t kind = 0;
  while (kind < kNames.size() && kNames[kind] != line.substr(0, space)) ++kind;
  if (kind == kNames.size()) return false;
  out->kind = static_cast<ChoiceKind>(kind);
  out->numbered = line[space + 1] == '#';
  const std::string_view name = line.substr(space + 3);
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), out->name, 16);
  return error == std::errc() && end == name.data() + name.size();
}

}  // namespace

std::string_view name_of(ChoiceKind kind) {
  return kNames[static_cast<size_t>(kind)];
}

std::string describe(const ChoiceRecord& record) {
  return fmt::format("{} {} {:x}", name_of(record.kind), record.numbered ? '#' : '=', record.name);
}

std::string to_text(const ChoiceTrace& trace) {
  std::string text = fmt::format("{}\n{}\n", kHeader, trace.about);
  for (const ChoiceRecord& record : trace.choices) {
    if (!record.canonical) text += '*';
    text += describe(record);
    text += '\n';
  }
  return text;
}

Result<ChoiceTrace> from_text(std::string_view text) {
  const auto bad = [](std::string why) { return Status(Cause::kToolInput, "choice trace", std::move(why)); };
  if (take_line(&text) != kHeader) return bad(fmt::format("the first line is not '{}'", kHeader));
  ChoiceTrace trace;
  trace.about = take_line(&text);
  for (size_t number = 3; !text.empty(); ++number) {
    const std::string_view line = take_line(&text);
    ChoiceRecord record;
    if (!parse_line(line, &record)) return bad(fmt::format("line {}: '{}' is no choice", number, line));
    trace.choices.push_back(record);
  }
  return trace;
}

}  // namespace anygin::sim
