// SPDX-License-Identifier: Apache-2.0
// Refused: `asm goto`
// Compiler: asm_goto.cu:5: error: asm goto has no meaning in device code
__global__ void kernel() {
  asm goto("bra %l0;" : : : : out);
out:;
}
int main() {}
