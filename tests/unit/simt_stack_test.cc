// SPDX-License-Identifier: Apache-2.0
// Stacks of lanes: their sizes, their guards, and what is said of a lane that runs over the end of its own.
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>

#include "anygin/simt/device_table.h"
#include "anygin/simt/lane_scheduler.h"
#include "anygin/simt/stack_limit.h"
#include "anygin/simt/stack_pool.h"
#include "unit/simt_kernels.h"

namespace anygin::simt {
namespace {

constexpr size_t kLeast = StackPool::kBytesLeast;
constexpr size_t kMost = StackPool::kBytesMost;

TEST(SimtStackPool, TheLastStackGivenBackIsTakenFirst) {
  StackPool pool(3, kLeast);
  char* first = pool.take();
  char* second = pool.take();
  EXPECT_EQ(first, pool.low_of(pool.top_of(first) - 1));
  EXPECT_EQ(second, pool.low_of(second));
  pool.give_back(first);
  EXPECT_EQ(first, pool.take());
  pool.give_back(second);
  pool.give_back(first);
  EXPECT_EQ(first, pool.take());
}

TEST(SimtStackPool, EveryStackHasItsBytesAboveTheCanary) {
  constexpr size_t kFirst = StackPool::kGuardedMost, kStacks = kFirst + 200;
  for (size_t bytes = kLeast; bytes <= kMost; bytes *= 2) {
    StackPool pool(kStacks, bytes);
    ASSERT_TRUE(pool.mapped());
    char* end = nullptr;
    std::set<size_t> lines;  // of 64 KiB, that tops of stacks lie at
    for (size_t i = 0; i < kStacks; ++i) {
      if (i == kFirst) lines.clear();
      char* low = pool.take();
      EXPECT_GE(pool.top_of(low) - (low + 64), static_cast<ptrdiff_t>(bytes));
      EXPECT_EQ(0u, reinterpret_cast<uintptr_t>(pool.top_of(low)) % 64);
      EXPECT_GE(i < kFirst ? low - StackPool::kGuardBytes : low, end) << "overlaps the stack before";
      EXPECT_EQ(low, pool.low_of(low));
      EXPECT_EQ(low, pool.low_of(pool.top_of(low) - 1));
      EXPECT_TRUE(pool.contains(low) && pool.contains(pool.top_of(low) - 1));
      EXPECT_TRUE(!pool.in_guard(low) && pool.in_guard(low - 1) == (i < kFirst)) << i;
      EXPECT_TRUE(pool.intact(low));
      end = pool.top_of(low);
      lines.insert(reinterpret_cast<uintptr_t>(end) / 64 % 1024);
      if (i == kFirst - 1 || i == kStacks - 1) {
        EXPECT_EQ(i < kFirst ? kFirst : kStacks - kFirst, lines.size()) << "tops fall together in a cache";
      }
    }
  }
}

TEST(SimtStackPool, TheCanaryIsAtTheLowEnd) {
  StackPool pool(2, kLeast, StackPool::Guards::kNone);
  char* low = pool.take();
  EXPECT_TRUE(pool.intact(low));
  low[64] = 1;
  EXPECT_TRUE(pool.intact(low));
  low[63] = 1;
  EXPECT_FALSE(pool.intact(low));
  StackPool::mend(low);
  EXPECT_TRUE(pool.intact(low));
}

TEST(SimtStackPool, SizesArePowersOfTwo) {
  EXPECT_EQ(kLeast, StackPool::size_for(0));
  EXPECT_EQ(kLeast, StackPool::size_for(kLeast));
  EXPECT_EQ(2 * kLeast, StackPool::size_for(kLeast + 1));
  EXPECT_EQ(kMost, StackPool::size_for(kMost));
}

// By where its bytes cannot be read from: the kernel's answer, not a fault.
bool readable(const char* at) {
  char byte;
  int pipe_ends[2];
  EXPECT_EQ(0, pipe(pipe_ends));
  const bool could = write(pipe_ends[1], at, 1) == 1;
  EXPECT_EQ(could ? 1 : 0, could ? read(pipe_ends[0], &byte, 1) : 0);
  close(pipe_ends[0]);
  close(pipe_ends[1]);
  return could;
}

TEST(SimtStackPool, GuardsStandBelowStacksOnEveryKernel) {
  for (const auto guards : {StackPool::Guards::kInstalled, StackPool::Guards::kProtected}) {
    StackPool pool(3, kLeast, guards);
    for (int i = 0; i < 3; ++i) {
      char* low = pool.take();
      EXPECT_FALSE(readable(low - 1)) << i;
      EXPECT_FALSE(readable(low - StackPool::kGuardBytes)) << i;
      EXPECT_TRUE(readable(low)) << i;
      EXPECT_TRUE(readable(pool.top_of(low) - 1)) << i;
    }
  }
}

class SimtStack : public SimtTest {};

// Takes about `bytes` of the calling lane's stack, a page at a time from the top, as functions that call themselves do.
__attribute__((noinline)) size_t descend(size_t bytes) {
  volatile char frame[1024];
  frame[0] = 1;
  frame[sizeof frame - 1] = 1;
  const size_t below = bytes <= sizeof frame ? 0 : descend(bytes - sizeof frame);
  asm volatile("" : : "r"(frame) : "memory");  // the frame outlives the call: clang may not make it a loop
  return below + sizeof frame * static_cast<size_t>(frame[0]);
}

TEST_F(SimtStack, ALimitHoldsForGridsThatAreLaunchedLater) {
  EXPECT_EQ(kLeast, stack_limit(0));
  uint32_t go = 0, deep = 0;
  uint32_t *word = &go, *count = &deep;
  ASSERT_EQ(0, launch_callable(blocks_of(1, 1), [=] { wait_at_least(word, 1); }));  // runs on, with the size before
  EXPECT_EQ(0, set_stack_limit(0, kLeast * 4 - 100));
  EXPECT_EQ(kLeast * 4, stack_limit(0));
  EXPECT_EQ(kLeast, stack_limit(1)) << "another device";
  // Lanes of both sizes block, meet and leave.
  ASSERT_EQ(0, launch_callable({{3, 1, 1}, {64, 1, 1}, 0, create_stream(0, true)}, [=] {
              const size_t used = descend(kLeast * 3);
              anygin_syncthreads();
              if (used >= kLeast * 3) __atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
            }));
  EXPECT_TRUE(eventually([=] { return __atomic_load_n(count, __ATOMIC_RELAXED) == 192; })) << "192 deep lanes";
  __atomic_store_n(word, 1, __ATOMIC_RELEASE);
  EXPECT_EQ(0, synchronize_device(0));
  EXPECT_EQ(kCudaInvalidValue, set_stack_limit(0, kMost + 1));
  EXPECT_EQ(kLeast * 4, stack_limit(0));
  reset_device(0);
  EXPECT_EQ(kLeast, stack_limit(0));
}

// Where there is no guard. Lanes that do not block take turns on one stack.
TEST_F(SimtStack, AWriteOverTheEndOfAnUnguardedStackIsReported) {
  SchedulerShape shape{world().next_engine_id()};
  shape.stacks = 64;
  shape.guards = StackPool::Guards::kNone;
  LaneScheduler scheduler(shape);
  const auto body = [] {
    if (anygin_thread_idx.x != 2) return;
    const char* here = static_cast<const char*>(__builtin_frame_address(0));
    *current_runner->stacks_of_block().low_of(here) = 1;
  };
  auto bound = body;
  Grid grid(blocks_of(1, 4), {&run_lanes<decltype(bound)>, &bound}, device_table().load(2));
  bool done = false;
  grid.done = [&] { done = true; };
  ::testing::internal::CaptureStderr();
  scheduler.place(grid);
  for (int pass = 0; pass < 10 && !done; ++pass) scheduler.pass(world().executor);
  const std::string report = ::testing::internal::GetCapturedStderr();
  EXPECT_TRUE(done);
  EXPECT_EQ(kCudaLaunchFailure, device_error(2));
  EXPECT_NE(std::string::npos,
            report.find("block (0,0,0) thread (3,0,0), or one that ran on its stack before it: a stack of 64 KiB "
                        "overflowed, memory of other threads may be damaged; cudaDeviceSetLimit(cudaLimitStackSize, "
                        "131072) gives threads of later launches more"))
      << report;
}

#if !defined(ANYGIN_SANITIZE_ADDRESS) && !defined(ANYGIN_SANITIZE_THREAD)
int run_too_deep(size_t limit) {
  set_stack_limit(0, limit);
  return run({{1, 1, 1}, {4, 2, 1}}, [=] {
    anygin_syncthreads();
    if (anygin_linear_thread == 6) descend(limit + 128 * 1024);
  });
}

TEST_F(SimtStack, AnOverflowOfALanesStackIsAFaultThatNamesTheLane) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      run_too_deep(kLeast), ::testing::KilledBySignal(SIGSEGV),
      "ERROR: kernel .* \\(grid [0-9]+\\): block \\(0,0,0\\) thread \\(2,1,0\\): its stack of 64 KiB overflowed "
      "\\(SIGSEGV at 0x[0-9a-f]+, in the guard below a stack\\); cudaDeviceSetLimit\\(cudaLimitStackSize, "
      "131072\\) gives threads of later launches more\n");
  EXPECT_EXIT(run_too_deep(kMost), ::testing::KilledBySignal(SIGSEGV),
              "its stack of 4096 KiB overflowed .*there are no larger ones");
}

