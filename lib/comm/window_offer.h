// SPDX-License-Identifier: Apache-2.0
// What ranks tell each other when they register a window together (contract 2.7, 2.8.5), and what must fit.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "anygin/base/heap.h"
#include "anygin/base/ids.h"
#include "anygin/base/status.h"

namespace anygin::comm {

constexpr uint32_t kWindowsMax = 65535;  // of a communicator, ever: ids are not given twice

struct WindowRequest {
  char* base = nullptr;
  uint64_t bytes = 0;
  int flags = 0;
  bool listed = true;  // found by address in kernels and by its view in host functions; the library's own are not
};

// Physical memory that a window spans, in order. Memory that does not come from the driver API is none.
struct WindowPiece {
  uint64_t bytes = 0;
  bool host = false;
  bool operator==(const WindowPiece&) const = default;
};

// What one rank brings to the registration.
struct WindowOffer {
  uint32_t ordinal = 0;  // how many windows it registered before
  int flags = 0;
  uint64_t bytes = 0;
  uint64_t heap_offset = 0;
  DeviceHeap::Extent extent;  // what a peer's kernels must reach
  std::vector<WindowPiece> pieces;
  Cause cause = Cause::kNone;
  std::string text;
};

// Looks whether `request` can be a window of this process; the offer says so to all ranks. `ordinal` windows came
// before.
WindowOffer offer_window(const WindowRequest& request, uint32_t ordinal);

std::string pack(const WindowOffer& offer);
WindowOffer unpack(const std::string& bytes);

// Of the offers of all ranks, by rank. The same verdict on all of them, but for the words of the rank whose own
// argument is wrong.
Status compare(const std::vector<WindowOffer>& offers, Rank own);
bool has_host_memory(const std::vector<WindowOffer>& offers);

}  // namespace anygin::comm
