// SPDX-License-Identifier: Apache-2.0
// Deliberate faults, to see the tests fail. MUTANT(name) is false except in the `mutants` preset, where the one that
// ANYGIN_MUTANT names is on. All sites stand in the list below; removing one needs a page in docs/decisions/.
#pragma once

#include <string_view>

#include "anygin/base/array_view.h"

namespace anygin {

enum class Mutant : unsigned {
#define ANYGIN_MUTANT_SITE(name, what) name,
#include "anygin/base/mutants.def"
#undef ANYGIN_MUTANT_SITE
  kCount
};

struct MutantInfo {
  const char* name;
  const char* what;
};
// Every mutant, in the order of the enumeration.
ArrayView<const MutantInfo> mutant_table();
// kCount if there is no such mutant.
Mutant find_mutant(std::string_view name);

// The one that ANYGIN_MUTANT chose, by name; kCount if none. A wrong name is printed with the valid ones and ends the
// process with exit code 2.
Mutant active_mutant();

}  // namespace anygin

#if defined(ANYGIN_MUTANTS)
#define MUTANT(name) (::anygin::active_mutant() == ::anygin::Mutant::name)
#else
#define MUTANT(name) false
#endif
