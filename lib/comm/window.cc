// SPDX-License-Identifier: Apache-2.0
#include "anygin/comm/window.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "anygin/base/kernel_side.h"
#include "anygin/base/options.h"
#include "anygin/base/order.h"
#include "anygin/base/world.h"
#include "anygin/comm/communicator.h"
#include "anygin/comm/host_queue.h"
#include "anygin/comm/wire_bytes.h"
#include "anygin/simt/virtual_memory.h"

namespace anygin::comm {
namespace {

constexpr const char* kWhere = "window registration";
constexpr uint16_t kIdMax = 65535;

// Physical memory that a window spans, in order. Memory that does not come from the driver API is none.
struct Piece {
  uint64_t bytes = 0;
  bool host = false;
};
bool operator==(const Piece& a, const Piece& b) {
  return a.bytes == b.bytes && a.host == b.host;
}

// What one rank brings to the registration.
struct Offer {
  uint32_t ordinal = 0;  // how many windows it registered before
  int flags = 0;
  uint64_t bytes = 0;
  uint64_t heap_offset = 0;
  DeviceHeap::Extent extent;  // what a peer's kernels must reach
  std::vector<Piece> pieces;
  Cause cause = Cause::kNone;
  std::string text;
};

std::string pack(const Offer& offer) {
  ByteWriter out;
  out.number(offer.ordinal).number(offer.flags).number(offer.bytes).number(offer.heap_offset);
  out.number(offer.extent.offset).number(offer.extent.bytes).number(static_cast<uint8_t>(offer.cause));
  out.number(static_cast<uint32_t>(offer.pieces.size()));
  for (const Piece& piece : offer.pieces) out.number(piece.bytes).number(static_cast<uint8_t>(piece.host));
  return out.text(offer.text).take();
}

Offer unpack(const std::string& bytes) {
  ByteReader in(bytes);
  Offer offer;
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

bool has_host_memory(const std::vector<Offer>& offers) {
  return std::any_of(offers.begin(), offers.end(), [](const Offer& offer) {
    return std::any_of(offer.pieces.begin(), offer.pieces.end(), [](const Piece& piece) { return piece.host; });
  });
}

std::string text_of(const std::vector<Piece>& pieces) {
  std::string text;
  for (const Piece& piece : pieces) {
    if (!text.empty()) text += ", ";
    text += fmt::format("{} bytes of {} memory", piece.bytes, piece.host ? "host" : "device");
  }
  return text.empty() ? "one allocation" : text;
}

// With host memory on any rank a transfer is cut where the pieces are, on both sides: they must be the same everywhere.
Status compare_pieces(const std::vector<Offer>& offers) {
  if (!has_host_memory(offers)) return Status();
  const Offer& first = offers.front();
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

// The same verdict on all ranks, but for the words of the rank whose own argument is wrong.
Status compare(const std::vector<Offer>& offers, Rank own) {
  for (size_t rank = 0; rank < offers.size(); ++rank) {
    const Offer& offer = offers[rank];
    if (offer.cause == Cause::kNone) continue;
    return Status(offer.cause, kWhere,
                  static_cast<Rank>(rank) == own ? offer.text : fmt::format("rank {}: {}", rank, offer.text));
  }
  const Offer& first = offers.front();
  for (size_t rank = 1; rank < offers.size(); ++rank) {
    const Offer& other = offers[rank];
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
Status check_mapped(const WindowRequest& request, std::vector<Piece>* pieces) {
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

// Memory that kernels reach, zero-filled.
template <typename T>
Result<T*> allocate_for_kernels(size_t bytes, int device) {
  Result<char*> memory = world().heap.allocate(bytes, device);
  if (!memory.ok()) return memory.status();
  std::memset(*memory, 0, bytes);
  return reinterpret_cast<T*>(*memory);
}

void free_for_kernels(void* memory) {
  const Status freed = world().heap.free(memory);
  ANYGIN_ASSERT(freed.ok());
}

}  // namespace

WindowSet::WindowSet(Communicator& communicator) : communicator_(communicator), multicast_(communicator) {}

WindowSet::~WindowSet() {
  clear();
}

// --- Registration ----------------------------------------------------------------------------------------------------
Status WindowSet::check(const WindowRequest& request, uint64_t* heap_offset) const {
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

Result<std::unique_ptr<Window>> WindowSet::agree_on(const WindowRequest& request) {
  Offer mine;
  mine.ordinal = last_id_;
  mine.flags = request.flags;
  mine.bytes = request.bytes;
  Status good = check(request, &mine.heap_offset);
  if (good.ok() && simt::virtual_memory().reserved(request.base)) good = check_mapped(request, &mine.pieces);
  if (good.ok()) mine.extent = world().heap.extent_of(request.base);
  if (good.ok() && last_id_ == kIdMax) {
    good = Status(Cause::kWindowFull, kWhere, fmt::format("{} windows were registered; no more ids are left", kIdMax));
  }
  mine.cause = good.cause();
  mine.text = good.text();
  Result<std::vector<Gift>> gifts = communicator_.plane().all_gather(kWhere, Gift{pack(mine), -1});
  if (!gifts.ok()) return gifts.status();
  std::vector<Offer> offers;
  for (const Gift& gift : *gifts) offers.push_back(unpack(gift.bytes));
  ANYGIN_TRY(compare(offers, communicator_.rank()));

  auto window = std::make_unique<Window>();
  window->communicator = &communicator_;
  window->id = WindowId(++last_id_);
  window->request = request;
  window->host_memory = has_host_memory(offers);
  window->several_segments =
      std::any_of(offers.begin(), offers.end(), [](const Offer& offer) { return offer.pieces.size() > 1; });
  const Layout& layout = communicator_.layout();
  for (Rank rank = 0; rank < layout.size; ++rank) {
    const Offer& offer = offers[static_cast<size_t>(rank)];
    window->sizes.push_back(offer.bytes);
    if (layout.lsa_team(rank) == layout.lsa_team(communicator_.rank())) {
      window->lsa_bases.push_back(communicator_.map(rank, offer.heap_offset));
      window->near_extents.push_back(offer.extent);
    }
  }
  return window;
}

Result<Window*> WindowSet::add(const WindowRequest& request) {
  Result<std::unique_ptr<Window>> agreed = agree_on(request);
  if (!agreed.ok()) return agreed.status();
  Window& window = **agreed;
  multicast_.add(window);
  Status good = reach_near(window);
  if (good.ok()) good = build_view(window);
  if (good.ok() && request.listed) good = list(window);
  const Status told = tell_engines(window);
  if (good.ok()) good = told;
  const Status all_good = communicator_.agree("window registration: done", good);
  {
    const std::lock_guard lock(mutex_);
    windows_[window.id.value] = std::move(*agreed);
  }
  if (!all_good.ok()) {
    multicast_.remove(window);
    if (window.view != nullptr) (void)remove(window.view);
    return all_good;
  }
  if (request.listed) ProcessState::get().add_window(window.view, window);
  return &window;
}

// Collective: every rank calls it, whatever happened to it before.
Status WindowSet::tell_engines(Window& window) {
  const WindowRequest& request = window.request;
  const bool strict = (request.flags & NCCL_WIN_STRICT_ORDERING) != 0;
  Status told;
  if (Backend* backend = communicator_.backend()) {
    told = backend->register_window(window.id, request.base, request.bytes, strict);
    window.in_backend = told.ok();
  }
  HostQueue* queue = communicator_.host_queue();
  if (queue == nullptr || !request.listed) return told;
  const Status queue_told = queue->register_window(window.id, request.base, request.bytes, strict);
  window.in_host_queue = queue_told.ok();
  return told.ok() ? queue_told : told;
}

// Kernels of this rank store into the windows of their LSA team, which other processes own.
Status WindowSet::reach_near(const Window& window) {
  const Layout& layout = communicator_.layout();
  const Rank first = layout.lsa_team(communicator_.rank()) * layout.lsa_size;
  for (size_t i = 0; i < window.near_extents.size(); ++i) {
    const Rank rank = first + static_cast<Rank>(i);
    if (communicator_.plane().is_local(rank) || window.lsa_bases[i] == nullptr) continue;
    const DeviceHeap::Extent& extent = window.near_extents[i];
    ANYGIN_TRY(kernel_side().reach(communicator_.map(rank, extent.offset), extent.bytes));
  }
  return Status();
}

// One block: the view, the sizes, then the arrays that the view points to.
Status WindowSet::build_view(Window& window) {
  const Layout& layout = communicator_.layout();
  const auto ranks = static_cast<size_t>(layout.size), near = static_cast<size_t>(layout.lsa_size);
  const size_t bytes = sizeof(ncclWindow_vidmem) + ranks * sizeof(uint64_t) + 2 * near * sizeof(void*);
  Result<NearBlock> block = NearBlock::create(bytes, communicator_.device());
  if (!block.ok()) return block.status();
  window.block = std::move(*block);
  ncclWindow_vidmem& out = window.host_view();
  auto* sizes = reinterpret_cast<uint64_t*>(&out + 1);
  auto** bases = reinterpret_cast<char**>(sizes + ranks);
  auto** wake_words = reinterpret_cast<void**>(bases + near);
  const auto for_kernels = [&](auto* in_block) {
    return reinterpret_cast<decltype(in_block)>(window.block.kernel() +
                                                (reinterpret_cast<char*>(in_block) - window.block.host()));
  };
  std::copy(window.sizes.begin(), window.sizes.end(), sizes);
  std::copy(window.lsa_bases.begin(), window.lsa_bases.end(), bases);
  const Rank first = layout.lsa_team(communicator_.rank()) * layout.lsa_size;
  const bool rings = kernel_side().calls_us();
  for (size_t i = 0; i < near; ++i) {
    wake_words[i] = rings ? communicator_.wake_word(first + static_cast<Rank>(i)) : nullptr;
  }
  out.communicator = communicator_.identity();
  out.id = window.id;
  out.flags = static_cast<uint16_t>((window.request.flags & ~kAnyginWindowHostMemory) |
                                    (window.host_memory ? kAnyginWindowHostMemory : 0));
  out.rank = communicator_.rank();
  out.nRanks = layout.size;
  out.lsaRank = layout.lsa_rank(communicator_.rank());
  out.lsaSize = layout.lsa_size;
  out.userPointer = window.request.base;
  out.lsaBases = for_kernels(bases);
  out.lsaWakeWords = rings ? for_kernels(wake_words) : nullptr;
  out.mcOffset4K = window.mc_place;
  publish(&out.live, kAnyginWindowLive);
  ANYGIN_TRY(window.block.publish());
  window.view = for_kernels(&out);
  return Status();
}

Status WindowSet::tell_backend() {
  std::vector<uint16_t> mine;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [id, window] : windows_) {
      if (window->live) mine.push_back(id);
    }
  }
  ByteWriter out;
  for (const uint16_t id : mine) out.number(id);
  Result<std::vector<Gift>> gifts = communicator_.plane().all_gather("windows there are", Gift{out.take(), -1});
  if (!gifts.ok()) return gifts.status();
  // Deregistering is local: only what every rank still has can be used.
  std::map<uint16_t, size_t> holders;
  for (const Gift& gift : *gifts) {
    for (ByteReader in(gift.bytes); !in.at_end() && in.ok();) ++holders[in.number<uint16_t>()];
  }
  for (const auto& [id, count] : holders) {
    if (count != gifts->size()) continue;
    Window& window = *windows_.at(id);
    const bool strict = (window.request.flags & NCCL_WIN_STRICT_ORDERING) != 0;
    ANYGIN_TRY(communicator_.backend()->register_window(window.id, window.request.base, window.request.bytes, strict));
    window.in_backend = true;
  }
  return Status();
}

// --- The end of a window ---------------------------------------------------------------------------------------------
Window* WindowSet::find(const ncclWindow_vidmem* view) const {
  const std::lock_guard lock(mutex_);
  // The newest first: dead ones stay, and programs that register and deregister again and again ask for the last one.
  for (auto at = windows_.rbegin(); at != windows_.rend(); ++at) {
    Window& window = *at->second;
    if (window.live && window.view == view) return &window;
  }
  return nullptr;
}

Window* WindowSet::find(const void* address, int flags) const {
  const auto* at = static_cast<const char*>(address);
  const std::lock_guard lock(mutex_);
  for (const auto& [id, window] : windows_) {
    const WindowRequest& request = window->request;
    if (window->live && request.listed && (request.flags & flags) == flags && at >= request.base &&
        at < request.base + request.bytes) {
      return window.get();
    }
  }
  return nullptr;
}

std::vector<const void*> WindowSet::views() const {
  const std::lock_guard lock(mutex_);
  std::vector<const void*> all;
  for (const auto& [id, window] : windows_) all.push_back(window->view);
  return all;
}

Status WindowSet::remove(const ncclWindow_vidmem* view) {
  Window* window = find(view);
  if (window == nullptr) {
    return Status(Cause::kWindowUnknown, "window",
                  "it is not a window of this communicator, or was deregistered before");
  }
  window->live = false;
  multicast_.remove(*window);
  publish(&window->host_view().communicator, uint64_t{0});
  publish(&window->host_view().live, uint64_t{0});
  const Status told = window->block.publish();
  if (window->request.listed) {
    ProcessState::get().remove_window(view);
    unlist(*window);
  }
  if (window->in_backend) communicator_.backend()->deregister_window(window->id);
  window->in_backend = false;
  if (window->in_host_queue) communicator_.host_queue()->deregister_window(window->id);
  window->in_host_queue = false;
  return told;
}

void WindowSet::clear() {
  for (const auto& [id, window] : windows_) {
    if (window->live && window->request.listed) ProcessState::get().remove_window(window->view);
  }
  multicast_.clear();
  windows_.clear();
  while (table_ != nullptr) {
    ncclDevCommWindowTable* next = table_->next;
    free_for_kernels(table_);
    table_ = next;
  }
}

// --- Search by address -----------------------------------------------------------------------------------------------
Result<ncclDevCommWindowTable*> WindowSet::table() {
  const std::lock_guard lock(mutex_);
  if (table_ == nullptr) {
    Result<ncclDevCommWindowTable*> first =
        allocate_for_kernels<ncclDevCommWindowTable>(sizeof(ncclDevCommWindowTable), communicator_.device());
    if (!first.ok()) return first;
    table_ = *first;
  }
  return table_;
}

Status WindowSet::list(Window& window) {
  Result<ncclDevCommWindowTable*> first = table();
  if (!first.ok()) return first.status();
  const std::lock_guard lock(mutex_);
  ncclDevCommWindowTable** link = &table_;
  for (; *link != nullptr; link = &(*link)->next) {
    for (auto& entry : (*link)->entries) {
      if (entry.window != nullptr) continue;
      entry.base = reinterpret_cast<uintptr_t>(window.request.base);
      entry.size = window.request.bytes;
      publish(&entry.window, window.view);
      return Status();
    }
  }
  Result<ncclDevCommWindowTable*> more =
      allocate_for_kernels<ncclDevCommWindowTable>(sizeof(ncclDevCommWindowTable), communicator_.device());
  if (!more.ok()) return more.status();
  (*more)->entries[0] = {reinterpret_cast<uintptr_t>(window.request.base), window.request.bytes, window.view};
  publish(link, *more);
  return Status();
}

void WindowSet::unlist(const Window& window) {
  const std::lock_guard lock(mutex_);
  for (ncclDevCommWindowTable* table = table_; table != nullptr; table = table->next) {
    for (auto& entry : table->entries) {
      if (entry.window == window.view) publish(&entry.window, static_cast<ncclWindow_vidmem*>(nullptr));
    }
  }
}

}  // namespace anygin::comm
