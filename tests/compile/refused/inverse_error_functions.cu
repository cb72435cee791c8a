// SPDX-License-Identifier: Apache-2.0
// Refused: `erfinv`, `erfcinv`, `normcdfinv`
// Compiler: error: .*erfinvf.* was not declared
__global__ void kernel(float* out) {
  *out = erfinvf(*out);
}
int main() {}
