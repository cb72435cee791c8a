// SPDX-License-Identifier: Apache-2.0
#include "anygin/sim/sim_settings.h"

#include <fmt/format.h>

#include <charconv>

namespace anygin::sim {
namespace {

Status bad(std::string_view key, std::string_view value, std::string_view right) {
  return Status(Cause::kEnvironment, "ANYGIN_SIM", fmt::format("{}={}: {} would be right", key, value, right));
}

template <typename Number>
Status take_number(std::string_view key, std::string_view value, Number* number) {
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), *number);
  const bool whole = error == std::errc() && end == value.data() + value.size();
  return whole && *number > 0 ? Status() : bad(key, value, "a number from 1 on");
}

Status take_setting(std::string_view key, std::string_view value, SimSettings* settings) {
  if (key == "strategy") {
    Result<StrategyChoice> strategy = parse_strategy(value);
    if (!strategy.ok()) return strategy.status();
    const uint64_t steps = settings->strategy.expected_steps;
    settings->strategy = *strategy;
    settings->strategy.expected_steps = steps;
    return Status();
  }
  if (key == "steps") return take_number(key, value, &settings->strategy.expected_steps);
  if (key == "parent") return take_number(key, value, &settings->parent);
  if (key == "faults") {
    Result<FaultPlan> faults = FaultPlan::parse(value);
    if (!faults.ok()) return faults.status();
    settings->faults = *faults;
    return Status();
  }
  if (key == "mode") {
    settings->replay_mode = value == "tolerant" ? ReplayMode::kTolerant : ReplayMode::kStrict;
    return value == "tolerant" || value == "strict" ? Status() : bad(key, value, "strict or tolerant");
  }
  std::string* const file = key == "replay"    ? &settings->replay_file
                            : key == "choices" ? &settings->choices_file
                            : key == "result"  ? &settings->result_file
                                               : nullptr;
  if (file == nullptr) return bad(key, value, "one of strategy, steps, faults, replay, mode, choices, result, parent");
  *file = value;
  return Status();
}

}  // namespace

Result<SimSettings> parse_sim_settings(std::string_view text) {
  SimSettings settings;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    const std::string_view entry = text.substr(0, comma);
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
    if (entry.empty()) continue;
    const size_t equals = entry.find('=');
    if (equals == std::string_view::npos) return bad(entry, "", "key=value");
    ANYGIN_TRY(take_setting(entry.substr(0, equals), entry.substr(equals + 1), &settings));
  }
  return settings;
}

}  // namespace anygin::sim
