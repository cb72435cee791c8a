// SPDX-License-Identifier: Apache-2.0
// The words of device_runtime.h that say which lane runs, under the names that a debugger's user types: this file is
// always compiled with debug information, and the library's own names are aliases, as debuggers go by a linkage name
// where there is one. The switch of lanes writes them.
namespace anygin::simt {

struct LaneWord {
  unsigned x, y, z;
};

}  // namespace anygin::simt

// Not in the namespace: debuggers would want its name typed.
extern "C" {
#define ANYGIN_LANE_WORD(name, alias_name)                                                \
  extern __thread anygin::simt::LaneWord name __attribute__((tls_model("initial-exec"))); \
  __thread anygin::simt::LaneWord name;                                                   \
  extern __thread anygin::simt::LaneWord alias_name __attribute__((alias(#name), tls_model("initial-exec")))

ANYGIN_LANE_WORD(threadIdx, anygin_thread_idx);
ANYGIN_LANE_WORD(blockIdx, anygin_block_idx);
ANYGIN_LANE_WORD(blockDim, anygin_block_dim);
ANYGIN_LANE_WORD(gridDim, anygin_grid_dim);
#undef ANYGIN_LANE_WORD
}
