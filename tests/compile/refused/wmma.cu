// SPDX-License-Identifier: Apache-2.0
// Refused: `mma.h`
// Compiler: mma.h: tensor cores .nvcuda::wmma. are not supported on the cpu target
#include <mma.h>
int main() {}
