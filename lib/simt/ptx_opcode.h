// SPDX-License-Identifier: Apache-2.0
// The part of a PTX instruction before its operands: `ld.acquire.sys.global.v2.u32`. Pure.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "anygin/simt/ptx_decode.h"

namespace anygin::simt {

// `parts` are what stands between the dots. False if it is not known.
bool decode_ptx_opcode(const std::vector<std::string_view>& parts, PtxInstruction* instruction);
// A decimal or hexadecimal number, perhaps with a sign and a trailing U.
std::optional<int64_t> ptx_number(std::string_view text);

}  // namespace anygin::simt
