// SPDX-License-Identifier: Apache-2.0
// Sends, receives and collectives over a network that delivers when a seed says so, against what a serial program gets.
#include "exchange_model.h"

#include <gmock/gmock.h>

#include <cstdint>
#include <vector>

#include "support/reaches.h"

namespace anygin::testing {
namespace {

using comm::CallKind;
using comm::CallRequest;
using comm::Element;
using comm::ReduceOp;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr uint32_t kPayload = 64;  // small slots: a transfer of a few numbers needs many
constexpr uint64_t kSeeds = 20;

template <typename T>
CallRequest request_of(CallKind kind, const T* from, T* into, uint64_t count, Element element, Rank peer = 0) {
  CallRequest request;
  request.kind = kind;
  request.from = reinterpret_cast<const char*>(from);
  request.into = reinterpret_cast<char*>(into);
  request.count = count;
  request.element = element;
  request.peer = peer;
  request.where = comm::name_of(kind);
  return request;
}
CallRequest send(const std::vector<int32_t>& from, Rank peer) {
  return request_of<int32_t>(CallKind::kSend, from.data(), nullptr, from.size(), Element::kInt32, peer);
}
CallRequest receive(std::vector<int32_t>& into, Rank peer) {
  return request_of<int32_t>(CallKind::kRecv, nullptr, into.data(), into.size(), Element::kInt32, peer);
}

// Numbers that tell rank, place and transfer apart.
std::vector<int32_t> numbers(size_t count, int32_t mark) {
  std::vector<int32_t> all(count);
  for (size_t i = 0; i < count; ++i) all[i] = mark * 1'000'000 + static_cast<int32_t>(i);
  return all;
}

TEST(ExchangeModel, P36_a_group_may_send_to_each_other) {
  for (const size_t count : {0u, 1u, 15u, 16u, 17u, 1000u}) {
    for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
      SCOPED_TRACE(::testing::Message() << count << " elements, seed " << seed);
      ExchangeModel model(2, kPayload, seed);
      const std::vector<int32_t> from[2] = {numbers(count, 1), numbers(count, 2)};
      std::vector<int32_t> into[2] = {std::vector<int32_t>(count), std::vector<int32_t>(count)};
      for (Rank rank = 0; rank < 2; ++rank) {
        model.give(rank, send(from[rank], 1 - rank));
        model.give(rank, receive(into[rank], 1 - rank));
      }
      ASSERT_TRUE(model.run()) << model.error().message();
      ASSERT_EQ(into[0], from[1]);
      ASSERT_EQ(into[1], from[0]);
    }
  }
}

TEST(ExchangeModel, P35_sends_match_receives_in_call_order) {
  constexpr int kRanks = 4, kEach = 5;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    ExchangeModel model(kRanks, kPayload, seed);
    std::vector<std::vector<int32_t>> from, into;
    from.reserve(kRanks * kRanks * kEach), into.reserve(kRanks * kRanks * kEach);
    for (Rank source = 0; source < kRanks; ++source) {
      for (Rank target = 0; target < kRanks; ++target) {
        for (int i = 0; i < kEach; ++i) {
          const auto mark = static_cast<int32_t>(from.size());
          from.push_back(numbers(static_cast<size_t>((mark * 7) % 60), mark));
          into.emplace_back(from.back().size());
          model.give(source, send(from.back(), target));
          model.give(target, receive(into.back(), source));
        }
      }
    }
    ASSERT_TRUE(model.run()) << model.error().message();
    ASSERT_EQ(into, from);
  }
}

TEST(ExchangeModel, F10_a_send_alone_waits_for_its_receive) {
  ExchangeModel model(2, kPayload, 1);
  const std::vector<int32_t> from = numbers(1, 1);
  std::vector<int32_t> into(1);
  model.give(0, send(from, 1));
  EXPECT_FALSE(model.run());
  EXPECT_THAT(model.pending(), ElementsAre("rank 0: ncclSend of 1 int32 to rank 1"));
  model.give(1, receive(into, 0));
  EXPECT_TRUE(model.run());
  EXPECT_EQ(into, from);
}

