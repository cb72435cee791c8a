// SPDX-License-Identifier: Apache-2.0
// Refused: SIMD in a word (`__vadd4` ...)
// Compiler: error: .*__vadd4.* was not declared
__global__ void kernel(unsigned* out) {
  *out = __vadd4(*out, 1);
}
int main() {}
