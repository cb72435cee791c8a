// SPDX-License-Identifier: Apache-2.0
// The event stream is read back, and becomes a picture with lanes and arrows.
#include "perfetto.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

namespace anygin::tools {
namespace {

using ::testing::HasSubstr;

constexpr const char* kEvents = R"({"anygin_trace":1,"pid":5}
{"t":1000000,"kind":"launch","context":1,"operation":9,"bytes":1,"value":1,"grid":2}
{"t":2000000,"kind":"lane_start","context":1,"grid":2}
{"t":3000000,"kind":"wait_begin","rank":1,"operation":1,"heap":1,"offset":64,"value":1,"grid":2}
{"t":4000000,"kind":"source_read","rank":0,"peer":1,"context":2,"operation":2,"heap":1,"offset":128,"bytes":8}
{"t":5000000,"kind":"visible","rank":1,"peer":0,"context":1,"operation":2,"heap":1,"offset":256,"bytes":8}
{"t":6000000,"kind":"signal","rank":1,"peer":0,"context":1,"operation":3,"heap":1,"offset":64,"bytes":8,"value":1}
{"t":7000000,"kind":"wait_end","rank":1,"operation":1,"heap":1,"offset":64,"value":1,"grid":2}
{"t":8000000,"kind":"lane_exit","context":1,"grid":2}
)";

TEST(Perfetto, EventsAreReadBack) {
  Result<std::vector<FileEvent>> events = read_events(kEvents);
  ASSERT_TRUE(events.ok()) << events.status().message();
  ASSERT_EQ(events->size(), 8u);
  EXPECT_EQ((*events)[3].kind, "source_read");
  EXPECT_EQ((*events)[3].time_ps, 4000000u);
  EXPECT_EQ((*events)[3].rank, 0);
  EXPECT_EQ((*events)[3].peer, 1);
  EXPECT_EQ((*events)[3].offset, 128u);
  EXPECT_EQ((*events)[0].rank, -1);
  EXPECT_FALSE(read_events("{\"t\":1}\nnonsense\n").ok());
  EXPECT_FALSE(read_events("{\"t\":x}\n").ok());
}

// --- What a viewer asks of the JSON ---------------------------------------------------------------------------------

// Reads JSON strictly: objects of numbers, strings and objects, arrays of objects. Values as they are written; an inner
// object's fields get its name in front ("args.name").
class JsonReader {
 public:
  using Object = std::map<std::string, std::string>;
  explicit JsonReader(const std::string& text) : text_(text) {}

  // The fields of the outermost object; those of its array are `events`.
  bool read(Object* outer, std::vector<Object>* events) {
    events_ = events;
    const bool good = object(outer, "");
    space();
    return good && at_ == text_.size();
  }
  size_t at() const { return at_; }

