// SPDX-License-Identifier: Apache-2.0
// printf of kernels: formatted on the worker's stack, written to stdout line by line, each line in one write. A lane's
// unfinished line is kept until it ends it, or exits.
#pragma once

#include <cstdint>

namespace anygin::simt {

struct Block;

void flush_partial_line(Block& block, uint32_t lane);
void flush_partial_lines(Block& block);

}  // namespace anygin::simt
