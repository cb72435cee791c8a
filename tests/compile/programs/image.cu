// SPDX-License-Identifier: Apache-2.0
// A program image: as a program it tells of its start; loaded as a library it shows that globals, thread-local
// variables and statics of templates are its own.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <thread>

static int constructed = 0;
struct Constructed {
  Constructed() { ++constructed; }
  ~Constructed() {
    std::printf("destroyed\n");
    std::fflush(stdout);
  }
};
static Constructed object;
int global_number = 10;
thread_local int thread_number = 100;
template <typename T>
struct Holder {
  static T value;
};
template <typename T>
T Holder<T>::value = 1000;
inline int& inline_static() {
  static int value = 10000;
  return value;
}

__global__ void add(int* p, int value) {
  *p += value;
}

extern "C" int step(int value) {
  add<<<1, 1>>>(&global_number, value);
  if (cudaDeviceSynchronize() != cudaSuccess) return -1;
  thread_number += value;
  Holder<int>::value += value;
  inline_static() += value;
  return global_number + thread_number + Holder<int>::value + inline_static() + 100000 * constructed;
}

int main(int argc, char** argv) {
  if (argc > 1 && argv[1][0] == '@') {
    std::printf("%p\n", static_cast<void*>(&global_number));
    return 0;
  }
  int other = 0;
  std::thread([&other] { other = ++thread_number; }).join();
  std::printf("%d", argc);
  for (int i = 1; i < argc; ++i) std::printf(" [%s]", argv[i]);
  std::printf(" %s %d %d %d\n", std::getenv("IMAGE_TEST"), constructed, thread_number, other);
  std::printf("%d\n", step(1));
  return argc > 1 ? std::atoi(argv[1]) : 0;
}
