// SPDX-License-Identifier: Apache-2.0
// Refused: tiles of more than a warp
// Compiler: tiles of more than a warp are not supported on the cpu target: use the block
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void kernel() {
  cg::tiled_partition<64>(cg::this_thread_block()).sync();
}
int main() {}