 private:
  void space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool take(char c) {
    space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool string(std::string* out) {
    if (!take('"')) return false;
    for (; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\') ++at_;
      if (static_cast<unsigned char>(text_[at_]) < 0x20) return false;
      *out += text_[at_];
    }
    return take('"');
  }
  bool number(std::string* out) {
    space();
    const size_t begin = at_;
    while (at_ < text_.size() && (std::isdigit(static_cast<unsigned char>(text_[at_])) || text_[at_] == '.')) ++at_;
    *out = text_.substr(begin, at_ - begin);
    return !out->empty() && out->front() != '.' && out->back() != '.';
  }
  bool array() {
    if (!take('[')) return false;
    do {
      events_->emplace_back();
      if (!object(&events_->back(), "")) return false;
    } while (take(','));
    return take(']');
  }
  bool object(Object* out, const std::string& prefix) {
    if (!take('{')) return false;
    do {
      std::string key, value;
      if (!string(&key) || !take(':')) return false;
      space();
      const char next = at_ < text_.size() ? text_[at_] : '\0';
      const bool good = next == '{'   ? object(out, key + ".")
                        : next == '[' ? array()
                        : next == '"' ? string(&value)
                                      : number(&value);
      if (!good || (next != '{' && next != '[' && !out->emplace(prefix + key, value).second)) return false;
    } while (take(','));
    return take('}');
  }

  const std::string& text_;
  size_t at_ = 0;
  std::vector<Object>* events_ = nullptr;
};
using Event = JsonReader::Object;

std::vector<Event> events_of(const std::string& json) {
  Event outer;
  std::vector<Event> events;
  JsonReader reader(json);
  EXPECT_TRUE(reader.read(&outer, &events)) << "at " << reader.at() << ": " << json.substr(reader.at(), 60);
  EXPECT_EQ(outer["displayTimeUnit"], "ns");
  return events;
}
double number_of(Event& event, const char* key) {
  return std::stod(event.at(key));
}

// Slices of one lane lie inside each other or apart: viewers drop what only overlaps.
void expect_slices_nest(std::vector<Event>& events) {
  std::map<std::string, std::vector<std::pair<double, double>>> lanes;
  for (Event& event : events) {
    if (event["ph"] == "X")
      lanes[event["pid"] + "/" + event["tid"]].emplace_back(number_of(event, "ts"), -number_of(event, "dur"));
  }
  for (auto& [lane, slices] : lanes) {
    std::sort(slices.begin(), slices.end());
    std::vector<double> open;
    for (const auto& [from, duration] : slices) {
      while (!open.empty() && open.back() <= from + 1e-6) open.pop_back();
      EXPECT_TRUE(open.empty() || from - duration <= open.back() + 1e-6) << lane << " at " << from;
      open.push_back(from - duration);
    }
  }
}

// An arrow has two ends with one id, the later one behind, each on a slice of its lane; a span likewise, without
// slices.
void expect_ends_pair(std::vector<Event>& events) {
  std::map<std::string, std::vector<Event*>> pairs;
  for (Event& event : events) {
    const std::string& ph = event["ph"];
    if (ph == "s" || ph == "f" || ph == "b" || ph == "e")
      pairs[event["cat"] + event["id"] + event["name"]].push_back(&event);
  }
  for (auto& [id, ends] : pairs) {
    ASSERT_EQ(ends.size(), 2u) << id;
    const std::string phases = (*ends[0])["ph"] + (*ends[1])["ph"];
    EXPECT_TRUE(phases == "sf" || phases == "be") << id << phases;
    EXPECT_LE(number_of(*ends[0], "ts"), number_of(*ends[1], "ts")) << id;
    if (phases == "be") continue;
    for (Event* end : ends) {
      const double at = number_of(*end, "ts");
      EXPECT_TRUE(std::any_of(events.begin(), events.end(),
                              [&](Event& slice) {
                                return slice["ph"] == "X" && slice["pid"] == (*end)["pid"] &&
                                       slice["tid"] == (*end)["tid"] && number_of(slice, "ts") <= at &&
                                       at <= number_of(slice, "ts") + number_of(slice, "dur");
                              }))
          << id << " at " << at;
    }
  }
}

std::vector<Event> expect_viewable(const std::string& json) {
  std::vector<Event> events = events_of(json);
  std::set<std::string> groups, lanes;
  for (Event& event : events) {
    if (event["ph"] != "M") continue;
    EXPECT_FALSE(event["args.name"].empty());
    if (event["name"] == "process_name") groups.insert(event["pid"]);
    if (event["name"] == "thread_name") lanes.insert(event["pid"] + "/" + event["tid"]);
  }
  for (Event& event : events) {
    EXPECT_EQ(groups.count(event["pid"]), 1u) << event["name"];
    if (event["ph"] != "X") continue;
    EXPECT_EQ(lanes.count(event["pid"] + "/" + event["tid"]), 1u) << event["name"];
  }
  expect_slices_nest(events);
  expect_ends_pair(events);
  return events;
}

size_t count_of(std::vector<Event>& events, const char* phase) {
  return static_cast<size_t>(
      std::count_if(events.begin(), events.end(), [&](Event& event) { return event["ph"] == phase; }));
}

TEST(Perfetto, BlocksWaitsAndNicsHaveLanesAndASignalPointsAtItsWait) {
  const std::string picture = picture_of(*read_events(kEvents)).json();
  EXPECT_THAT(picture, HasSubstr(R"("name":"process_name","pid":2,"tid":0,"args":{"name":"rank 1"})"));
  EXPECT_THAT(picture, HasSubstr(R"("name":"waitSignal -> 1","ts":3.0000,"dur":4.0000)"));
  EXPECT_THAT(picture, HasSubstr(R"("name":"block","ts":2.0000,"dur":6.0000)"));
  EXPECT_THAT(picture, HasSubstr("8 bytes visible from 0"));
  EXPECT_THAT(picture, HasSubstr("signal from 0: 1"));
  std::vector<Event> events = expect_viewable(picture);
  EXPECT_EQ(count_of(events, "s"), 2u);  // source to signal, signal to wait
  EXPECT_EQ(count_of(events, "b"), 1u);  // the put on its link
}

// Two contexts between the same ranks, whose queue pairs number their operations alike; a put in two granules.
TEST(Perfetto, APutIsOnItsLinkUntilItsLastGranuleAndContextsAreNotMixed) {
  const std::string picture = picture_of(*read_events(R"({"anygin_trace":1,"pid":5}
{"t":1000000,"kind":"source_read","rank":0,"peer":1,"context":4,"operation":2,"bytes":16}
{"t":2000000,"kind":"source_read","rank":0,"peer":1,"context":6,"operation":2,"bytes":16}
{"t":3000000,"kind":"visible","rank":1,"peer":0,"context":9,"operation":2,"bytes":16}
{"t":5000000,"kind":"visible","rank":1,"peer":0,"context":8,"operation":2,"bytes":8}
{"t":6000000,"kind":"visible","rank":1,"peer":0,"context":8,"operation":2,"bytes":8}
)"))
                                  .json();
  std::vector<Event> events = expect_viewable(picture);
  std::vector<std::string> ends;
  for (Event& event : events) {
    if (event["ph"] == "b" || event["ph"] == "e") ends.push_back(event["ts"]);
  }
  EXPECT_EQ(ends, (std::vector<std::string>{"1.0000", "6.0000", "2.0000", "3.0000"}));
}

TEST(Perfetto, AWaitThatALaneLeavesInIsDrawnToItsExit) {
  const std::string picture = picture_of(*read_events(R"({"anygin_trace":1,"pid":5}
{"t":1000000,"kind":"lane_start","grid":2,"lane":0}
{"t":2000000,"kind":"wait_begin","rank":0,"operation":1,"value":1,"grid":2,"lane":0}
{"t":5000000,"kind":"lane_exit","grid":2,"lane":0,"value":5}
)"))
                                  .json();
  EXPECT_THAT(picture, HasSubstr(R"("name":"waitSignal -> never","ts":2.0000,"dur":3.0000)"));
  std::vector<Event> events = expect_viewable(picture);
  EXPECT_EQ(count_of(events, "X"), 2u);
}

TEST(Perfetto, NamesMayHoldWhatJsonAndXmlEscape) {
  Picture picture;
  picture.group(1, "k<int> & \"x\\\"");
  picture.slice({1, picture.lane(1, "a\tb"), 2}, "<");
  std::vector<Event> events = expect_viewable(picture.json());
  EXPECT_EQ(events[0]["args.name"], "k<int> & \"x\\\"");
  const std::string svg = picture.svg();
  EXPECT_THAT(svg, HasSubstr("k&lt;int&gt; &amp; "));
  EXPECT_THAT(svg, HasSubstr("&lt;, 2.00 to 2.05 us"));
}

TEST(Perfetto, AStillPictureHasARowALaneAndALineAnArrow) {
  const std::string svg = picture_of(*read_events(kEvents)).svg();
  const auto times = [&](const std::string& part) {
    size_t count = 0;
    for (size_t at = svg.find(part); at != std::string::npos; at = svg.find(part, at + 1)) ++count;
    return count;
  };
  EXPECT_EQ(times("marker-end"), 2u);
  EXPECT_EQ(times("font-weight=\"bold\""), 3u);  // ranks 0 and 1, links
  EXPECT_EQ(times("fill=\"#f7f7f7\""), 5u);      // NIC twice, block, its wait, link
  EXPECT_EQ(times("<title>"), 6u);
}

}  // namespace
}  // namespace anygin::tools
