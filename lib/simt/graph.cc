// SPDX-License-Identifier: Apache-2.0
#include "anygin/simt/graph.h"

#include "anygin/base/mutant.h"
#include "anygin/simt/device_table.h"

namespace anygin::simt {
namespace {

// Runs the arguments of a pattern, and keeps it while the grid runs.
struct Repeat {
  std::shared_ptr<Grid> pattern;
};

BoundKernel repeated(const std::shared_ptr<Grid>& pattern) {
  BoundKernel kernel;
  kernel.run_lanes = [](void* repeat) {
    const BoundKernel& first = static_cast<Repeat*>(repeat)->pattern->kernel;
    first.run_lanes(first.arguments);
  };
  kernel.arguments = new Repeat{pattern};
  kernel.destroy = [](void* repeat) { delete static_cast<Repeat*>(repeat); };
  kernel.function = pattern->kernel.function;
  return kernel;
}

struct OperationOf {
  StreamOperation operator()(const EmptyNode&) const {
    return HostOperation{[] { return 0; }};
  }
  StreamOperation operator()(const KernelNode& node) const {
    const Grid& pattern = *node.pattern;
    return LaunchOperation{std::make_unique<Grid>(pattern.shape, repeated(node.pattern), pattern.device)};
  }
  StreamOperation operator()(const HostOperation& host) const { return host; }
  StreamOperation operator()(const WaitOperation& wait) const { return wait; }
  StreamOperation operator()(const std::shared_ptr<EventState>& event) const {
    return RecordOperation{event, event->recorded.fetch_add(1, std::memory_order_acq_rel) + 1};
  }
};

void wait_for(Stream& stream, const std::shared_ptr<Stream>& other, uint64_t ticket) {
  if (other.get() == &stream || other->reached(ticket)) return;
  stream.enqueue(WaitOperation{[other, ticket] { return other->reached(ticket); }, "an earlier node of a graph"});
}

}  // namespace

NodeType GraphNode::type() const {
  if (std::holds_alternative<KernelNode>(work)) return NodeType::kKernel;
  if (std::holds_alternative<HostOperation>(work)) return NodeType::kHost;
  if (std::holds_alternative<WaitOperation>(work)) return NodeType::kWait;
  if (std::holds_alternative<std::shared_ptr<EventState>>(work)) return NodeType::kRecord;
  return NodeType::kEmpty;
}

size_t GraphBody::add(int device, std::vector<size_t> after, NodeWork work) {
  nodes.push_back({device, std::move(after), std::move(work)});
  return nodes.size() - 1;
}

std::vector<size_t> GraphBody::add(const GraphBody& child, const std::vector<size_t>& after) {
  const size_t first = nodes.size();
  std::vector<bool> followed(child.nodes.size());
  for (const GraphNode& node : child.nodes) {
    GraphNode copy = node;
    for (size_t& earlier : copy.after) {
      followed[earlier] = true;
      earlier += first;
    }
    if (copy.after.empty()) copy.after = after;
    nodes.push_back(std::move(copy));
  }
  std::vector<size_t> last;
  for (size_t i = 0; i < child.nodes.size(); ++i) {
    if (!followed[i]) last.push_back(first + i);
  }
  return last.empty() ? after : last;
}

GraphExec::GraphExec(std::shared_ptr<const GraphBody> body) : body_(std::move(body)) {
  plan();
}

GraphExec::~GraphExec() {
  for (const std::shared_ptr<Stream>& stream : streams_) {
    if (stream) device_table().destroy(stream.get());
  }
}

void GraphExec::plan() {
  std::vector<size_t> end_of_branch;  // its last node so far
  for (size_t i = 0; i < body_->nodes.size(); ++i) {
    const GraphNode& node = body_->nodes[i];
    size_t branch = device_of_.size();
    for (size_t earlier : node.after) {
      const size_t candidate = branch_of_[earlier];
      if (end_of_branch[candidate] == earlier && device_of_[candidate] == node.device) branch = candidate;
    }
    if (branch == device_of_.size()) {
      device_of_.push_back(node.device);
      end_of_branch.push_back(i);
    }
    end_of_branch[branch] = i;
    branch_of_.push_back(branch);
  }
  streams_.resize(device_of_.size());
}

Stream& GraphExec::stream_of(size_t branch, Stream& launched_on) {
  if (branch == 0 && device_of_[0] == launched_on.device()) return launched_on;
  std::shared_ptr<Stream>& stream = streams_[branch];
  if (!stream) stream = device_table().create(device_of_[branch], Stream::Kind::kNonBlocking);
  return *stream;
}

void GraphExec::follow(GraphExec& earlier) {
  const std::lock_guard lock(earlier.mutex_);
  last_stream_ = earlier.last_stream_;
  last_ticket_ = earlier.last_ticket_;
}

int GraphExec::launch(Stream& launched_on) {
  for (int device : device_of_) {
    if (const int error = device_error(device)) return error;
  }
  const std::lock_guard lock(mutex_);
  // Takes its place behind what the stream waits for, as any operation does.
  const auto start = std::make_shared<EventState>();
  const uint64_t begin = device_table().enqueue(launched_on, RecordOperation{start, 1});
  const std::shared_ptr<Stream> main = launched_on.shared_from_this();
  if (last_stream_) wait_for(launched_on, last_stream_, last_ticket_);
  std::vector<uint64_t> ticket_of;  // by node
  std::vector<bool> begun(device_of_.size());
  for (size_t i = 0; i < body_->nodes.size(); ++i) {
    const GraphNode& node = body_->nodes[i];
    Stream& stream = stream_of(branch_of_[i], launched_on);
    if (!begun[branch_of_[i]]) {
      if (last_stream_) wait_for(stream, last_stream_, last_ticket_);
      wait_for(stream, main, begin);
    }
    begun[branch_of_[i]] = true;
    for (size_t earlier : node.after) {
      if (branch_of_[earlier] == branch_of_[i] || MUTANT(graph_branches_do_not_wait)) continue;
      wait_for(stream, stream_of(branch_of_[earlier], launched_on).shared_from_this(), ticket_of[earlier]);
    }
    ticket_of.push_back(stream.enqueue(std::visit(OperationOf{}, node.work)));
  }
  for (size_t branch = 0; branch < device_of_.size(); ++branch) {
    const std::shared_ptr<Stream> stream = stream_of(branch, launched_on).shared_from_this();
    wait_for(launched_on, stream, stream->ticket());
  }
  last_stream_ = main;
  last_ticket_ = main->ticket();
  return 0;
}

}  // namespace anygin::simt
