// SPDX-License-Identifier: Apache-2.0
// make_cudaExtent and its kin: boxes of memory. C99 and C++, host and device.
#pragma once

#include "driver_types.h"

// Rows begin `p` bytes apart; rows of `xsz` bytes, planes of `ysz` rows.
static inline struct cudaPitchedPtr make_cudaPitchedPtr(void* d, size_t p, size_t xsz, size_t ysz) {
  struct cudaPitchedPtr memory = {d, p, xsz, ysz};
  return memory;
}
static inline struct cudaPos make_cudaPos(size_t x, size_t y, size_t z) {
  struct cudaPos place = {x, y, z};
  return place;
}
static inline struct cudaExtent make_cudaExtent(size_t w, size_t h, size_t d) {
  struct cudaExtent extent = {w, h, d};
  return extent;
}
