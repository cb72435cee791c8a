// SPDX-License-Identifier: Apache-2.0
// Refused: `mma`, `wgmma`
// Compiler: tensor_instructions.cu:7: error: PTX instruction `mma.sync.[a-z0-9.]*` is not known; known are
__global__ void kernel(unsigned a, float* out) {
  float d = 0;
  // The line of the error is the line of the asm.
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%0,%0,%0}, {%1,%1,%1,%1}, {%1,%1}, {%0,%0,%0,%0};"
      : "+f"(d)
      : "r"(a));
  *out = d;
}
int main() {}
