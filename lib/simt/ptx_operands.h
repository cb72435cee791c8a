// SPDX-License-Identifier: Apache-2.0
// Which operands a PTX instruction takes. Pure.
#pragma once

#include "anygin/simt/ptx_decode.h"

namespace anygin::simt {

// Are there as many operands as the instruction takes, with addresses in their places and registers where it writes?
bool ptx_operands_fit(const PtxInstruction& instruction);

}  // namespace anygin::simt
