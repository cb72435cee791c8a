// SPDX-License-Identifier: Apache-2.0
#include "anygin/simt/graph_table.h"

#include <map>
#include <mutex>

namespace anygin::simt {
namespace {

struct Table {
  std::mutex mutex;
  std::map<void*, std::unique_ptr<Graph>> graphs;            // by handle: looked up, never walked
  std::map<void*, std::shared_ptr<GraphExec>> execs;         // by handle
  std::map<void*, std::unique_ptr<char>> exec_handle_bytes;  // what handles of execs point to
};

// Never destroyed: graphs may run while the process exits.
Table& table() {
  static Table& one = *new Table;
  return one;
}

thread_local int this_threads_mode = 0;

bool same_shape(const GraphBody& a, const GraphBody& b) {
  if (a.nodes.size() != b.nodes.size()) return false;
  for (size_t i = 0; i < a.nodes.size(); ++i) {
    const GraphNode &x = a.nodes[i], &y = b.nodes[i];
    if (x.type() != y.type() || x.after != y.after || x.device != y.device) return false;
  }
  return true;
}

}  // namespace

Graph* resolve_graph(void* handle) {
  const std::lock_guard lock(table().mutex);
  const auto found = table().graphs.find(handle);
  return found == table().graphs.end() ? nullptr : found->second.get();
}

std::shared_ptr<GraphExec> resolve_graph_exec(void* handle) {
  const std::lock_guard lock(table().mutex);
  const auto found = table().execs.find(handle);
  return found == table().execs.end() ? nullptr : found->second;
}

void* add_graph(std::shared_ptr<GraphBody> body) {
  auto graph = std::make_unique<Graph>(Graph{std::move(body)});
  const std::lock_guard lock(table().mutex);
  void* handle = graph.get();
  table().graphs[handle] = std::move(graph);
  return handle;
}

void* add_graph_exec(std::shared_ptr<const GraphBody> body) {
  auto exec = std::make_shared<GraphExec>(std::move(body));
  auto place = std::make_unique<char>();
  const std::lock_guard lock(table().mutex);
  void* handle = place.get();
  table().exec_handle_bytes[handle] = std::move(place);
  table().execs[handle] = std::move(exec);
  return handle;
}

bool remove_graph(void* handle) {
  std::unique_ptr<Graph> removed;  // destroyed outside the lock: it owns arguments of kernels
  const std::lock_guard lock(table().mutex);
  const auto found = table().graphs.find(handle);
  if (found == table().graphs.end()) return false;
  removed = std::move(found->second);
  table().graphs.erase(found);
  return true;
}

bool remove_graph_exec(void* handle) {
  std::shared_ptr<GraphExec> removed;
  const std::lock_guard lock(table().mutex);
  const auto found = table().execs.find(handle);
  if (found == table().execs.end()) return false;
  removed = std::move(found->second);
  table().execs.erase(found);
  table().exec_handle_bytes.erase(handle);
  return true;
}

bool update_graph_exec(void* handle, const GraphBody& body) {
  const std::shared_ptr<GraphExec> exec = resolve_graph_exec(handle);
  if (!exec || !same_shape(exec->body(), body)) return false;
  auto fresh = std::make_shared<GraphExec>(std::make_shared<GraphBody>(body));
  const std::lock_guard lock(table().mutex);
  fresh->follow(*exec);
  table().execs[handle] = std::move(fresh);
  return true;
}

int exchange_capture_mode(int mode) {
  const int before = this_threads_mode;
  this_threads_mode = mode;
  return before;
}

}  // namespace anygin::simt
