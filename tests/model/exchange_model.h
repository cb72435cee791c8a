// SPDX-License-Identifier: Apache-2.0
// Ranks that exchange data by ExchangeCore over a network of lists: what is put is read and arrives when a seed says
// so, pair by pair in order.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "anygin/base/choices_seeded.h"
#include "anygin/comm/exchange_core.h"

namespace anygin::testing {

class ExchangeModel {
 public:
  ExchangeModel(int ranks, uint32_t payload, uint64_t seed);
  ~ExchangeModel();

  // Behind what the rank was given before, in the same group unless next_group() came between. The request's memory
  // outlives the run.
  void give(Rank rank, const comm::CallRequest& request);
  // What the rank is given from now on begins when everything before is done.
  void next_group(Rank rank);
  // Runs until nothing can move or a rank met an error. True if all calls are done.
  bool run();
  // The first error of a rank.
  const Status& error() const { return error_; }
  // Calls that are not done: "rank 1: ncclRecv of 4 int32 from rank 0".
  std::vector<std::string> pending() const;

 private:
  struct Node;
  class Port;
  struct Message {
    bool is_slot = false;  // or one given back
    comm::Lane lane{};
    uint64_t index = 0, bytes = 0;
  };
  struct Move {
    Node* node = nullptr;
    size_t call = 0, transfer = 0;
    Rank from = -1, to = -1;  // a delivery, if from >= 0
  };
  std::vector<Move> moves();
  void add_steps(Node& node, std::vector<Move>& out);
  void deliver(Rank from, Rank to);
  std::deque<Message>& wire(Rank from, Rank to) {
    return wires_[static_cast<size_t>(from) * nodes_.size() + static_cast<size_t>(to)];
  }

  const comm::ExchangeShape shape_;
  SeededChoices choices_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::vector<std::deque<Message>> wires_;  // from a rank to a rank
  Status error_;
};

}  // namespace anygin::testing
