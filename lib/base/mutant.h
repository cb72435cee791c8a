// SPDX-License-Identifier: Apache-2.0
// Deliberate faults, to see the tests fail. MUTANT(name) is false except in the `mutants` preset, where the one that
// ANYGIN_MUTANT names is on. All sites stand in the list below; removing one needs a page in docs/decisions/.
#pragma once

namespace anygin {

enum class Mutant : unsigned {
#define ANYGIN_MUTANT_SITE(name, what) name,
#include "anygin/base/mutants.def"
#undef ANYGIN_MUTANT_SITE
  kCount
};

// The one that ANYGIN_MUTANT chose, by name; kCount if none.
Mutant active_mutant();

}  // namespace anygin

#if defined(ANYGIN_MUTANTS)
#define MUTANT(name) (::anygin::active_mutant() == ::anygin::Mutant::name)
#else
#define MUTANT(name) false
#endif
