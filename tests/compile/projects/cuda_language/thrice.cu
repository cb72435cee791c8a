// SPDX-License-Identifier: Apache-2.0
__global__ void thrice(int* value) {
  *value *= 3;
}
void launch_thrice(int* value) {
  thrice<<<1, 1>>>(value);
}
