// SPDX-License-Identifier: Apache-2.0
// What PTX instructions compute, on bits. Pure.
#pragma once

#include <cstdint>

#include "anygin/simt/ptx_decode.h"

namespace anygin::simt {

// The low bytes of `bits`, extended to 64 bits as the type says.
uint64_t extended(PtxType type, unsigned bytes, uint64_t bits);
uint64_t compute(const PtxInstruction& instruction, uint64_t a, uint64_t b, uint64_t c);
uint64_t convert(const PtxInstruction& instruction, uint64_t bits);
bool compare(const PtxInstruction& instruction, uint64_t a, uint64_t b);
// One step of a reduction over an element, which may hold two numbers of 16 bits.
uint64_t combine(const PtxInstruction& instruction, uint64_t a, uint64_t b);

}  // namespace anygin::simt