TEST(ExchangeModel, M11_a_cycle_of_sends_without_a_group_stands_still) {
  ExchangeModel model(2, kPayload, 1);
  const std::vector<int32_t> from = numbers(3, 1);
  std::vector<int32_t> into(3);
  for (Rank rank = 0; rank < 2; ++rank) {
    model.give(rank, send(from, 1 - rank));
    model.next_group(rank);
    model.give(rank, receive(into, 1 - rank));
  }
  EXPECT_FALSE(model.run());
  EXPECT_THAT(model.pending(),
              ElementsAre("rank 0: ncclSend of 3 int32 to rank 1", "rank 0: ncclRecv of 3 int32 from rank 1",
                          "rank 1: ncclSend of 3 int32 to rank 0", "rank 1: ncclRecv of 3 int32 from rank 0"));
}

TEST(ExchangeModel, M11_another_count_or_type_is_an_error_that_names_both) {
  const std::vector<int32_t> from = numbers(40, 1);
  std::vector<int32_t> into(40);
  const auto meet = [&](const CallRequest& received) {
    ExchangeModel model(2, kPayload, 1);
    model.give(0, send(from, 1));
    model.give(1, received);
    EXPECT_FALSE(model.run());
    REACHES(GIN_ERR_TRANSFER_MISMATCH, model.error());
    return model.error().text();
  };
  const auto shorter = request_of<int32_t>(CallKind::kRecv, nullptr, into.data(), 39, Element::kInt32, 0);
  EXPECT_EQ(meet(shorter),
            "rank 1: ncclRecv of 39 int32 from rank 0 meets ncclSend of 40 int32 of rank 0; count and type must be "
            "equal");
  const auto floats = request_of<int32_t>(CallKind::kRecv, nullptr, into.data(), 40, Element::kFloat32, 0);
  EXPECT_THAT(meet(floats), HasSubstr("ncclRecv of 40 float32 from rank 0 meets ncclSend of 40 int32 of rank 0"));
}

TEST(ExchangeModel, another_collective_is_an_error_that_names_both) {
  ExchangeModel model(2, kPayload, 1);
  const std::vector<int32_t> from = numbers(4, 1);
  std::vector<int32_t> into(8);
  model.give(0, request_of<int32_t>(CallKind::kAllGather, from.data(), into.data(), 4, Element::kInt32));
  model.give(1, request_of<int32_t>(CallKind::kAllToAll, from.data(), into.data(), 2, Element::kInt32));
  EXPECT_FALSE(model.run());
  EXPECT_THAT(model.error().text(), HasSubstr("all ranks must make the same calls in the same order"));
}

// The parts of an all-reduce may be equal where the calls are not: 16 and 17 elements of three ranks both begin with 6.
TEST(ExchangeModel, collectives_that_differ_are_named_with_the_counts_of_the_program) {
  for (Rank longer = 0; longer < 3; ++longer) {
    ExchangeModel model(3, kPayload, 1);
    const std::vector<int32_t> from = numbers(17, 1);
    std::vector<int32_t> into[3] = {from, from, from};
    for (Rank rank = 0; rank < 3; ++rank) {
      model.give(rank, request_of(CallKind::kAllReduce, from.data(), into[rank].data(), rank == longer ? 17 : 16,
                                  Element::kInt32));
    }
    EXPECT_FALSE(model.run());
    REACHES(GIN_ERR_TRANSFER_MISMATCH, model.error());
    EXPECT_THAT(model.error().text(), HasSubstr("of 16 int32"));
    EXPECT_THAT(model.error().text(), HasSubstr("of 17 int32"));
  }
}

