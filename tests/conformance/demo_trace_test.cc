// SPDX-License-Identifier: Apache-2.0
// ARCHITECTURE.md says which events one put leaves, in which order; here the examples' traces are held against it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "support/sanitizer_sizes.h"

namespace anygin {
namespace {

struct Event {
  std::string kind;
  int rank = 0, peer = 0;
};

std::string field(const std::string& line, const std::string& name) {
  const size_t at = line.find("\"" + name + "\":");
  if (at == std::string::npos) return "";
  const size_t begin = at + name.size() + 3;
  const std::string value = line.substr(begin, line.find_first_of(",}", begin) - begin);
  return value.front() == '"' ? value.substr(1, value.size() - 2) : value;
}

// Runs an example on `ranks` ranks as threads and returns the events of its trace.
std::vector<Event> trace_of(const std::string& example, int ranks) {
  const std::string file = ::testing::TempDir() + "anygin_trace_" + example + std::to_string(getpid());
  const std::string command = "ANYGIN_PROFILE=inorder ANYGIN_TRACE=" + file + " timeout 15 " ANYGIN_EXAMPLES_DIR "/" +
                              example + " -r " + std::to_string(ranks) + " >/dev/null";
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  std::vector<Event> events;
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  EXPECT_THAT(line, ::testing::HasSubstr("\"anygin_trace\":1")) << "the first line is the schema's version";
  while (std::getline(stream, line)) {
    events.push_back(
        {field(line, "kind"), std::atoi(field(line, "rank").c_str()), std::atoi(field(line, "peer").c_str())});
  }
  std::remove(file.c_str());
  return events;
}

TEST(DemoTrace, a_put_with_signal_leaves_the_events_of_the_walk) {
  std::vector<std::string> kinds;
  for (const Event& event : trace_of("ring", 2)) {
    const bool travels = event.kind != "wait_begin" && event.kind != "wait_end";
    if (event.rank == 0 && event.peer == 1 && travels) kinds.push_back(event.kind);
  }
  std::vector<std::string> want;
  for (int round = 0; round < 3; ++round) {
    for (const char* kind : {"decode", "post", "source_read", "visible", "signal", "local_done"})
      want.emplace_back(kind);
  }
  EXPECT_EQ(kinds, want);
}

TEST(DemoTrace, the_all_to_all_leaves_each_event_as_often_as_it_puts_and_signals) {
  const int ranks = testing::size_under_tsan(2, 1);
  std::map<std::string, int> count;
  for (const Event& event : trace_of("alltoall_gin", ranks)) ++count[event.kind];
  const int puts = ranks * ranks * 16;                       // rank x peer x block
  const int barrier_signals = ranks * (ranks - 1) * 16 * 2;  // rank x other x block x (opening, closing)
  EXPECT_EQ(count["decode"], puts + barrier_signals);
  EXPECT_EQ(count["post"], puts + barrier_signals);
  EXPECT_EQ(count["source_read"], puts);
  EXPECT_EQ(count["visible"], puts);
  EXPECT_EQ(count["signal"], puts + barrier_signals);
  EXPECT_EQ(count["local_done"], puts + barrier_signals);
}

}  // namespace
}  // namespace anygin
