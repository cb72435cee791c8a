// SPDX-License-Identifier: Apache-2.0
#include "exchange_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <tuple>

namespace anygin::testing {

using comm::Call;
using comm::Lane;
using comm::Transfer;

struct ExchangeModel::Node {
  Node(const comm::ExchangeShape& shape, Rank rank_in)
      : rank(rank_in),
        memory(shape.bytes()),
        core(shape, rank_in, memory.data()),
        arrived(shape.pairs()),
        returned(shape.pairs()) {}
  const Rank rank;
  std::vector<char> memory;
  comm::ExchangeCore core;
  std::vector<uint64_t> arrived, returned;
  struct Given {
    std::unique_ptr<Call> call;
    int group = 0;
  };
  std::vector<Given> calls;
  int group = 0;
};

namespace {
bool is_done(const Call& call) {
  return std::all_of(call.transfers.begin(), call.transfers.end(), [](const Transfer& one) { return one.done; });
}
}  // namespace

class ExchangeModel::Port final : public comm::ExchangePort {
 public:
  Port(ExchangeModel& model, const Node& node) : model_(model), node_(node) {}
  bool may_put(Lane, Rank peer) const override { return has_room(peer); }
  bool may_give_back(Lane, Rank peer) const override { return has_room(peer); }
  uint64_t arrived(Lane lane, Rank peer) const override { return node_.arrived[model_.shape_.pair(lane, peer)]; }
  uint64_t returned(Lane lane, Rank peer) const override { return node_.returned[model_.shape_.pair(lane, peer)]; }
  void put(Lane lane, Rank peer, uint64_t index, uint64_t bytes) override {
    model_.wire(node_.rank, peer).push_back({true, lane, index, bytes});
  }
  void give_back(Lane lane, Rank peer) override { model_.wire(node_.rank, peer).push_back({false, lane, 0, 0}); }

 private:
  static constexpr size_t kRoom = 6;
  bool has_room(Rank peer) const { return model_.wire(node_.rank, peer).size() < kRoom; }
  ExchangeModel& model_;
  const Node& node_;
};

ExchangeModel::ExchangeModel(int ranks, uint32_t payload, uint64_t seed)
    : shape_{static_cast<uint32_t>(ranks), payload}, choices_(seed) {
  for (Rank rank = 0; rank < ranks; ++rank) nodes_.push_back(std::make_unique<Node>(shape_, rank));
  wires_.resize(nodes_.size() * nodes_.size());
}

ExchangeModel::~ExchangeModel() = default;

void ExchangeModel::give(Rank rank, const comm::CallRequest& request) {
  nodes_.at(static_cast<size_t>(rank))
      ->calls.push_back(
          {plan_call(request, rank, static_cast<int>(nodes_.size())), nodes_.at(static_cast<size_t>(rank))->group});
}

void ExchangeModel::next_group(Rank rank) {
  ++nodes_.at(static_cast<size_t>(rank))->group;
}

// The first transfer of each lane, peer and direction that is not done.
void ExchangeModel::add_steps(Node& node, std::vector<Move>& out) {
  std::set<std::tuple<Lane, Rank, bool>> seen;
  const Port port(*this, node);
  size_t first = 0;
  while (first < node.calls.size() && is_done(*node.calls[first].call)) ++first;
  const int group = first < node.calls.size() ? node.calls[first].group : 0;
  for (size_t c = first; c < node.calls.size(); ++c) {
    const Call& call = *node.calls[c].call;
    if (node.calls[c].group != group) break;
    for (size_t t = 0; t < call.transfers.size(); ++t) {
      const Transfer& transfer = call.transfers[t];
      if (transfer.done || !seen.insert({call.lane(), transfer.peer, transfer.sends}).second) continue;
      if (node.core.can_step(call, transfer, port)) out.push_back({&node, c, t, -1, -1});
    }
  }
}

std::vector<ExchangeModel::Move> ExchangeModel::moves() {
  std::vector<Move> out;
  const auto ranks = static_cast<Rank>(nodes_.size());
  for (const auto& node : nodes_) add_steps(*node, out);
  for (Rank from = 0; from < ranks; ++from) {
    for (Rank to = 0; to < ranks; ++to) {
      if (!wire(from, to).empty()) out.push_back({nullptr, 0, 0, from, to});
    }
  }
  return out;
}

// The source is read as late as can be: now.
void ExchangeModel::deliver(Rank from, Rank to) {
  const Message message = wire(from, to).front();
  wire(from, to).pop_front();
  Node& source = *nodes_[static_cast<size_t>(from)];
  Node& target = *nodes_[static_cast<size_t>(to)];
  if (message.is_slot) {
    std::memcpy(target.memory.data() + shape_.inbox(message.lane, from, message.index),
                source.memory.data() + shape_.outbox(message.lane, to, message.index), message.bytes);
    ++target.arrived[shape_.pair(message.lane, from)];
  } else {
    ++target.returned[shape_.pair(message.lane, from)];
  }
}

bool ExchangeModel::run() {
  while (error_.ok()) {
    const std::vector<Move> all = moves();
    if (all.empty()) return pending().empty();
    const Move& move = all[choices_.pick_below(ChoiceKind::kEngineOrder, all.size())];
    if (move.from >= 0) {
      deliver(move.from, move.to);
    } else {
      Port port(*this, *move.node);
      Call& call = *move.node->calls[move.call].call;
      error_ = move.node->core.step(call, call.transfers[move.transfer], port);
    }
  }
  return false;
}

std::vector<std::string> ExchangeModel::pending() const {
  std::vector<std::string> out;
  for (const auto& node : nodes_) {
    for (const Node::Given& given : node->calls) {
      if (!is_done(*given.call)) out.push_back(fmt::format("rank {}: {}", node->rank, describe(given.call->request)));
    }
  }
  return out;
}

}  // namespace anygin::testing
