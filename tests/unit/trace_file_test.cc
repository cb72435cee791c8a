// SPDX-License-Identifier: Apache-2.0
#include "anygin/base/trace_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "support/reaches.h"
#include "support/virtual_time.h"

namespace anygin {
namespace {

TraceEvent some_post() {
  TraceEvent event;
  event.kind = TraceKind::kPost;
  event.rank = 0;
  event.peer = 3;
  event.context = 2;
  event.operation = 17;
  event.at = {HeapId(1), 4096};
  event.bytes = 64;
  event.call_site = reinterpret_cast<const void*>(0x1234);
  return event;
}

class TraceFileTest : public ::testing::Test {
 protected:
  TraceFileTest() {
    char name[] = "/tmp/anygin-trace-test-XXXXXX";
    const char* made = mkdtemp(name);
    EXPECT_NE(made, nullptr);
    folder_ = name;
  }
  ~TraceFileTest() override {
    for (const std::string& file : files_) unlink(file.c_str());
    rmdir(folder_.c_str());
  }
  std::string file(const std::string& name) {
    files_.push_back(folder_ + "/" + name);
    return files_.back();
  }
  static std::vector<std::string> lines_of(const std::string& path) {
    std::ifstream stream(path);
    std::vector<std::string> lines;
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
  }

  testing::VirtualClock clock_;
  std::string folder_;
  std::vector<std::string> files_;
};

TEST_F(TraceFileTest, ALineAnEventAfterTheHeader) {
  const std::string path = file("trace");
  {
    Result<std::unique_ptr<TraceFile>> trace = TraceFile::open(path, clock_);
    ASSERT_TRUE(trace.ok()) << trace.status().message();
    EXPECT_TRUE((*trace)->enabled());
    clock_.advance_to(1500);
    (*trace)->record(some_post());
    EXPECT_EQ(lines_of(path).size(), 2u);  // there at once, not only at the end
  }
  EXPECT_EQ(lines_of(path),
            (std::vector<std::string>{
                "{\"anygin_trace\":1,\"pid\":" + std::to_string(getpid()) + "}",
                R"({"t":1500,"kind":"post","rank":0,"peer":3,"context":2,"operation":17,"heap":1,"offset":4096,)"
                R"("bytes":64,"call_site":4660})"}));
}

TEST_F(TraceFileTest, TheProcessIdMayStandInTheName) {
  const std::string path = file("trace." + std::to_string(getpid()));
  ASSERT_TRUE(TraceFile::open(folder_ + "/trace.%p", clock_).ok());
  EXPECT_EQ(lines_of(path).size(), 1u);
}

TEST_F(TraceFileTest, AFileThatAnotherWriterHasIsNotOverwritten) {
  const std::string path = file("trace"), own = file("trace." + std::to_string(getpid()));
  const Result<std::unique_ptr<TraceFile>> first = TraceFile::open(path, clock_);
  ASSERT_TRUE(first.ok());
  (*first)->record(some_post());
  const Result<std::unique_ptr<TraceFile>> second = TraceFile::open(path, clock_);
  ASSERT_TRUE(second.ok()) << second.status().message();
  EXPECT_EQ(lines_of(path).size(), 2u);
  EXPECT_EQ(lines_of(own).size(), 1u);
}

TEST_F(TraceFileTest, AnOldFileIsReplaced) {
  const std::string path = file("trace");
  std::ofstream(path) << "an older trace, longer than the first line of the new one, which it does not survive\n\n\n";
  ASSERT_TRUE(TraceFile::open(path, clock_).ok());
  EXPECT_EQ(lines_of(path), std::vector<std::string>{"{\"anygin_trace\":1,\"pid\":" + std::to_string(getpid()) + "}"});
}

TEST_F(TraceFileTest, AFileThatCannotBeWrittenIsAnError) {
  const auto trace = TraceFile::open(folder_ + "/no/such/folder", clock_);
  ASSERT_FALSE(trace.ok());
  EXPECT_EQ(trace.status().where(), "ANYGIN_TRACE");
  REACHES(GIN_ERR_FILE, trace.status());
  EXPECT_NE(trace.status().text().find("/no/such/folder': No such file"), std::string::npos) << trace.status().text();
}

TEST_F(TraceFileTest, LinesOfThreadsDoNotMix) {
  const std::string path = file("trace");
  Result<std::unique_ptr<TraceFile>> trace = TraceFile::open(path, clock_);
  ASSERT_TRUE(trace.ok());
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 250; ++n) (*trace)->record(some_post());
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::vector<std::string> lines = lines_of(path);
  ASSERT_EQ(lines.size(), 1001u);
  for (size_t i = 1; i < lines.size(); ++i) ASSERT_EQ(lines[i], trace_line(0, some_post()));
}

TEST(TraceLine, LeavesOutWhatAKindDoesNotUse) {
  TraceEvent event;
  event.kind = TraceKind::kAbort;
  event.value = 4;
  EXPECT_EQ(trace_line(0, event), R"({"t":0,"kind":"abort","value":4})");
}

TEST(TraceLine, EveryKindHasANameOfItsOwn) {
  std::set<std::string_view> names;
  for (int kind = 0; kind < static_cast<int>(TraceKind::kKinds); ++kind) {
    names.insert(name_of(static_cast<TraceKind>(kind)));
  }
  EXPECT_EQ(names.size(), static_cast<size_t>(TraceKind::kKinds));
  EXPECT_EQ(name_of(TraceKind::kLaneStart), "lane_start");
  EXPECT_EQ(name_of(TraceKind::kWaitEnd), "wait_end");
  EXPECT_EQ(name_of(TraceKind::kDecode), "decode");
}

TEST(TraceRecorder, KeepsEventsWithTheirTimes) {
  testing::VirtualClock clock;
  TraceRecorder recorder(clock);
  EXPECT_TRUE(recorder.enabled());
  recorder.record(some_post());
  clock.advance_to(7);
  TraceEvent signal;
  signal.kind = TraceKind::kSignal;
  recorder.record(signal);
  ASSERT_EQ(recorder.events().size(), 2u);
  EXPECT_EQ(recorder.events()[1].when, 7u);
  ASSERT_EQ(recorder.events_of(TraceKind::kPost).size(), 1u);
  EXPECT_EQ(recorder.events_of(TraceKind::kPost)[0].operation, 17u);
  recorder.clear();
  EXPECT_TRUE(recorder.events().empty());
}

TEST(NullTrace, IsOff) {
  EXPECT_FALSE(NullTrace().enabled());
}

}  // namespace
}  // namespace anygin
