__device__ int twice_of(int value) {
  return 2 * value;
}
