// SPDX-License-Identifier: Apache-2.0
// Refused: `cuda::pipeline`
// Compiler: fatal error: cuda/pipeline: No such file
#include <cuda/pipeline>
int main() {}
