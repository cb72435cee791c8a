// SPDX-License-Identifier: Apache-2.0
// Writes the edited tokens out again.
#pragma once

#include <string>

#include "anygin/simt/rewriter/cu_code.h"

namespace anygin::rewriter {

// Every token that is emitted stands on the line that it had, in the numbering of the linemarkers: where a launch moves
// its configuration before a callee on another line, linemarkers are added.
std::string emit(const Code& code);

}  // namespace anygin::rewriter
