// SPDX-License-Identifier: Apache-2.0
#include "anygin/sim/fault_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace anygin::sim {
namespace {

constexpr std::array<std::string_view, static_cast<size_t>(FaultKind::kKinds)> kKindNames = {
    "lost-ack", "duplicate", "full", "stall", "error", "death"};
constexpr std::array<std::string_view, emulated::kWireStatusMax + 1> kCodeNames = {
    "ok", "remote-access", "remote-invalid", "remote-operation"};

Status bad(std::string_view text) {
  return Status(
      Cause::kEnvironment, "faults",
      fmt::format("'{}'; draw, or KIND@N joined by +, with KIND one of lost-ack, duplicate, full, stall, "
                  "error:remote-access, error:remote-invalid, error:remote-operation, death:RANK, would be right",
                  text));
}

bool parse_fault(std::string_view text, Fault* fault) {
  const size_t at = text.find('@');
  if (at == std::string_view::npos) return false;
  const std::string_view number = text.substr(at + 1);
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), fault->at);
  if (error != std::errc() || end != number.data() + number.size() || fault->at == 0) return false;
  std::string_view kind = text.substr(0, at);
  std::string_view code;
  if (const size_t colon = kind.find(':'); colon != std::string_view::npos) {
    code = kind.substr(colon + 1);
    kind = kind.substr(0, colon);
  }
  const auto* const found = std::find(kKindNames.begin(), kKindNames.end(), kind);
  if (found == kKindNames.end()) return false;
  fault->kind = static_cast<FaultKind>(found - kKindNames.begin());
  if (fault->kind == FaultKind::kDeath) {
    const auto parsed = std::from_chars(code.data(), code.data() + code.size(), fault->rank);
    return parsed.ec == std::errc() && parsed.ptr == code.data() + code.size() && fault->rank >= 0;
  }
  if (fault->kind != FaultKind::kError) return code.empty();
  const auto* const named = std::find(kCodeNames.begin() + 1, kCodeNames.end(), code);
  fault->code = static_cast<emulated::WireStatus>(named - kCodeNames.begin());
  return named != kCodeNames.end();
}

}  // namespace

std::string_view name_of(FaultKind kind) {
  return kKindNames[static_cast<size_t>(kind)];
}

Result<FaultPlan> FaultPlan::parse(std::string_view text) {
  FaultPlan plan;
  if (text == "none") return plan;
  for (std::string_view rest = text; !rest.empty();) {
    const size_t plus = rest.find('+');
    const std::string_view one = rest.substr(0, plus);
    rest.remove_prefix(plus == std::string_view::npos ? rest.size() : plus + 1);
    Fault fault;
    if (one == "draw") {
      plan.drawn_ = true;
    } else if (parse_fault(one, &fault)) {
      plan.faults_.push_back(fault);
    } else {
      return bad(one);
    }
  }
  return plan;
}

bool FaultPlan::has_errors() const {
  return std::any_of(faults_.begin(), faults_.end(),
                     [](const Fault& f) { return f.kind == FaultKind::kError || f.kind == FaultKind::kDeath; });
}

Rank FaultPlan::death_at(uint64_t step) {
  for (Fault& fault : faults_) {
    if (fault.kind != FaultKind::kDeath || fault.at > step || fault.rank < 0) continue;
    ++happened_;
    return std::exchange(fault.rank, -1);
  }
  return -1;
}

bool FaultPlan::happens(FaultKind kind, ChoiceSource& choices, emulated::WireStatus* code) {
  if (!any()) return false;
  const uint64_t opportunity = ++opportunities_[static_cast<size_t>(kind)];
  for (const Fault& fault : faults_) {
    if (fault.kind != kind || fault.at != opportunity) continue;
    if (code != nullptr) *code = fault.code;
    ++happened_;
    return true;
  }
  if (!drawn_ || kind >= FaultKind::kError || happened_ >= kDrawnMax) return false;
  if (choices.pick_below(ChoiceKind::kFault, kChance) != 0) return false;
  ++happened_;
  return true;
}

}  // namespace anygin::sim
