// SPDX-License-Identifier: Apache-2.0
// Streams, events, devices, printf.
#include <fmt/format.h>

#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "unit/simt_kernels.h"

namespace anygin::simt {
namespace {

class SimtStream : public SimtTest {};
class SimtDevice : public SimtTest {};
class SimtPrintf : public SimtTest {};

// What happened, in order.
struct Diary {
  std::mutex mutex;
  std::vector<std::string> lines;
  void note(const std::string& line) {
    const std::lock_guard lock(mutex);
    lines.push_back(line);
  }
};

LaunchShape on(Stream* stream, unsigned blocks = 1, unsigned threads = 1) {
  LaunchShape shape = blocks_of(blocks, threads);
  shape.stream = stream;
  return shape;
}

TEST_F(SimtStream, OperationsRunInOrder) {
  Diary diary;
  Diary* notes = &diary;
  Stream* stream = create_stream(0, true);
  bool open = false;
  bool* gate = &open;
  EXPECT_EQ(0, enqueue_wait(
                   stream, [gate] { return __atomic_load_n(gate, __ATOMIC_ACQUIRE); }, "the gate"));
  EXPECT_EQ(0, launch_callable(on(stream), [notes] { notes->note("first"); }));
  EXPECT_EQ(0, enqueue_host_work(stream, [notes] { return notes->note("host"), 0; }));
  EXPECT_EQ(0, launch_callable(on(stream, 4, 64), [notes] {
              anygin_syncthreads();
              if (global_thread() == 255) notes->note("second");
            }));
  EXPECT_EQ(0, enqueue_host_work(stream, [notes] { return notes->note("last"), 0; }));
  EXPECT_EQ(kCudaNotReady, query_stream(stream));
  EXPECT_TRUE(diary.lines.empty());
  __atomic_store_n(gate, true, __ATOMIC_RELEASE);
  EXPECT_EQ(0, synchronize_stream(stream));
  EXPECT_EQ(0, query_stream(stream));
  EXPECT_EQ(diary.lines, (std::vector<std::string>{"first", "host", "second", "last"}));
  EXPECT_EQ(0, destroy_stream(stream));
}

TEST_F(SimtStream, StreamsOfOneDeviceRunSideBySide) {
  uint32_t words[2] = {0, 0};
  uint32_t* flags = words;
  Stream* first = create_stream(0, true);
  Stream* second = create_stream(0, true);
  EXPECT_EQ(0, launch_callable(on(first), [flags] {
              wait_at_least(&flags[1], 1);
              __atomic_store_n(&flags[0], 1, __ATOMIC_RELEASE);
            }));
  EXPECT_EQ(0, launch_callable(on(second), [flags] {
              __atomic_store_n(&flags[1], 1, __ATOMIC_RELEASE);
              wait_at_least(&flags[0], 1);
            }));
  EXPECT_EQ(0, synchronize_device(0));
  EXPECT_EQ(0, destroy_stream(first));
  EXPECT_EQ(0, destroy_stream(second));
}

TEST_F(SimtStream, TheDefaultStreamWaitsForBlockingStreamsAndTheyForIt) {
  Diary diary;
  Diary* notes = &diary;
  uint32_t go = 0;
  uint32_t* word = &go;
  Stream* blocking = create_stream(0, false);
  Stream* other = create_stream(0, true);
  EXPECT_EQ(0, launch_callable(on(blocking), [=] {
              wait_at_least(word, 1);
              notes->note("blocking");
            }));
  EXPECT_EQ(0, launch_callable(on(nullptr), [notes] { notes->note("default"); }));
  EXPECT_EQ(0, launch_callable(on(blocking), [notes] { notes->note("after"); }));
  EXPECT_EQ(0, run(on(other), [notes] { notes->note("free"); }));
  __atomic_store_n(word, 1, __ATOMIC_RELEASE);
  EXPECT_EQ(0, synchronize_device(0));
  EXPECT_EQ(diary.lines, (std::vector<std::string>{"free", "blocking", "default", "after"}));
  EXPECT_EQ(0, destroy_stream(blocking));
  EXPECT_EQ(0, destroy_stream(other));
}

TEST_F(SimtStream, ADestroyedStreamCompletesItsWork) {
  uint32_t go = 0, ran = 0;
  uint32_t* word = &go;
  uint32_t* count = &ran;
  Stream* stream = create_stream(1, true);
  EXPECT_EQ(1, stream_device(stream));
  EXPECT_EQ(0, launch_callable(on(stream), [=] { wait_at_least(word, 1); }));
  EXPECT_EQ(0, launch_callable(on(stream), [=] { __atomic_store_n(count, 1, __ATOMIC_RELEASE); }));
  EXPECT_EQ(stream, resolve_stream(stream));
  EXPECT_EQ(0, destroy_stream(stream));
  EXPECT_EQ(nullptr, resolve_stream(stream));
  EXPECT_EQ(kCudaInvalidResourceHandle, destroy_stream(stream));
  EXPECT_EQ(kCudaInvalidResourceHandle, launch_callable(on(stream), [] {}));
  __atomic_store_n(word, 1, __ATOMIC_RELEASE);
  EXPECT_TRUE(eventually([count] { return __atomic_load_n(count, __ATOMIC_ACQUIRE) == 1; })) << "the second kernel";
}

TEST_F(SimtStream, AnErrorOfHostWorkIsTheStreams) {
  Stream* stream = create_stream(0, true);
  EXPECT_EQ(0, enqueue_host_work(stream, [] { return 700; }));
  EXPECT_EQ(700, synchronize_stream(stream));
  EXPECT_EQ(0, synchronize_device(1));
  EXPECT_EQ(0, device_error(0));
  EXPECT_EQ(0, destroy_stream(stream));
}

TEST_F(SimtStream, EventsMarkPointsAndHoldOtherStreams) {
  Diary diary;
  Diary* notes = &diary;
  uint32_t go = 0;
  uint32_t* word = &go;
  Stream* first = create_stream(0, true);
  Stream* second = create_stream(2, true);
  Event* begin = create_event(true);
  Event* end = create_event(true);
  uint64_t ns = 0;
  EXPECT_EQ(kCudaInvalidResourceHandle, event_elapsed_ns(begin, end, &ns));
  EXPECT_EQ(0, query_event(begin));  // never recorded: complete
  EXPECT_EQ(0, record_event(begin, first));
  EXPECT_EQ(0, synchronize_event(begin));
  EXPECT_EQ(0, launch_callable(on(first), [=] {
              wait_at_least(word, 1);
              anygin_nanosleep(3'000'000);
              notes->note("first");
            }));
  EXPECT_EQ(0, record_event(end, first));
  EXPECT_EQ(kCudaNotReady, query_event(end));
  EXPECT_EQ(kCudaNotReady, event_elapsed_ns(begin, end, &ns));
  EXPECT_EQ(0, stream_wait_event(second, end));
  EXPECT_EQ(0, launch_callable(on(second), [notes] { notes->note("second"); }));
  __atomic_store_n(word, 1, __ATOMIC_RELEASE);
  EXPECT_EQ(0, synchronize_event(end));
  EXPECT_EQ(0, synchronize_stream(second));
  EXPECT_EQ(diary.lines, (std::vector<std::string>{"first", "second"}));
  EXPECT_EQ(0, event_elapsed_ns(begin, end, &ns));
  EXPECT_GE(ns, 3'000'000u);
  EXPECT_LT(ns, 10'000'000'000u);
  destroy_event(begin);
  destroy_event(end);
  EXPECT_EQ(0, destroy_stream(first));
  EXPECT_EQ(0, destroy_stream(second));
}

TEST_F(SimtStream, EachThreadHasAPerThreadStream) {
  void* const per_thread = reinterpret_cast<void*>(uintptr_t{2});
  Stream* mine = resolve_stream(per_thread);
  EXPECT_EQ(mine, resolve_stream(per_thread));
  Stream* theirs = nullptr;
  std::thread([&] { theirs = resolve_stream(per_thread); }).join();
  EXPECT_NE(mine, theirs);
  EXPECT_EQ(resolve_stream(nullptr), resolve_stream(reinterpret_cast<void*>(uintptr_t{1})));
}

TEST_F(SimtDevice, TheCurrentDeviceIsTheThreads) {
  EXPECT_EQ(0, current_device());
  EXPECT_EQ(kCudaInvalidDevice, set_current_device(device_count()));
  EXPECT_EQ(kCudaInvalidDevice, set_current_device(-1));
  EXPECT_EQ(0, set_current_device(5));
  std::thread([] { EXPECT_EQ(0, current_device()); }).join();
  EXPECT_EQ(5, current_device());
  EXPECT_EQ(5, stream_device(resolve_stream(nullptr)));
  EXPECT_EQ(16, device_properties(5).multiprocessors);
}

TEST_F(SimtPrintf, ALanesTextKeepsItsOrderAndLinesStayWhole) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(0, run(blocks_of(2, 64), [] {
              const unsigned me = static_cast<unsigned>(global_thread());
              if (anygin_printf("<%u:", me) != 1) anygin_trap("printf counts its arguments");
              anygin_yield();
              if (anygin_printf(" %s %.1f%%>\n", "half", 0.5 * me) != 2) anygin_trap("printf counts its arguments");
              if (anygin_printf("end") != 0) anygin_trap("printf counts its arguments");
            }));
  const std::string text = testing::internal::GetCapturedStdout();
  size_t bytes = 0;
  for (unsigned me = 0; me < 128; ++me) {
    const std::string line = fmt::format("<{}: half {:.1f}%>\n", me, 0.5 * me);
    EXPECT_NE(std::string::npos, text.find(line)) << line;
    bytes += line.size() + 3;
  }
  EXPECT_EQ(bytes, text.size());
}

TEST_F(SimtPrintf, LongLinesComeOutWhole) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(0, run(blocks_of(1, 1), [] { anygin_printf("%s|%01000d\n", "x", 7); }));
  EXPECT_EQ("x|" + std::string(999, '0') + "7\n", testing::internal::GetCapturedStdout());
}

}  // namespace
}  // namespace anygin::simt
