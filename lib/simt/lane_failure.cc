// SPDX-License-Identifier: Apache-2.0
#include "anygin/simt/lane_failure.h"

#include <fmt/format.h>

#include "anygin/simt/device.h"
#include "anygin/simt/lane_runner.h"

namespace anygin::simt {

// The first reason stays: the trap that follows only ends the lane.
extern "C" void anygin_fail_grid(int cuda_error, const char* what) {
  const Block& block = runner_of_caller("a failure").block();
  const Grid& grid = *block.grid;
  poison_device(
      grid.device.device, cuda_error,
      fmt::format("kernel {} (grid {}): {}: {}", grid.name(), grid.id, lane_text(block, block.current), what));
  anygin_trap(what);
}

}  // namespace anygin::simt
