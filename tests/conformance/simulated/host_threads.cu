// SPDX-License-Identifier: Apache-2.0
// A program whose host threads meet in every way that the simulated world serialises, and write down in which order.
// Prints the order; ends with 0 if every count is right.
#include <cuda_runtime.h>
#include <pthread.h>
#include <semaphore.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <future>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kThreads = 4, kRounds = 5;

std::mutex mutex;
std::shared_mutex shared;
std::condition_variable turned;
pthread_barrier_t barrier;
sem_t semaphore;
std::once_flag once;
int turn = 0, begun = 0, counted = 0;
std::string diary;

__global__ void add_one(int* counter) { atomicAdd(counter, 1); }

void work(int me, int* counter) {
  std::call_once(once, [] {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ++begun;
  });
  for (int round = 0; round < kRounds; ++round) {
    pthread_barrier_wait(&barrier);
    {
      std::unique_lock lock(mutex);
      diary += static_cast<char>('a' + me);
      std::this_thread::sleep_for(std::chrono::microseconds(10));  // others want the lock meanwhile
      ++counted;
    }
    {
      std::unique_lock lock(mutex);
      turned.wait(lock, [&] { return turn % kThreads == me; });
      ++turn;
      turned.notify_all();
    }
    {
      const std::unique_lock writer(shared);
      add_one<<<1, 32>>>(counter);
    }
    const std::shared_lock reader(shared);
    sem_post(&semaphore);
  }
  if (cudaDeviceSynchronize() != cudaSuccess) std::abort();
}

}  // namespace

int main() {
  int* counter = nullptr;
  if (cudaMalloc(&counter, sizeof(int)) != cudaSuccess || cudaMemset(counter, 0, sizeof(int)) != cudaSuccess) return 3;
  pthread_barrier_init(&barrier, nullptr, kThreads);
  sem_init(&semaphore, 0, 0);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(work, i, counter);
  std::future<int> posts = std::async(std::launch::async, [] {
    int seen = 0;
    for (; seen < kThreads * kRounds; ++seen) sem_wait(&semaphore);
    return seen;
  });
  const auto began = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - began < std::chrono::microseconds(50)) {  // a loop on the clock ends
  }
  for (std::thread& thread : threads) thread.join();
  int adds = 0;
  if (cudaMemcpy(&adds, counter, sizeof(int), cudaMemcpyDeviceToHost) != cudaSuccess) return 3;
  std::printf("%s\n", diary.c_str());
  const int all = kThreads * kRounds;
  return posts.get() == all && turn == all && counted == all && begun == 1 && adds == all * 32 ? 0 : 1;
}
