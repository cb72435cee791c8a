// SPDX-License-Identifier: Apache-2.0
#include "anygin/base/mutant.h"

#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <string>

#include "anygin/base/env_real.h"

namespace anygin {
namespace {

constexpr MutantInfo kMutants[] = {
#define ANYGIN_MUTANT_SITE(name, what) {#name, what},
#include "anygin/base/mutants.def"
#undef ANYGIN_MUTANT_SITE
};
static_assert(std::size(kMutants) == static_cast<size_t>(Mutant::kCount));

Mutant chosen_by_environment() {
  const std::string name = environment_variable("ANYGIN_MUTANT");
  if (name.empty()) return Mutant::kCount;
  const Mutant mutant = find_mutant(name);
  if (mutant != Mutant::kCount) return mutant;
  std::fprintf(stderr, "anygin: ANYGIN_MUTANT=%s is not a mutant; there are:\n", name.c_str());
  for (const MutantInfo& info : kMutants) std::fprintf(stderr, "  %s: %s\n", info.name, info.what);
  std::exit(2);
}

}  // namespace

ArrayView<const MutantInfo> mutant_table() {
  return kMutants;
}

Mutant find_mutant(std::string_view name) {
  for (size_t i = 0; i < std::size(kMutants); ++i) {
    if (name == kMutants[i].name) return static_cast<Mutant>(i);
  }
  return Mutant::kCount;
}

Mutant active_mutant() {
  static const Mutant mutant = chosen_by_environment();
  return mutant;
}

}  // namespace anygin
