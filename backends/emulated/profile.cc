// SPDX-License-Identifier: Apache-2.0
// The table of docs/decisions/0003 as bit masks: for each profile and later class, the earlier classes that it may
// pass.
#include "anygin/emulated/profile.h"

namespace anygin::emulated {
namespace {

using Mask = uint8_t;
constexpr Mask bit(OrderClass c) {
  return static_cast<Mask>(1u << static_cast<int>(c));
}

constexpr Mask kNone = 0;
constexpr Mask kAll = (1u << kOrderClasses) - 1;
constexpr Mask kHinted = bit(OrderClass::kPut) | bit(OrderClass::kWeak);

struct Row {
  Mask passes[kOrderClasses];  // by the later operation's class
};

//                             put   weak   ordered strong get
constexpr Row kTable[] = {
    /* inorder */ {{kNone, kNone, kNone, kNone, kNone}},
    /* cx7     */ {{kAll, kNone, kNone, kNone, kNone}},
    /* relaxed */ {{kAll, kAll, kNone, kNone, kHinted}},
    /* srd     */ {{kAll, kAll, kNone, kNone, kHinted}},
};

Mask passed_by(Profile profile, OrderClass later) {
  return kTable[static_cast<int>(profile)].passes[static_cast<int>(later)];
}

}  // namespace

bool may_pass(Profile profile, OrderClass earlier, OrderClass later) {
  return (passed_by(profile, later) & bit(earlier)) != 0;
}

bool may_pass_all(Profile profile, OrderClass later) {
  return passed_by(profile, later) == kAll;
}

bool granules_in_any_order(Profile profile, OrderClass c) {
  return profile != Profile::kInorder && c == OrderClass::kPut;
}

bool completes_before_visible(Profile profile, OrderClass c) {
  return profile != Profile::kInorder && c == OrderClass::kPut;
}

bool waits_for_acknowledgements(Profile profile, OrderClass c) {
  return profile == Profile::kSrd && (c == OrderClass::kStrong || c == OrderClass::kOrdered);
}

}  // namespace anygin::emulated
