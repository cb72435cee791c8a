// SPDX-License-Identifier: Apache-2.0
// Handles of graphs and of graphs that are ready to run. Any host thread; one thread at a time changes one graph.
#pragma once

#include <memory>

#include "anygin/simt/graph.h"

namespace anygin::simt {

struct Graph {
  std::shared_ptr<GraphBody> body;
};

// `handle` is a cudaGraph_t, cudaGraphExec_t. Null if it is not live.
Graph* resolve_graph(void* handle);
std::shared_ptr<GraphExec> resolve_graph_exec(void* handle);
void* add_graph(std::shared_ptr<GraphBody> body);
void* add_graph_exec(std::shared_ptr<const GraphBody> body);
// False if it is not live. Runs that are queued still complete.
bool remove_graph(void* handle);
bool remove_graph_exec(void* handle);
// Another graph of the same nodes in place of it. False, and nothing changes, if they differ.
bool update_graph_exec(void* handle, const GraphBody& body);
// The calling thread's; returns the one before. It changes nothing here: no call is refused for another thread's
// capture.
int exchange_capture_mode(int mode);

}  // namespace anygin::simt
