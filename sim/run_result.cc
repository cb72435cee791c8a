// SPDX-License-Identifier: Apache-2.0
#include "anygin/sim/run_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace anygin::sim {
namespace {

constexpr std::string_view kHeader = "anygin run result 1";
constexpr std::array<std::string_view, 4> kVerdicts = {"clean", "finding", "hang", "diverged"};
constexpr size_t kFindingsMax = 100;

struct Field {
  std::string_view name;
  uint64_t RunResult::*member;
};
constexpr Field kFields[] = {{"digest", &RunResult::digest},         {"choices_digest", &RunResult::choices_digest},
                             {"steps", &RunResult::steps},           {"choices", &RunResult::choices},
                             {"deviations", &RunResult::deviations}, {"actors", &RunResult::actors},
                             {"faults", &RunResult::faults},         {"time_ps", &RunResult::time}};

bool parse_number(std::string_view text, uint64_t* out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
  return error == std::errc() && end == text.data() + text.size();
}

bool take(std::string_view key, std::string_view value, RunResult* result) {
  if (key == "verdict") {
    const auto* const found = std::find(kVerdicts.begin(), kVerdicts.end(), value);
    if (found == kVerdicts.end()) return false;
    result->verdict = static_cast<RunVerdict>(found - kVerdicts.begin());
    return true;
  }
  if (key == "finding") {
    const size_t space = value.find(' ');
    Finding finding;
    if (space == std::string_view::npos || !parse_number(value.substr(0, space), &finding.step)) return false;
    finding.text = value.substr(space + 1);
    result->findings.push_back(std::move(finding));
    return true;
  }
  const auto* const field =
      std::find_if(std::begin(kFields), std::end(kFields), [&](const Field& f) { return f.name == key; });
  return field != std::end(kFields) && parse_number(value, &(result->*field->member));
}

}  // namespace

std::string_view name_of(RunVerdict verdict) {
  return kVerdicts[static_cast<size_t>(verdict)];
}

void RunResult::add(RunVerdict worse, uint64_t step, std::string text) {
  verdict = std::max(verdict, worse);
  if (findings.size() >= kFindingsMax) return;
  std::replace(text.begin(), text.end(), '\n', ' ');
  findings.push_back({step, std::move(text)});
}

std::string to_text(const RunResult& result) {
  std::string text = fmt::format("{}\nverdict={}\n", kHeader, name_of(result.verdict));
  for (const Field& field : kFields) text += fmt::format("{}={}\n", field.name, result.*field.member);
  for (const Finding& finding : result.findings) text += fmt::format("finding={} {}\n", finding.step, finding.text);
  return text;
}

Result<RunResult> parse_run_result(std::string_view text) {
  RunResult result;
  bool first = true;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const size_t equals = line.find('=');
    const bool sound =
        first ? line == kHeader
              : equals != std::string_view::npos && take(line.substr(0, equals), line.substr(equals + 1), &result);
    if (!sound) return Status(Cause::kToolInput, "run result", fmt::format("'{}' cannot be read", line));
    first = false;
  }
  if (first) return Status(Cause::kToolInput, "run result", "it is empty");
  return result;
}

}  // namespace anygin::sim
