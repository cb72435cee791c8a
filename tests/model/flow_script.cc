// SPDX-License-Identifier: Apache-2.0
#include "model/flow_script.h"

#include <algorithm>
#include <cstring>

namespace anygin::testing {

using namespace emulated;

namespace {

constexpr uint64_t kCellsOffset = FlowScript::kCells;

char byte_of(uint64_t offset) {
  return static_cast<char>((offset * 2654435761u >> 7) | 1);
}

uint32_t draw_size(ChoiceSource& draw) {
  const uint64_t shape = draw.pick_below(ChoiceKind::kFault, 8);
  if (shape == 0) return 0;
  const uint64_t most = shape == 1 ? 70'000 : 64;
  return static_cast<uint32_t>(1 + draw.pick_below(ChoiceKind::kFault, most));
}

Work signal(ChoiceSource& draw, FlowPair& pair, FlowScript& script, uint32_t index, bool hints) {
  Work work;
  work.kind = WorkKind::kFetchAdd;
  work.may_pass = draw.pick_below(ChoiceKind::kFault, 2) == 0 && hints;
  work.bytes = 8;
  work.rkey = FlowPair::kKey;
  const uint64_t cell = draw.pick_below(ChoiceKind::kFault, FlowScript::kCellCount);
  work.remote_address = FlowPair::kTargetBase + kCellsOffset + cell * 8;
  work.add = draw.pick_below(ChoiceKind::kFault, 3) == 0 ? ~uint64_t{0} : 1 + index;
  work.local = pair.source_place(FlowPair::kBytes - 8);
  script.sums[cell] += work.add;
  return work;
}

Work transfer(ChoiceSource& draw, FlowPair& pair, uint32_t index, bool hints) {
  Work work;
  work.bytes = draw_size(draw);
  work.rkey = FlowPair::kKey;
  const uint64_t skew = draw.pick_below(ChoiceKind::kFault, 16);
  if (draw.pick_below(ChoiceKind::kFault, 5) == 0) {
    work.kind = WorkKind::kRead;
    const uint64_t from = FlowScript::kConstants + skew;
    work.bytes = static_cast<uint32_t>(std::min<uint64_t>(work.bytes, FlowScript::kConstantBytes - skew));
    work.remote_address = FlowPair::kTargetBase + from;
    work.local = pair.source_place(index * FlowScript::kSlot + 3);
    return work;
  }
  work.kind = WorkKind::kWrite;
  work.may_pass = hints && draw.pick_below(ChoiceKind::kFault, 8) != 0;
  work.remote_address = FlowPair::kTargetBase + index * FlowScript::kSlot + skew;
  work.local = pair.source_place(index * FlowScript::kSlot + draw.pick_below(ChoiceKind::kFault, 16));
  char* source = world().memory.address(work.local.name);
  for (uint32_t i = 0; i < work.bytes; ++i) source[i] = byte_of((source - pair.source() + i) * 3 + 1);
  if (work.bytes <= 8 && draw.pick_below(ChoiceKind::kFault, 2) == 0) {
    work.is_inline = true;
    std::memcpy(work.inline_data.data(), source, work.bytes);
  }
  return work;
}

struct Span {
  size_t first = ~size_t{0}, last = 0;  // places in the log of effects
  bool any = false;
  uint64_t bytes = 0;
  void note(size_t place, uint64_t count) {
    if (!any) first = place;
    last = place;
    any = true;
    bytes += count;
  }
};

void check_completions(const FlowPair& pair, const FlowScript& script) {
  ASSERT_EQ(pair.completions().size(), script.works.size()) << pair.pending();
  for (size_t i = 0; i < script.works.size(); ++i) {
    const WorkDone& done = pair.completions()[i];
    EXPECT_EQ(done.cookie, i) << "completions are in post order";
    EXPECT_EQ(done.status, WorkStatus::kOk);
    EXPECT_EQ(done.bytes, script.works[i].bytes);
  }
}

// Every byte exactly what it must be.
void check_memory(FlowPair& pair, const FlowScript& script) {
  std::vector<char> expected(FlowPair::kBytes, 0);
  for (uint64_t i = 0; i < FlowScript::kConstantBytes; ++i) {
    expected[FlowScript::kConstants + i] = byte_of(FlowScript::kConstants + i);
  }
  for (const Work& work : script.works) {
    const uint64_t to = work.remote_address - FlowPair::kTargetBase;
    const char* from = work.bytes > 0 && !work.is_inline ? world().memory.address(work.local.name) : nullptr;
    if (work.kind == WorkKind::kWrite && work.bytes > 0) {
      std::memcpy(expected.data() + to, work.is_inline ? work.inline_data.data() : from, work.bytes);
    } else if (work.kind == WorkKind::kRead && work.bytes > 0) {
      EXPECT_EQ(std::memcmp(from, expected.data() + to, work.bytes), 0) << "a get of " << work.bytes << " bytes";
    }
  }
  std::memcpy(expected.data() + kCellsOffset, script.sums, sizeof(script.sums));
  for (uint64_t i = 0; i < FlowPair::kBytes; ++i) {
    if (pair.target()[i] == expected[i]) continue;
    ADD_FAILURE() << "target byte " << i << " is " << int{pair.target()[i]} << ", expected " << int{expected[i]};
    return;
  }
}

std::vector<Span> spans_of(const FlowPair& pair, const FlowScript& script, Freedoms* seen) {
  std::vector<Span> spans(script.works.size());
  std::vector<uint64_t> last_end(script.works.size(), 0);
  for (size_t place = 0; place < pair.effects().size(); ++place) {
    const Effect& effect = pair.effects()[place];
    if (effect.kind == Effect::kCompleted) continue;
    const Work& work = script.works[effect.operation];
    spans[effect.operation].note(place, effect.bytes);
    if (work.kind != WorkKind::kWrite) continue;
    if (effect.offset < last_end[effect.operation]) seen->granules_out_of_order = true;
    last_end[effect.operation] = effect.offset + effect.bytes;
  }
  return spans;
}

}  // namespace

FlowScript make_script(ChoiceSource& draw, FlowPair& pair, bool hints) {
  FlowScript script;
  for (uint64_t i = 0; i < FlowScript::kConstantBytes; ++i) {
    pair.target()[FlowScript::kConstants + i] = byte_of(FlowScript::kConstants + i);
  }
  const uint64_t count = 2 + draw.pick_below(ChoiceKind::kFault, FlowScript::kOperationsMax - 3);
  while (script.works.size() < count) {
    const auto index = static_cast<uint32_t>(script.works.size());
    if (draw.pick_below(ChoiceKind::kFault, 3) == 0) {
      script.works.push_back(signal(draw, pair, script, index, hints));
      continue;
    }
    script.works.push_back(transfer(draw, pair, index, hints));
    if (script.works.back().kind == WorkKind::kWrite && draw.pick_below(ChoiceKind::kFault, 2) == 0) {
      script.works.push_back(signal(draw, pair, script, index + 1, hints));
      script.works.back().grouped = true;
    }
  }
  return script;
}

void check_run(FlowPair& pair, const FlowScript& script, Profile profile, Freedoms* seen) {
  EXPECT_FALSE(pair.torn_down());
  check_completions(pair, script);
  if (::testing::Test::HasFatalFailure()) return;
  check_memory(pair, script);
  const std::vector<Span> spans = spans_of(pair, script, seen);
  std::vector<size_t> completed(script.works.size(), 0);
  for (size_t place = 0; place < pair.effects().size(); ++place) {
    const Effect& effect = pair.effects()[place];
    if (effect.kind == Effect::kCompleted) completed[effect.operation] = place;
  }
  for (size_t later = 0; later < script.works.size(); ++later) {
    const Work& x = script.works[later];
    EXPECT_EQ(spans[later].bytes, x.bytes) << "every byte takes effect exactly once";
    if (!spans[later].any) continue;
    if (spans[later].last > completed[later]) {
      EXPECT_TRUE(completes_before_visible(profile, order_class(x.kind, x.may_pass)))
          << name_of(order_class(x.kind, x.may_pass)) << " completed before it was visible";
      seen->completed_before_visible = true;
    }
    for (size_t earlier = 0; earlier < later; ++earlier) {
      const Work& e = script.works[earlier];
      if (!spans[earlier].any || spans[later].first > spans[earlier].last) continue;
      const ClassPair classes{order_class(e.kind, e.may_pass), order_class(x.kind, x.may_pass)};
      seen->passed.insert(classes);
      EXPECT_TRUE(may_pass(profile, classes.first, classes.second))
          << "operation " << later << " (" << name_of(classes.second) << ") took effect before operation " << earlier
          << " (" << name_of(classes.first) << ")";
      EXPECT_FALSE(x.grouped && earlier + 1 == later) << "a signal passed its own payload (P1)";
    }
  }
}

}  // namespace anygin::testing
