// SPDX-License-Identifier: Apache-2.0
// Refused: CUB, Thrust
// Compiler: fatal error: cub/cub.cuh: No such file
#include <cub/cub.cuh>
int main() {}
