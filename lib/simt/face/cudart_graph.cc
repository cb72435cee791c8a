// SPDX-License-Identifier: Apache-2.0
// libcudart: stream capture and graphs. A node's handle is its number in its graph, from 1.
#include "anygin/simt/graph_table.h"
#include "anygin/simt/grid.h"
#include "entry.h"
#include "transfer.h"

using namespace anygin::simt;
using namespace anygin::simt::face;

namespace {

cudaGraph_t handle_of(std::shared_ptr<GraphBody> body) {
  return static_cast<cudaGraph_t>(add_graph(std::move(body)));
}
cudaGraphNode_t node_handle(size_t index) {
  return reinterpret_cast<cudaGraphNode_t>(index + 1);
}

// The indices behind `nodes`; false if one is no node of the graph.
bool indices_of(const GraphBody& body, const cudaGraphNode_t* nodes, size_t count, std::vector<size_t>* indices) {
  if (count > 0 && nodes == nullptr) return false;
  for (size_t i = 0; i < count; ++i) {
    const auto number = reinterpret_cast<uintptr_t>(nodes[i]);
    if (number == 0 || number > body.nodes.size()) return false;
    indices->push_back(number - 1);
  }
  return true;
}

// Adds a node with `work` behind `dependencies`.
cudaError_t add_node(cudaGraphNode_t* node, cudaGraph_t handle, const cudaGraphNode_t* dependencies, size_t count,
                     NodeWork work) {
  Graph* graph = resolve_graph(handle);
  std::vector<size_t> after;
  if (node == nullptr || graph == nullptr || !indices_of(*graph->body, dependencies, count, &after)) {
    return answer(cudaErrorInvalidValue);
  }
  *node = node_handle(graph->body->add(current_device(), std::move(after), std::move(work)));
  return cudaSuccess;
}

cudaError_t instantiate(cudaGraphExec_t* exec, cudaGraph_t handle) {
  Graph* graph = resolve_graph(handle);
  if (exec == nullptr || graph == nullptr) return answer(cudaErrorInvalidValue);
  *exec = static_cast<cudaGraphExec_t>(add_graph_exec(std::make_shared<GraphBody>(*graph->body)));
  return cudaSuccess;
}

}  // namespace

// --- Capture ---------------------------------------------------------------------------------------------------------
cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode mode) {
  return on_stream(handle, [&](Stream* stream) -> int {
    if (mode < cudaStreamCaptureModeGlobal || mode > cudaStreamCaptureModeRelaxed) return cudaErrorInvalidValue;
    return begin_capture(stream, static_cast<CaptureMode>(mode));
  });
}
cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* graph) {
  return on_stream(handle, [&](Stream* stream) -> int {
    if (graph == nullptr) return cudaErrorInvalidValue;
    std::shared_ptr<GraphBody> body;
    const int error = end_capture(stream, &body);
    *graph = error == cudaSuccess ? handle_of(std::move(body)) : nullptr;
    return error;
  });
}
cudaError_t cudaStreamIsCapturing(cudaStream_t handle, cudaStreamCaptureStatus* status) {
  return cudaStreamGetCaptureInfo(handle, status, nullptr, nullptr, nullptr, nullptr, nullptr);
}
// The graph is handed out when the capture ends, not before: `graph` and `dependencies` are null.
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t handle, cudaStreamCaptureStatus* status, unsigned long long* id,
                                     cudaGraph_t* graph, const cudaGraphNode_t** dependencies,
                                     const cudaGraphEdgeData** edges, size_t* count) {
  return on_stream(handle, [&](Stream* stream) -> int {
    if (status == nullptr) return cudaErrorInvalidValue;
    uint64_t number = 0;
    *status = static_cast<cudaStreamCaptureStatus>(capture_status(stream, &number));
    if (id != nullptr) *id = number;
    if (graph != nullptr) *graph = nullptr;
    if (dependencies != nullptr) *dependencies = nullptr;
    if (edges != nullptr) *edges = nullptr;
    if (count != nullptr) *count = 0;
    return cudaSuccess;
  });
}
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  if (mode == nullptr || *mode < cudaStreamCaptureModeGlobal || *mode > cudaStreamCaptureModeRelaxed) {
    return answer(cudaErrorInvalidValue);
  }
  *mode = static_cast<cudaStreamCaptureMode>(exchange_capture_mode(*mode));
  return cudaSuccess;
}

