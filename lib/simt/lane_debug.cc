// SPDX-License-Identifier: Apache-2.0
// What tools/gdb/anygin.gdb asks of a stopped process.
#include <fmt/format.h>

#include <string>

#include "anygin/simt/grid.h"
#include "anygin/simt/lane_machine.h"
#include "anygin/simt/lane_report.h"

namespace anygin::simt {
namespace {

std::string triple(const Index3& index) {
  return fmt::format("{},{},{}", index.x, index.y, index.z);
}

// Started lanes that have not exited and wait for nothing: on a worker's stack now, or about to be.
std::string running_lanes(const Block& block, const std::vector<LaneState>& waiting) {
  std::vector<bool> waits(block.lanes, false);
  for (const LaneState& lane : waiting) waits[lane.lane] = true;
  std::string lines;
  for (uint32_t lane = 0; lane < block.started && lane < block.lanes; ++lane) {
    if (waits[lane] || block.has_exited(lane) || lane != block.current) continue;
    lines += fmt::format("{}\t{}\t{}\t{}\t{}\t-\truns\n", block.grid->device.device, block.grid->id, block.grid->name(),
                         triple(block.index), triple(block.grid->thread_of(lane)));
  }
  return lines;
}

void add_block(const Block& block, std::string& text) {
  const std::vector<LaneState> waiting = describe_lanes(block, SourceLines::kNo);
  text += running_lanes(block, waiting);
  for (const LaneState& lane : waiting) {
    const FiberContext& context = block.contexts[lane.lane];
    text += fmt::format(
        "{}\t{}\t{}\t{}\t{}\trip={:#x} rsp={:#x} rbx={:#x} rbp={:#x} r12={:#x} r13={:#x} r14={:#x} "
        "r15={:#x}\t{}\n",
        block.grid->device.device, block.grid->id, block.grid->name(), triple(block.index),
        triple(block.grid->thread_of(lane.lane)), reinterpret_cast<uintptr_t>(context.pc),
        reinterpret_cast<uintptr_t>(context.sp), context.rbx, context.rbp, context.r12, context.r13, context.r14,
        context.r15, lane.what);
  }
}

}  // namespace

// A line a lane: device, grid, kernel, block, thread, registers (name=value; "-" for the lane that runs), what it waits
// for; tabs between. Called by a debugger while every other thread stands still; takes no lock. The text lives until
// the next call.
extern "C" const char* anygin_debug_lanes() {
  static std::string text;
  text.clear();
  for (const LaneScheduler* scheduler : lane_machine().schedulers()) {
    scheduler->visit_blocks_stopped([](const Block& block) { add_block(block, text); });
  }
  return text.c_str();
}

}  // namespace anygin::simt
