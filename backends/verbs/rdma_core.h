// SPDX-License-Identifier: Apache-2.0
// Filling the table from a verbs library.
#pragma once

#include "anygin/verbs/verbs_table.h"

namespace anygin::verbs {

// Loads `library` and fills the table from it; the library stays loaded. Fails with kSystemError, naming what is
// missing. One library a process.
Status fill_from_library(const char* library, VerbsTable& table);

}  // namespace anygin::verbs