// --- Graphs ----------------------------------------------------------------------------------------------------------
cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned flags) {
  if (graph == nullptr || flags != 0) return answer(cudaErrorInvalidValue);
  *graph = handle_of(std::make_shared<GraphBody>());
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return answer(remove_graph(graph) ? cudaSuccess : cudaErrorInvalidValue);
}
cudaError_t cudaGraphClone(cudaGraph_t* copy, cudaGraph_t original) {
  Graph* graph = resolve_graph(original);
  if (copy == nullptr || graph == nullptr) return answer(cudaErrorInvalidValue);
  *copy = handle_of(std::make_shared<GraphBody>(*graph->body));
  return cudaSuccess;
}
cudaError_t cudaGraphGetNodes(cudaGraph_t handle, cudaGraphNode_t* nodes, size_t* count) {
  Graph* graph = resolve_graph(handle);
  if (graph == nullptr || count == nullptr) return answer(cudaErrorInvalidValue);
  const size_t there = graph->body->nodes.size();
  for (size_t i = 0; nodes != nullptr && i < *count; ++i) nodes[i] = i < there ? node_handle(i) : nullptr;
  if (nodes == nullptr || *count > there) *count = there;
  return cudaSuccess;
}
cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                  size_t count) {
  return add_node(node, graph, dependencies, count, EmptyNode{});
}
cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                 size_t count, const cudaHostNodeParams* parameters) {
  if (parameters == nullptr || parameters->fn == nullptr) return answer(cudaErrorInvalidValue);
  const cudaHostNodeParams call = *parameters;
  return add_node(node, graph, dependencies, count, HostOperation{[call] {
                    call.fn(call.userData);
                    return 0;
                  }});
}
cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                   size_t count, const cudaKernelNodeParams* parameters) {
  if (parameters == nullptr || parameters->extra != nullptr) return answer(cudaErrorInvalidValue);
  const KernelRecord* kernel = anygin_find_kernel(parameters->func);
  if (kernel == nullptr) return answer(cudaErrorInvalidDeviceFunction);
  if (kernel->parameter_count > 0 && parameters->kernelParams == nullptr) return answer(cudaErrorInvalidValue);
  const dim3 grid = parameters->gridDim, block = parameters->blockDim;
  LaunchShape shape{{grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, parameters->sharedMemBytes, nullptr, false};
  std::shared_ptr<Grid> pattern;
  const int error = make_grid(shape, kernel->bind(parameters->kernelParams), current_device(), &pattern);
  return error != cudaSuccess ? answer(error)
                              : add_node(node, graph, dependencies, count, KernelNode{std::move(pattern)});
}
cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                     size_t count, void* destination, const void* source, size_t bytes,
                                     cudaMemcpyKind kind) {
  const Rows to = line(destination, bytes), from = line(source, bytes);
  if (const int error = check_copy(to, from, kind)) return answer(error);
  return add_node(node, graph, dependencies, count, HostOperation{[to, from] {
                    copy_rows(to, from);
                    return 0;
                  }});
}
cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t handle, const cudaGraphNode_t* dependencies,
                                       size_t count, cudaGraph_t child_handle) {
  Graph* graph = resolve_graph(handle);
  Graph* child = resolve_graph(child_handle);
  std::vector<size_t> after;
  if (node == nullptr || graph == nullptr || child == nullptr || graph == child ||
      !indices_of(*graph->body, dependencies, count, &after)) {
    return answer(cudaErrorInvalidValue);
  }
  std::vector<size_t> last = graph->body->add(*child->body, after);
  *node = node_handle(graph->body->add(current_device(), std::move(last), EmptyNode{}));
  return cudaSuccess;
}

// --- Running them ----------------------------------------------------------------------------------------------------
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long flags) {
  return (flags & cudaGraphInstantiateFlagDeviceLaunch) != 0 ? not_supported() : instantiate(exec, graph);
}
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long flags) {
  return cudaGraphInstantiate(exec, graph, flags);
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  return answer(remove_graph_exec(exec) ? cudaSuccess : cudaErrorInvalidValue);
}
// Nothing is uploaded: the exec is ready.
cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t) {
  return answer(resolve_graph_exec(exec) != nullptr ? cudaSuccess : cudaErrorInvalidValue);
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t handle, cudaStream_t stream_handle) {
  return on_stream(stream_handle, [&](Stream* stream) -> int {
    const std::shared_ptr<GraphExec> exec = resolve_graph_exec(handle);
    if (exec == nullptr) return cudaErrorInvalidValue;
    if (const std::shared_ptr<Capture> capture = stream->capture()) {
      capture->add(*stream, exec->body());
      return cudaSuccess;
    }
    return exec->launch(*stream);
  });
}
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t handle, cudaGraphExecUpdateResultInfo* info) {
  Graph* graph = resolve_graph(handle);
  if (graph == nullptr || resolve_graph_exec(exec) == nullptr) return answer(cudaErrorInvalidValue);
  const bool done = update_graph_exec(exec, *graph->body);
  if (info != nullptr) {
    *info = cudaGraphExecUpdateResultInfo{};
    info->result = done ? cudaGraphExecUpdateSuccess : cudaGraphExecUpdateErrorTopologyChanged;
  }
  return answer(done ? cudaSuccess : cudaErrorGraphExecUpdateFailure);
}
