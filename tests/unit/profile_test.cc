// SPDX-License-Identifier: Apache-2.0
// The table of what may be reordered, cell by cell.
#include "anygin/emulated/profile.h"

#include <gtest/gtest.h>

namespace anygin::emulated {
namespace {

constexpr Profile kProfiles[] = {Profile::kInorder, Profile::kCx7, Profile::kRelaxed, Profile::kSrd};

// One string a profile: rows are the earlier class, columns the later one, both put weak ordered strong get.
constexpr const char* kMayPass[] = {
    // inorder: nothing passes anything
    "....."
    "....."
    "....."
    "....."
    ".....",
    // cx7: puts pass everything; signals keep their position; gets wait
    "p...."
    "p...."
    "p...."
    "p...."
    "p....",
    // relaxed: weak signals pass too; gets pass what carries the hint
    "pp..p"
    "pp..p"
    "pp..."
    "pp..."
    "pp...",
    // srd: as relaxed
    "pp..p"
    "pp..p"
    "pp..."
    "pp..."
    "pp...",
};

TEST(ProfileTable, EveryPairOfClasses) {
  for (size_t profile = 0; profile < 4; ++profile) {
    for (int earlier = 0; earlier < kOrderClasses; ++earlier) {
      for (int later = 0; later < kOrderClasses; ++later) {
        const auto e = static_cast<OrderClass>(earlier), l = static_cast<OrderClass>(later);
        const bool expected = kMayPass[profile][earlier * kOrderClasses + later] == 'p';
        EXPECT_EQ(may_pass(kProfiles[profile], e, l), expected)
            << anygin::name_of(kProfiles[profile]) << ": " << name_of(l) << " after " << name_of(e);
      }
    }
  }
}

TEST(ProfileTable, PassingAllIsPassingEachClass) {
  for (Profile profile : kProfiles) {
    for (int later = 0; later < kOrderClasses; ++later) {
      bool all = true;
      for (int earlier = 0; earlier < kOrderClasses; ++earlier) {
        all = all && may_pass(profile, static_cast<OrderClass>(earlier), static_cast<OrderClass>(later));
      }
      EXPECT_EQ(may_pass_all(profile, static_cast<OrderClass>(later)), all);
    }
  }
}

TEST(ProfileTable, OnlyHintedPutsTearApartAndCompleteEarly) {
  for (Profile profile : kProfiles) {
    for (int c = 0; c < kOrderClasses; ++c) {
      const bool free_put = profile != Profile::kInorder && static_cast<OrderClass>(c) == OrderClass::kPut;
      EXPECT_EQ(granules_in_any_order(profile, static_cast<OrderClass>(c)), free_put);
      EXPECT_EQ(completes_before_visible(profile, static_cast<OrderClass>(c)), free_put);
    }
  }
}

TEST(ProfileTable, OnlySrdWaitsForAcknowledgements) {
  for (Profile profile : kProfiles) {
    const bool srd = profile == Profile::kSrd;
    EXPECT_EQ(waits_for_acknowledgements(profile, OrderClass::kStrong), srd);
    EXPECT_EQ(waits_for_acknowledgements(profile, OrderClass::kOrdered), srd);
    EXPECT_FALSE(waits_for_acknowledgements(profile, OrderClass::kPut));
    EXPECT_FALSE(waits_for_acknowledgements(profile, OrderClass::kWeak));
    EXPECT_FALSE(waits_for_acknowledgements(profile, OrderClass::kGet));
  }
}

}  // namespace
}  // namespace anygin::emulated
