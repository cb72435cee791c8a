// SPDX-License-Identifier: Apache-2.0
// Every collective is direct: each rank sends to each rank that needs it, itself included. A sum is made by one rank,
// in one order, and then given to the others, so that all have the same bits.
#include "anygin/comm/exchange_plan.h"

#include <fmt/format.h>

#include <array>

namespace anygin::comm {
namespace {

constexpr std::array<std::string_view, static_cast<size_t>(CallKind::kCount)> kNames{
    "ncclSend",      "ncclRecv",          "ncclBroadcast", "ncclReduce", "ncclAllReduce",
    "ncclAllGather", "ncclReduceScatter", "ncclAlltoAll",  "ncclGather", "ncclScatter"};

// Elements [first, first + count) of an array.
struct Part {
  uint64_t first = 0, count = 0;
};
// The array in as many parts as there are ranks, as equal as can be.
Part part_of(uint64_t count, Rank rank, int ranks) {
  const auto at = [&](uint64_t i) { return count / ranks * i + std::min<uint64_t>(i, count % ranks); };
  const auto r = static_cast<uint64_t>(rank);
  return {at(r), at(r + 1) - at(r)};
}
Part block_of(uint64_t count, Rank rank) {
  return {static_cast<uint64_t>(rank) * count, count};
}

class Planner {
 public:
  Planner(Call& call, Rank rank, int ranks) : call_(call), rank_(rank), ranks_(ranks) {}

  void plan() {
    const CallRequest& r = call_.request;
    const bool root = r.peer == rank_;
    const Part all{0, r.count};
    const auto block = [&](Rank peer) { return block_of(r.count, peer); };
    const auto part = [&](Rank peer) { return part_of(r.count, peer, ranks_); };
    const auto same = [&](Rank) { return all; };
    switch (r.kind) {
      case CallKind::kSend:
        return send(r.peer, r.from, all, 0);
      case CallKind::kRecv:
        return receive(r.peer, all, 0);
      case CallKind::kBroadcast:
        if (root) send_each(r.from, same, 0);
        return receive(r.peer, all, 0);
      case CallKind::kGather:
        send(r.peer, r.from, all, 0);
        return root ? receive_each(block, 0) : void();
      case CallKind::kScatter:
        if (root) send_each(r.from, block, 0);
        return receive(r.peer, all, 0);
      case CallKind::kAllGather:
        send_each(r.from, same, 0);
        return receive_each(block, 0);
      case CallKind::kAllToAll:
        send_each(r.from, block, 0);
        return receive_each(block, 0);
      case CallKind::kReduce:
        send(r.peer, r.from, all, 0);
        return root ? combine_each(all) : void();
      case CallKind::kReduceScatter:
        send_each(r.from, block, 0);
        return combine_each(all);
      default:  // kAllReduce: every rank makes its part of the sum, and gives it to all
        send_each(r.from, part, 0);
        combine_each(part(rank_));
        send_each(r.into, part, 1, true);
        return receive_each(part, 1);
    }
  }

 private:
  size_t width() const { return size_of(call_.request.element); }
  Transfer& add(bool sends, Rank peer, char* memory, uint64_t count, uint32_t stage) {
    Transfer transfer;
    transfer.sends = sends;
    transfer.peer = peer;
    transfer.memory = memory;
    transfer.count = count;
    transfer.stage = stage;
    call_.transfers.push_back(transfer);
    return call_.transfers.back();
  }
  void send(Rank peer, const char* from, Part part, uint32_t stage) {
    add(true, peer, const_cast<char*>(from) + part.first * width(), part.count, stage);
  }
  Transfer& receive_from(Rank peer, Part part, uint32_t stage) {
    return add(false, peer, call_.request.into + part.first * width(), part.count, stage);
  }
  void receive(Rank peer, Part part, uint32_t stage) { (void)receive_from(peer, part, stage); }
  // Beginning with the next rank, so that not all send to one.
  template <typename PartOf>
  void send_each(const char* from, const PartOf& part, uint32_t stage, bool own = false) {
    for (int i = 1; i <= ranks_; ++i) {
      const Rank peer = (rank_ + i) % ranks_;
      send(peer, from, part(own ? rank_ : peer), stage);
    }
  }
  template <typename PartOf>
  void receive_each(const PartOf& part, uint32_t stage) {
    for (Rank peer = 0; peer < ranks_; ++peer) receive(peer, part(peer), stage);
  }
  // Own contribution first, as it may lie where the sum is to be; then the next rank's, and so on.
  void combine_each(Part part) {
    int before = -1;
    for (int i = 0; i < ranks_; ++i) {
      Transfer& transfer = receive_from((rank_ + i) % ranks_, part, 0);
      transfer.combines = i > 0;
      transfer.behind = before;
      transfer.ends_average = i == ranks_ - 1 && call_.request.op == ReduceOp::kAverage;
      before = static_cast<int>(call_.transfers.size()) - 1;
    }
  }

  Call& call_;
  const Rank rank_;
  const int ranks_;
};

}  // namespace

std::string_view name_of(CallKind kind) {
  return kNames.at(static_cast<size_t>(kind));
}

std::string describe(const CallRequest& request) {
  std::string peer;
  switch (request.kind) {
    case CallKind::kSend:
      peer = fmt::format(" to rank {}", request.peer);
      break;
    case CallKind::kRecv:
      peer = fmt::format(" from rank {}", request.peer);
      break;
    case CallKind::kBroadcast:
    case CallKind::kReduce:
    case CallKind::kGather:
    case CallKind::kScatter:
      peer = fmt::format(" with root {}", request.peer);
      break;
    default:
      break;
  }
  return fmt::format("{} of {} {}{}", request.where, request.count, name_of(request.element), peer);
}

std::unique_ptr<Call> plan_call(const CallRequest& request, Rank rank, int ranks) {
  auto call = std::make_unique<Call>();
  call->request = request;
  Planner(*call, rank, ranks).plan();
  return call;
}

}  // namespace anygin::comm
