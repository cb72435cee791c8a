// SPDX-License-Identifier: Apache-2.0
// Names a place in a program's code for a report: base/code_site.h.
#pragma once

#include "anygin/base/code_site.h"

namespace anygin::simt {

using anygin::describe_site;

}  // namespace anygin::simt