int* volatile no_memory = reinterpret_cast<int*>(16);

TEST_F(SimtStack, AnotherFaultOnALaneNamesItToo) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto fault = [] {
    if (anygin_thread_idx.x == 1) *no_memory = 1;
  };
  EXPECT_EXIT(run(blocks_of(1, 3), fault), ::testing::KilledBySignal(SIGSEGV),
              "thread \\(1,0,0\\): SIGSEGV at 0x10; its stack of 64 KiB has [0-9]+ bytes left\n");
}

#if defined(__x86_64__)  // others divide without a trap
volatile int zero = 0;

__attribute__((no_sanitize("undefined"))) void divide_by_zero() {
  [[maybe_unused]] volatile int quotient = 7 / zero;
}

TEST_F(SimtStack, ADivisionByZeroOnALaneNamesIt) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto divide = [] {
    if (anygin_thread_idx.x == 2) divide_by_zero();
  };
  EXPECT_EXIT(run(blocks_of(1, 3), divide), ::testing::KilledBySignal(SIGFPE),
              "thread \\(2,0,0\\): integer division by zero, or of the least number by -1 \\(SIGFPE\\); on a GPU");
}
#endif

int handled = 0;

void* faulting_page() {
  static void* const page = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return page;
}

// A program that maps memory when it is touched, as some do.
void open_page(int) {
  ++handled;
  mprotect(faulting_page(), 4096, PROT_READ | PROT_WRITE);
}

void fault_with_own_handler() {
  struct sigaction own {};
  own.sa_handler = &open_page;
  sigaction(SIGSEGV, &own, nullptr);
  char* page = static_cast<char*>(faulting_page());
  for (int round = 1; round <= 2; ++round) {
    mprotect(page, 4096, PROT_NONE);
    if (run(blocks_of(1, 2), [=] { *const_cast<volatile char*>(page) = 1; }) != 0) std::_Exit(2);
    if (handled != round) std::_Exit(3);
  }
  std::fprintf(stderr, "both handled\n");
  std::_Exit(0);
}

// In a process of its own, where no lane has run before the handler is there.
TEST_F(SimtStack, AHandlerOfTheProgramIsAskedEachTimeAndMayMendTheFault) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(fault_with_own_handler(), ::testing::ExitedWithCode(0), "^both handled\n$");
}
#endif

}  // namespace
}  // namespace anygin::simt