TEST(ExchangeModel, collectives_and_sends_do_not_wait_for_each_other) {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    ExchangeModel model(2, kPayload, seed);
    const std::vector<int32_t> from = numbers(100, 1);
    std::vector<int32_t> got(100), sum[2] = {std::vector<int32_t>(100), std::vector<int32_t>(100)};
    const auto reduce = [&](Rank rank) {
      model.give(rank, request_of(CallKind::kAllReduce, from.data(), sum[rank].data(), 100, Element::kInt32));
    };
    reduce(0);
    model.give(0, send(from, 1));
    model.give(1, receive(got, 0));
    reduce(1);
    ASSERT_TRUE(model.run()) << model.error().message();
    EXPECT_EQ(got, from);
    EXPECT_EQ(sum[0][99], 2 * from[99]);
    EXPECT_EQ(sum[1], sum[0]);
  }
}

// --- Collectives against a serial reference --------------------------------------------------------------------------
class ExchangeCollectives : public ::testing::TestWithParam<int> {
 protected:
  using Buffers = std::vector<std::vector<int32_t>>;
  int ranks() const { return GetParam(); }
  size_t size() const { return static_cast<size_t>(GetParam()); }
  Buffers sources(size_t count) const {
    Buffers all;
    for (int rank = 0; rank < ranks(); ++rank) all.push_back(numbers(count, rank + 1));
    return all;
  }
  Buffers room(size_t count) const { return Buffers(size(), std::vector<int32_t>(count, -1)); }
  // Every rank makes the call, for several seeds.
  void run(CallKind kind, const Buffers& from, Buffers& into, uint64_t count, Rank root = 0) {
    for (uint64_t seed = 1; seed <= 5; ++seed) {
      ExchangeModel model(ranks(), kPayload, seed);
      for (Rank rank = 0; rank < ranks(); ++rank) {
        const auto at = static_cast<size_t>(rank);
        model.give(rank, request_of(kind, from[at].data(), into[at].data(), count, Element::kInt32, root));
      }
      ASSERT_TRUE(model.run()) << "seed " << seed << ": " << model.error().message();
    }
  }
  // Of all ranks' elements `at`.
  static int32_t sum(const Buffers& from, size_t at) {
    int32_t total = 0;
    for (const auto& one : from) total += one[at];
    return total;
  }
};

TEST_P(ExchangeCollectives, broadcast_gather_scatter) {
  const Rank root = ranks() - 1;
  const auto at_root = static_cast<size_t>(root);
  const Buffers from = sources(50 * size());
  Buffers into = room(50 * size());
  run(CallKind::kBroadcast, from, into, 50 * size(), root);
  for (const auto& got : into) EXPECT_EQ(got, from[at_root]);
  into = room(50 * size());
  run(CallKind::kGather, from, into, 50, root);
  for (size_t i = 0; i < 50 * size(); ++i) ASSERT_EQ(into[at_root][i], from[i / 50][i % 50]);
  into = room(50);
  run(CallKind::kScatter, from, into, 50, root);
  for (size_t rank = 0; rank < size(); ++rank) {
    for (size_t i = 0; i < 50; ++i) ASSERT_EQ(into[rank][i], from[at_root][50 * rank + i]);
  }
}

TEST_P(ExchangeCollectives, all_gather_and_all_to_all) {
  const Buffers from = sources(21 * size());
  Buffers into = room(21 * size());
  run(CallKind::kAllGather, from, into, 21);
  for (const auto& got : into) {
    for (size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], from[i / 21][i % 21]);
  }
  into = room(21 * size());
  run(CallKind::kAllToAll, from, into, 21);
  for (size_t rank = 0; rank < size(); ++rank) {
    for (size_t i = 0; i < into[rank].size(); ++i) ASSERT_EQ(into[rank][i], from[i / 21][21 * rank + i % 21]);
  }
}

