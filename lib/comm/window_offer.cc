// SPDX-License-Identifier: Apache-2.0
#include "anygin/comm/window_offer.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "anygin/base/assert.h"
#include "anygin/base/kernel_side.h"
#include "anygin/base/options.h"
#include "anygin/base/world.h"
#include "anygin/comm/wire_bytes.h"
#include "anygin/simt/virtual_memory.h"
#include "nccl_device/core.h"

namespace anygin::comm {
namespace {

constexpr const char* kWhere = "window registration";

std::string text_of(const std::vector<WindowPiece>& pieces) {
  std::string text;
  for (const WindowPiece& piece : pieces) {
    if (!text.empty()) text += ", ";
    text += fmt::format("{} bytes of {} memory", piece.bytes, piece.host ? "host" : "device");
  }
  return text.empty() ? "one allocation" : text;
}

// With host memory on any rank a transfer is cut where the pieces are, on both sides: they must be the same everywhere.
Status compare_pieces(const std::vector<WindowOffer>& offers) {
  if (!has_host_memory(offers)) return Status();
  const WindowOffer& first = offers.front();
  for (size_t rank = 1; rank < offers.size(); ++rank) {
    if (offers[rank].pieces == first.pieces) continue;
    return Status(
        Cause::kWindowsDiffer, kWhere,
        fmt::format("with host memory in a window its pieces must be the same on all ranks: rank 0 has {}, rank {} "
                    "has {}",
                    text_of(first.pieces), rank, text_of(offers[rank].pieces)));
  }
  return Status();
}

// Memory of the host that belongs to no NUMA node cannot be in a window; none of the host can where that is switched
// off.
Status check_location(const simt::MemorySegment& segment) {
  if (!segment.owner.host) return Status();
  if (!segment.owner.numa) {
    return Status(
        Cause::kWindowMemory, kWhere,
        fmt::format("the memory mapped at {} is the host's at large; memory of a device or of a NUMA node of the "
                    "host (CU_MEM_LOCATION_TYPE_HOST_NUMA) would be right",
                    static_cast<const void*>(segment.base)));
  }
  if (options().nccl_elastic_buffer_register != 0) return Status();
  return Status(Cause::kWindowMemory, kWhere,
                fmt::format("the memory mapped at {} is the host's, and NCCL_ELASTIC_BUFFER_REGISTER is 0",
                            static_cast<const void*>(segment.base)));
}

// Memory of the driver API must lie where peers see it. `pieces`: what the window spans.
Status check_mapped(const WindowRequest& request, std::vector<WindowPiece>* pieces) {
  const auto segments = simt::virtual_memory().segments(request.base, request.bytes);
  if (segments.empty()) {
    return Status(Cause::kWindowMemory, kWhere,
                  fmt::format("not all of the {} bytes at {} are mapped; cuMemMap comes first", request.bytes,
                              static_cast<const void*>(request.base)));
  }
  for (const simt::MemorySegment& segment : segments) {
    ANYGIN_TRY(check_location(segment));
    pieces->push_back({segment.bytes, segment.owner.host});
    if (segment.at_home) continue;
    return Status(
        Cause::kWindowMemory, kWhere,
        fmt::format("the memory mapped at {} is mapped twice, or was exported before it was mapped: peers cannot "
                    "reach it; memory that is mapped once and exported afterwards would be right",
                    static_cast<const void*>(segment.base)));
  }
  return Status();
}

Status check_allocation(const WindowRequest& request, uint64_t* heap_offset) {
  const auto bad = [&](std::string text) { return Status(Cause::kWindowMemory, kWhere, std::move(text)); };
  const DeviceHeap& heap = world().heap;
  const std::optional<Allocation> allocation = heap.find(request.base);
  if (!allocation && !kernel_side().calls_us()) {
    return bad(
        fmt::format("the buffer {} is not memory of ncclMemAlloc, which would be right: here windows lie in host "
                    "memory that kernels and the engine map; the engine calls no CUDA function, so that it cannot "
                    "read memory of cudaMalloc",
                    static_cast<const void*>(request.base)));
  }
  if (!allocation) {
    return bad(fmt::format("the buffer {} is not device memory of this process; memory of ncclMemAlloc would be right",
                           static_cast<const void*>(request.base)));
  }
  const auto into = static_cast<uint64_t>(request.base - allocation->base);
  if (into % NCCL_WIN_REQUIRED_ALIGNMENT != 0) {
    return bad(fmt::format("the buffer lies {} bytes into its allocation; a multiple of {} would be right", into,
                           NCCL_WIN_REQUIRED_ALIGNMENT));
  }
  if (into + request.bytes > allocation->bytes) {
    return bad(fmt::format("{} bytes from byte {} of an allocation of {} bytes reach beyond its end", request.bytes,
                           into, allocation->bytes));
  }
  const std::optional<MemName> name = world().memory.name_of(request.base);
  ANYGIN_ASSERT(name && name->heap == heap.id());
  *heap_offset = name->offset;
  return Status();
}

}  // namespace

WindowOffer offer_window(const WindowRequest& request, uint32_t ordinal) {
  WindowOffer offer;
  offer.ordinal = ordinal;
  offer.flags = request.flags;
  offer.bytes = request.bytes;
  Status good = check_allocation(request, &offer.heap_offset);
  if (good.ok() && simt::virtual_memory().reserved(request.base)) good = check_mapped(request, &offer.pieces);
  if (good.ok()) offer.extent = world().heap.extent_of(request.base);
  if (good.ok() && ordinal == kWindowsMax) {
    good = Status(Cause::kWindowFull, kWhere, fmt::format("{} windows were registered; no more ids are left", ordinal));
  }
  offer.cause = good.cause();
  offer.text = good.text();
  return offer;
}

std::string pack(const WindowOffer& offer) {
  ByteWriter out;
  out.number(offer.ordinal).number(offer.flags).number(offer.bytes).number(offer.heap_offset);
  out.number(offer.extent.offset).number(offer.extent.bytes).number(static_cast<uint8_t>(offer.cause));
  out.number(static_cast<uint32_t>(offer.pieces.size()));
  for (const WindowPiece& piece : offer.pieces) out.number(piece.bytes).number(static_cast<uint8_t>(piece.host));
  return out.text(offer.text).take();
}

WindowOffer unpack(const std::string& bytes) {
  ByteReader in(bytes);
  WindowOffer offer;
  offer.ordinal = in.number<uint32_t>();
  offer.flags = in.number<int>();
  offer.bytes = in.number<uint64_t>();
  offer.heap_offset = in.number<uint64_t>();
  offer.extent.offset = in.number<uint64_t>();
  offer.extent.bytes = in.number<uint64_t>();
  offer.cause = cause_of_number(in.number<uint8_t>());
  for (uint32_t left = in.number<uint32_t>(); left > 0 && in.ok(); --left) {
    const auto piece_bytes = in.number<uint64_t>();
    offer.pieces.push_back({piece_bytes, in.number<uint8_t>() != 0});
  }
  offer.text = in.text();
  return offer;
}

bool has_host_memory(const std::vector<WindowOffer>& offers) {
  return std::any_of(offers.begin(), offers.end(), [](const WindowOffer& offer) {
    return std::any_of(offer.pieces.begin(), offer.pieces.end(), [](const WindowPiece& piece) { return piece.host; });
  });
}

// The same verdict on all ranks, but for the words of the rank whose own argument is wrong.
Status compare(const std::vector<WindowOffer>& offers, Rank own) {
  for (size_t rank = 0; rank < offers.size(); ++rank) {
    const WindowOffer& offer = offers[rank];
    if (offer.cause == Cause::kNone) continue;
    return Status(offer.cause, kWhere,
                  static_cast<Rank>(rank) == own ? offer.text : fmt::format("rank {}: {}", rank, offer.text));
  }
  const WindowOffer& first = offers.front();
  for (size_t rank = 1; rank < offers.size(); ++rank) {
    const WindowOffer& other = offers[rank];
    if (other.ordinal != first.ordinal) {
      return Status(Cause::kWindowsDiffer, kWhere,
                    fmt::format("ranks register different numbers of windows: rank 0 has registered {}, rank {} has {}",
                                first.ordinal, rank, other.ordinal));
    }
    if (other.flags != first.flags) {
      return Status(Cause::kWindowsDiffer, kWhere,
                    fmt::format("the flags of window {} differ (or the order of the calls does): rank 0 gives {:#x}, "
                                "rank {} gives {:#x}",
                                first.ordinal, first.flags, rank, other.flags));
    }
  }
  return compare_pieces(offers);
}

}  // namespace anygin::comm
