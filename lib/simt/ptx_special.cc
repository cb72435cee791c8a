// SPDX-License-Identifier: Apache-2.0
// The special registers of PTX.
#include "anygin/simt/ptx_run.h"

namespace anygin::simt {
namespace {

constexpr unsigned kMultiprocessors = 16;

uint64_t lane_mask(PtxRegister which) {
  const unsigned lane = anygin_linear_thread % 32;
  const uint32_t equal = 1u << lane;
  switch (which) {
    case PtxRegister::kLaneMaskEqual:
      return equal;
    case PtxRegister::kLaneMaskLess:
      return equal - 1;
    case PtxRegister::kLaneMaskLessEqual:
      return equal | (equal - 1);
    case PtxRegister::kLaneMaskGreater:
      return ~(equal | (equal - 1));
    default:
      return ~(equal - 1);
  }
}

// Kernels poll it.
uint64_t polled_clock() {
  if (anygin_lane_active()) tick();
  return anygin_clock_ns();
}

unsigned component(const Index3& index, unsigned which) {
  return which == 0 ? index.x : which == 1 ? index.y : index.z;
}

}  // namespace

uint64_t special_register(const PtxOperand& operand) {
  const Index3& block = anygin_block_dim;
  switch (operand.special) {
    case PtxRegister::kThread:
      return component(anygin_thread_idx, operand.component);
    case PtxRegister::kBlockSize:
      return component(anygin_block_dim, operand.component);
    case PtxRegister::kBlock:
      return component(anygin_block_idx, operand.component);
    case PtxRegister::kGridSize:
      return component(anygin_grid_dim, operand.component);
    case PtxRegister::kLane:
      return anygin_linear_thread % 32;
    case PtxRegister::kWarp:
      return anygin_linear_thread / 32;
    case PtxRegister::kWarpCount:
      return (block.x * block.y * block.z + 31) / 32;
    case PtxRegister::kMultiprocessor:
      return (anygin_block_idx.x + anygin_grid_dim.x * (anygin_block_idx.y + anygin_grid_dim.y * anygin_block_idx.z)) %
             kMultiprocessors;
    case PtxRegister::kMultiprocessorCount:
      return kMultiprocessors;
    case PtxRegister::kNanoseconds:
      return polled_clock();
    case PtxRegister::kNanosecondsHigh:
      return polled_clock() >> 32;
    case PtxRegister::kDynamicSharedBytes:
      return anygin_shared_dynamic_bytes();
    case PtxRegister::kZero:
      return 0;
    case PtxRegister::kOne:
      return 1;
    default:
      return lane_mask(operand.special);
  }
}

}  // namespace anygin::simt
