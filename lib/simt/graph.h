// SPDX-License-Identifier: Apache-2.0
// Graphs: operations of streams with what each depends on, run any number of times. Host threads.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <variant>
#include <vector>

#include "anygin/simt/stream.h"

namespace anygin::simt {

// A launch that can happen again: the first grid owns the arguments, which lanes only read.
struct KernelNode {
  std::shared_ptr<Grid> pattern;
};
struct EmptyNode {};
using NodeWork = std::variant<EmptyNode, KernelNode, HostOperation, WaitOperation, std::shared_ptr<EventState>>;

enum class NodeType : int {
  kKernel = 0,
  kMemcpy = 1,
  kMemset = 2,
  kHost = 3,
  kGraph = 4,
  kEmpty = 5,
  kWait = 6,
  kRecord = 7
};

struct GraphNode {
  int device = 0;
  std::vector<size_t> after;  // indices of earlier nodes
  NodeWork work;
  NodeType type() const;
};

// A grid to be repeated: checked against the device's limits as a launch is. Takes the kernel's arguments in any case.
// Returns a cudaError_t.
int make_grid(const LaunchShape& shape, const BoundKernel& kernel, int device, std::shared_ptr<Grid>* grid);

// Nodes in an order in which each comes after all that it depends on.
struct GraphBody {
  std::vector<GraphNode> nodes;

  size_t add(int device, std::vector<size_t> after, NodeWork work);
  // A copy of `child`, behind `after`. The nodes that nothing in the child depends on.
  std::vector<size_t> add(const GraphBody& child, const std::vector<size_t>& after);
};

// A graph that is ready to run. Its nodes run in branches, each a stream: a node continues the branch of one that it
// depends on, so that independent nodes may run at the same time.
class GraphExec {
 public:
  explicit GraphExec(std::shared_ptr<const GraphBody> body);
  ~GraphExec();
  GraphExec(const GraphExec&) = delete;
  GraphExec& operator=(const GraphExec&) = delete;

  const GraphBody& body() const { return *body_; }
  // Queues all of it on `stream`, behind its last run. Returns a cudaError_t.
  int launch(Stream& stream);
  // Runs behind the last run of `earlier`, whose place it takes.
  void follow(GraphExec& earlier);

 private:
  void plan();
  Stream& stream_of(size_t branch, Stream& launched_on);

  const std::shared_ptr<const GraphBody> body_;
  std::vector<size_t> branch_of_;  // by node
  std::vector<int> device_of_;     // by branch; branch 0 runs on the stream that is launched on if the device fits
  std::mutex mutex_;
  std::vector<std::shared_ptr<Stream>> streams_;  // by branch, made when first needed
  std::shared_ptr<Stream> last_stream_;           // of the last run
  uint64_t last_ticket_ = 0;
};

}  // namespace anygin::simt
