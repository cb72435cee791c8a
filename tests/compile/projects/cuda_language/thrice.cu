__global__ void thrice(int* value) {
  *value *= 3;
}
void launch_thrice(int* value) {
  thrice<<<1, 1>>>(value);
}
