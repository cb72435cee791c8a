// SPDX-License-Identifier: Apache-2.0
// A launch: checked against the device's limits, then queued on its stream.
#include <fmt/format.h>

#include "anygin/base/host_threads.h"
#include "anygin/base/log.h"
#include "anygin/simt/capture.h"
#include "anygin/simt/cuda_error.h"
#include "anygin/simt/device_table.h"
#include "anygin/simt/device_variables.h"
#include "anygin/simt/graph.h"
#include "anygin/simt/lane_runner.h"

namespace anygin::simt {

namespace {

struct Refusal {
  int error = kCudaSuccess;
  std::string why;
};

bool within(Index3 size, Index3 most) {
  return size.x >= 1 && size.y >= 1 && size.z >= 1 && size.x <= most.x && size.y <= most.y && size.z <= most.z;
}

Refusal check_shape(const LaunchShape& shape, const DeviceProperties& limits) {
  const auto threads = uint64_t{shape.block.x} * shape.block.y * shape.block.z;
  const auto most = static_cast<unsigned>(limits.threads_per_block);
  if (!within(shape.grid, {0x7fffffff, 65535, 65535})) {
    return {kCudaInvalidConfiguration,
            fmt::format("a grid of ({},{},{}) blocks; 1 to (2147483647,65535,65535) are possible", shape.grid.x,
                        shape.grid.y, shape.grid.z)};
  }
  if (!within(shape.block, {most, most, 64}) || threads > most) {
    return {kCudaInvalidConfiguration,
            fmt::format("a block of ({},{},{}) threads; at most (1024,1024,64) and {} together", shape.block.x,
                        shape.block.y, shape.block.z, most)};
  }
  if (shape.dynamic_shared_bytes > limits.shared_bytes_optin) {
    return {kCudaInvalidValue, fmt::format("{} bytes of dynamic shared memory; at most {}", shape.dynamic_shared_bytes,
                                           limits.shared_bytes_optin)};
  }
  return {};
}

Refusal check_residency(const LaunchShape& shape, const BoundKernel& kernel, const DeviceLoad& device) {
  const auto threads = shape.block.x * shape.block.y * shape.block.z;
  const KernelRecord* record = kernel.function ? anygin_find_kernel(kernel.function) : nullptr;
  if (record && record->max_threads_per_block > 0 && threads > static_cast<unsigned>(record->max_threads_per_block)) {
    return {kCudaLaunchOutOfResources, fmt::format("a block of {} threads; __launch_bounds__ of {} says at most {}",
                                                   threads, record->name, record->max_threads_per_block)};
  }
  const uint64_t blocks = uint64_t{shape.grid.x} * shape.grid.y * shape.grid.z;
  if (shape.cooperative && (blocks > device.blocks_max || blocks * threads > device.lanes_max)) {
    return {kCudaCooperativeLaunchTooLarge,
            fmt::format("a cooperative grid of {} blocks of {} threads; the device holds {} blocks and {} threads",
                        blocks, threads, device.blocks_max, device.lanes_max)};
  }
  return {};
}

Refusal check(const LaunchShape& shape, const BoundKernel& kernel, const Stream* stream) {
  if (current_runner) return {kCudaNotSupported, "a launch from a kernel"};
  if (!stream) return {kCudaInvalidResourceHandle, "a stream that is not alive"};
  if (const int error = refuse_legacy_while_capturing(stream)) {
    return {error, "a launch on the default stream, which would wait for a stream that captures"};
  }
  if (const int error = device_error(stream->device())) {
    return {error, fmt::format("device {}, which is lost", stream->device())};
  }
  Refusal refusal = check_shape(shape, DeviceProperties{});
  if (!refusal.error) refusal = check_residency(shape, kernel, stream->load());
  if (!refusal.error) refusal.error = prepare_device_variables(stream->device(), true, &refusal.why);
  return refusal;
}

}  // namespace

int make_grid(const LaunchShape& shape, const BoundKernel& kernel, int device, std::shared_ptr<Grid>* grid) {
  DeviceLoad& load = device_table().load(device);
  *grid = std::make_shared<Grid>(shape, kernel, load);
  Refusal refusal = check_shape(shape, DeviceProperties{});
  if (!refusal.error) refusal = check_residency(shape, kernel, load);
  if (!refusal.error) refusal.error = prepare_device_variables(device, true, &refusal.why);
  if (refusal.error) log(LogLevel::kWarn, "kernel node refused (cudaError {}): {}", refusal.error, refusal.why);
  return refusal.error;
}

extern "C" int anygin_launch(const LaunchShape* shape, const BoundKernel* kernel) {
  const ApiCall call("a kernel launch");
  Stream* stream = current_runner ? nullptr : resolve_stream(shape->stream);
  const Refusal refusal = check(*shape, *kernel, stream);
  if (refusal.error) {
    if (kernel->destroy) kernel->destroy(kernel->arguments);
    log(LogLevel::kWarn, "launch refused (cudaError {}): {}", refusal.error, refusal.why);
    return set_last_error(refusal.error);
  }
  device_table().enqueue(*stream, LaunchOperation{std::make_unique<Grid>(*shape, *kernel, stream->load())});
  return kCudaSuccess;
}

}  // namespace anygin::simt
