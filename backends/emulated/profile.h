// SPDX-License-Identifier: Apache-2.0
// What a NIC of each profile may reorder: the table of docs/decisions/0003, and nothing else. Flow and the tabular
// litmus form both ask here. Pure functions; any thread.
//
// A signal is part of the put it belongs to, and a signal alone is a put of 0 bytes: whoever may overtake a put may
// overtake its weak signal too, and a put may overtake a whole earlier group.
#pragma once

#include "anygin/base/options.h"

namespace anygin::emulated {

// What an operation is to the ordering rules. The hint `may_pass` (docs/decisions/0002) tells puts and weak signals
// from the rest: without it a queue pair is in program order.
enum class OrderClass : uint8_t {
  kPut,      // a payload write with the hint
  kWeak,     // a fetch-add with the hint
  kOrdered,  // a write without the hint: other people's programs, hardware-like
  kStrong,   // a fetch-add without the hint
  kGet,      // a read
};
inline constexpr int kOrderClasses = 5;

constexpr const char* name_of(OrderClass c) {
  constexpr const char* kNames[kOrderClasses] = {"put", "weak", "ordered", "strong", "get"};
  return kNames[static_cast<int>(c)];
}

// May `later` take effect at the target before `earlier` of the same flow has? A signal never passes its own payload;
// that is not asked here.
bool may_pass(Profile profile, OrderClass earlier, OrderClass later);

// May `later` pass every class? Then it need not know what came before it.
bool may_pass_all(Profile profile, OrderClass later);

// May the granules of one operation become visible in any order?
bool granules_in_any_order(Profile profile, OrderClass c);

// May the initiator complete the operation once the target has accepted it, before it is visible?
bool completes_before_visible(Profile profile, OrderClass c);

// What a strong signal (and any operation without the hint) waits for before it leaves the initiator: nothing, its
// place in the flow being enough, or the acknowledgements of all earlier operations.
bool waits_for_acknowledgements(Profile profile, OrderClass c);

}  // namespace anygin::emulated