TEST_P(ExchangeCollectives, sums) {
  for (const size_t count : {size_t{1}, size() + 1, size_t{333}}) {
    SCOPED_TRACE(count);
    const Buffers from = sources(count * size());
    Buffers into = room(count);
    run(CallKind::kAllReduce, from, into, count);
    for (const auto& got : into) {
      for (size_t i = 0; i < count; ++i) ASSERT_EQ(got[i], sum(from, i));
    }
    into = room(count);
    run(CallKind::kReduce, from, into, count, ranks() / 2);
    for (size_t i = 0; i < count; ++i) ASSERT_EQ(into[size() / 2][i], sum(from, i));
    into = room(count);
    run(CallKind::kReduceScatter, from, into, count);
    for (size_t rank = 0; rank < size(); ++rank) {
      for (size_t i = 0; i < count; ++i) ASSERT_EQ(into[rank][i], sum(from, count * rank + i));
    }
  }
}

TEST_P(ExchangeCollectives, several_at_once_in_place) {
  constexpr size_t kCount = 70, kCalls = 3;
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    ExchangeModel model(ranks(), kPayload, seed);
    const Buffers before = sources(kCount * kCalls);
    Buffers values = before;
    for (Rank rank = 0; rank < ranks(); ++rank) {
      for (size_t call = 0; call < kCalls; ++call) {
        int32_t* at = values[static_cast<size_t>(rank)].data() + call * kCount;
        model.give(rank, request_of<int32_t>(CallKind::kAllReduce, at, at, kCount, Element::kInt32));
      }
    }
    ASSERT_TRUE(model.run()) << model.error().message();
    for (const auto& got : values) {
      for (size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], sum(before, i)) << i;
    }
  }
}

// Addition of floats depends on the order: it is the same for every seed, and all ranks have the same bits.
TEST_P(ExchangeCollectives, sums_of_floats_have_one_order) {
  std::vector<std::vector<float>> from(size(), std::vector<float>(100));
  for (size_t rank = 0; rank < size(); ++rank) {
    for (size_t i = 0; i < 100; ++i) {
      const float large = rank % 2 == 0 ? 16777216.0f : -16777216.0f;
      from[rank][i] = large + static_cast<float>(i) / static_cast<float>(rank + 3);
    }
  }
  std::vector<float> first;
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    ExchangeModel model(ranks(), kPayload, seed);
    std::vector<std::vector<float>> into(size(), std::vector<float>(100));
    for (Rank rank = 0; rank < ranks(); ++rank) {
      const auto at = static_cast<size_t>(rank);
      model.give(rank, request_of(CallKind::kAllReduce, from[at].data(), into[at].data(), 100, Element::kFloat32));
    }
    ASSERT_TRUE(model.run()) << model.error().message();
    if (first.empty()) first = into[0];
    for (const auto& got : into) ASSERT_EQ(got, first) << "seed " << seed;
  }
}

TEST_P(ExchangeCollectives, averages_divide_once_and_scalars_multiply_each) {
  const Buffers from = sources(40);
  Buffers average = room(40), scaled = room(40);
  const int32_t two = 2;
  ExchangeModel model(ranks(), kPayload, 3);
  for (Rank rank = 0; rank < ranks(); ++rank) {
    const auto at = static_cast<size_t>(rank);
    CallRequest request = request_of(CallKind::kAllReduce, from[at].data(), average[at].data(), 40, Element::kInt32);
    request.op = ReduceOp::kAverage;
    model.give(rank, request);
    request = request_of(CallKind::kAllReduce, from[at].data(), scaled[at].data(), 40, Element::kInt32);
    request.scalar = reinterpret_cast<const char*>(&two);
    model.give(rank, request);
  }
  ASSERT_TRUE(model.run()) << model.error().message();
  for (size_t rank = 0; rank < size(); ++rank) {
    for (size_t i = 0; i < 40; ++i) {
      ASSERT_EQ(average[rank][i], sum(from, i) / ranks());
      ASSERT_EQ(scaled[rank][i], 2 * sum(from, i));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, ExchangeCollectives, ::testing::Range(1, 10));

}  // namespace
}  // namespace anygin::testing
