// SPDX-License-Identifier: Apache-2.0
// Refused: textures and surfaces
// Compiler: error: .*cudaTextureObject_t.* was not declared
__global__ void kernel(cudaTextureObject_t texture, float* out) {
  *out = tex2D<float>(texture, 0.5f, 0.5f);
}
int main() {}
