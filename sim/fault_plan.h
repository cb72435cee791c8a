// SPDX-License-Identifier: Apache-2.0
// What goes wrong in a run besides what the profile allows. Legal faults delay and repeat; a correct program survives
// them. An error completion is legal too, but ends the communicator: it stands in a plan only where somebody wrote it.
//
//   draw                        legal faults, chosen like everything else: at most kDrawnMax of them in a run
//   lost-ack@3+full@1           by hand: the third acknowledgement is lost, the first look at a full wire
//   error:remote-access@2       the second request comes back with that code
//   death:1@500                 at step 500 rank 1 is lost: its connections end, its wires are cut. Its threads go on
//   alone
//
// Faults are never bugs: those are mutants, which have a name space of their own (lib/base/mutants.def).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "anygin/base/choices.h"
#include "anygin/base/status.h"
#include "anygin/emulated/wire.h"

namespace anygin::sim {

enum class FaultKind : uint8_t {
  kLostAck,    // an acknowledgement is lost: the request goes again, the answer comes late
  kDuplicate,  // a request arrives twice
  kFull,       // a wire has no room for a while
  kStall,      // a NIC or a proxy does nothing for a while
  kError,      // a request comes back with an error code
  kDeath,      // a rank is lost
  kKinds
};
std::string_view name_of(FaultKind kind);

struct Fault {
  FaultKind kind = FaultKind::kLostAck;
  uint64_t at = 1;                                                  // the how-manieth opportunity
  emulated::WireStatus code = emulated::WireStatus::kRemoteAccess;  // kError
  Rank rank = -1;                                                   // kDeath
};

class FaultPlan {
 public:
  static constexpr uint64_t kDrawnMax = 8;
  static constexpr uint64_t kChance = 64;  // one opportunity in so many, when drawn

  FaultPlan() = default;
  static Result<FaultPlan> parse(std::string_view text);

  // An opportunity comes: does the fault happen? `*code` gets an error's code.
  bool happens(FaultKind kind, ChoiceSource& choices, emulated::WireStatus* code = nullptr);
  // The rank that is lost at this step, -1: none. Each is told once.
  Rank death_at(uint64_t step);
  bool any() const { return drawn_ || !faults_.empty(); }
  // Some fault ends a communicator: a program that fails then is right.
  bool has_errors() const;
  uint64_t happened() const { return happened_; }

 private:
  bool drawn_ = false;
  std::vector<Fault> faults_;
  std::array<uint64_t, static_cast<size_t>(FaultKind::kKinds)> opportunities_{};
  uint64_t happened_ = 0;
};

}  // namespace anygin::sim
