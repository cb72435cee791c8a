// SPDX-License-Identifier: Apache-2.0
#include "anygin/comm/window.h"

#include <algorithm>

#include "anygin/base/kernel_side.h"
#include "anygin/base/order.h"
#include "anygin/base/world.h"
#include "anygin/comm/communicator.h"
#include "anygin/comm/host_queue.h"
#include "anygin/comm/wire_bytes.h"

namespace anygin::comm {
namespace {

constexpr const char* kWhere = "window registration";

}  // namespace

WindowSet::WindowSet(Communicator& communicator)
    : communicator_(communicator), multicast_(communicator), table_(communicator) {}

WindowSet::~WindowSet() {
  clear();
}

// --- Registration ----------------------------------------------------------------------------------------------------
Result<std::unique_ptr<Window>> WindowSet::agree_on(const WindowRequest& request) {
  DeviceHeap::Hold memory = world().heap.hold(request.base);
  const WindowOffer mine = offer_window(request, last_id_);
  Result<std::vector<Gift>> gifts = communicator_.plane().all_gather(kWhere, Gift{pack(mine), -1});
  if (!gifts.ok()) return gifts.status();
  std::vector<WindowOffer> offers;
  for (const Gift& gift : *gifts) offers.push_back(unpack(gift.bytes));
  ANYGIN_TRY(compare(offers, communicator_.rank()));

  auto window = std::make_unique<Window>();
  window->communicator = &communicator_;
  window->id = WindowId(++last_id_);
  window->request = request;
  window->memory = std::move(memory);
  window->host_memory = has_host_memory(offers);
  window->several_segments =
      std::any_of(offers.begin(), offers.end(), [](const WindowOffer& offer) { return offer.pieces.size() > 1; });
  const Layout& layout = communicator_.layout();
  for (Rank rank = 0; rank < layout.size; ++rank) {
    const WindowOffer& offer = offers[static_cast<size_t>(rank)];
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
  if (good.ok() && request.listed) good = table_.list(request.base, request.bytes, window.view);
  const Status told = tell_engines(window);
  if (good.ok()) good = told;
  const Status all_good = communicator_.agree("window registration: done", good);
  {
    const std::lock_guard lock(mutex_);
    windows_[window.id.value] = std::move(*agreed);
  }
  if (!all_good.ok()) {
    (void)end(window);
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
  return end(*window);
}

Status WindowSet::end(Window& window) {
  window.live = false;
  multicast_.remove(window);
  Status told;
  if (window.view != nullptr) {
    publish(&window.host_view().communicator, uint64_t{0});
    publish(&window.host_view().live, uint64_t{0});
    told = window.block.publish();
    if (window.request.listed) {
      ProcessState::get().remove_window(window.view);
      table_.unlist(window.view);
    }
  }
  if (window.in_backend) communicator_.backend()->deregister_window(window.id);
  window.in_backend = false;
  if (window.in_host_queue) communicator_.host_queue()->deregister_window(window.id);
  window.in_host_queue = false;
  window.memory = {};
  return told;
}

void WindowSet::clear() {
  for (const auto& [id, window] : windows_) {
    if (window->live && window->request.listed) ProcessState::get().remove_window(window->view);
  }
  multicast_.clear();
  windows_.clear();
  table_.clear();
}

}  // namespace anygin::comm
