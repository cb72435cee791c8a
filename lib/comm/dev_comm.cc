// SPDX-License-Identifier: Apache-2.0
#include "anygin/comm/dev_comm.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "anygin/base/kernel_side.h"
#include "anygin/base/mutant.h"
#include "anygin/base/options.h"
#include "anygin/base/order.h"
#include "anygin/base/world.h"
#include "anygin/comm/communicator.h"
#include "anygin/comm/window.h"
#include "anygin/comm/wire_bytes.h"
#include "anygin/simt/device.h"

namespace anygin::comm {
namespace {

constexpr const char* kWhere = "device communicator creation";
constexpr unsigned char kProxyDevice = 2;  // NCCL_NET_DEVICE_GIN_PROXY

// floor((2^32-1)/x) + (x is a power of two), truncated: 1 -> 0 means "divide by one" (contract 1.4).
uint32_t reciprocal(uint32_t x) {
  return 0xffffffffu / x + ((x & (x - 1)) == 0 ? 1 : 0);
}

void free_on_heap(void* memory) {
  if (memory == nullptr) return;
  const Status freed = world().heap.free(memory);
  ANYGIN_ASSERT(freed.ok());
}

anyginDevCommView* view_in(char* block) {
  return reinterpret_cast<anyginDevCommView*>(block);
}

// The signals of the library's own barriers.
struct ReservedSignals {
  uint32_t first = 0, end = 0;
};

// The view, the word contextReported, the words `connected`.
Result<NearBlock> make_view(Communicator& communicator, const DevCommWish& wish, ReservedSignals reserved) {
  const Rank ranks = communicator.size();
  const size_t words = 1 + static_cast<size_t>(ranks + 31) / 32;
  Result<NearBlock> block =
      NearBlock::create(sizeof(anyginDevCommView) + words * sizeof(uint32_t), communicator.device());
  if (!block.ok()) return block;
  anyginDevCommView* view = view_in(block->host());
  view->vaSignals = wish.wants_gin() && wish.asked.ginVaSignalsRequired;
  view->misuseSink = communicator.misuse_sink();
  view->reservedSignal0 = reserved.first;
  view->reservedSignalEnd = reserved.end;
  view->contextReported = reinterpret_cast<uint32_t*>(view_in(block->kernel()) + 1);
  if (wish.custom) {
    view->connected = view->contextReported + 1;
    auto* connected = reinterpret_cast<uint32_t*>(view + 1) + 1;
    for (Rank peer = 0; peer < ranks; ++peer) {
      if (wish.connects(communicator.rank(), peer)) connected[peer / 32] |= uint32_t{1} << (peer % 32);
    }
  }
  publish(&view->communicator, communicator.identity());
  ANYGIN_TRY(block->publish());
  return block;
}

}  // namespace

uint64_t* DevCommSet::shadows_of(const Entry& entry, const ResourceLayout& layout) {
  char* place = entry.shadows.kernel() != nullptr ? entry.shadows.kernel() : entry.resources + layout.shadows_offset;
  return reinterpret_cast<uint64_t*>(place);
}

DevCommSet::DevCommSet(Communicator& communicator) : communicator_(communicator) {}

DevCommSet::~DevCommSet() {
  clear();
}

// --- Creation --------------------------------------------------------------------------------------------------------
Status DevCommSet::create(const DevCommWish& wish, ncclDevComm* out) {
  ANYGIN_TRY(agree_on(wish));
  if (wish.wants_gin()) {
    Result<Backend*> backend = communicator_.activate_gin();
    if (!backend.ok()) return backend.status();
  }
  Entry entry;
  ResourceLayout layout;
  uint32_t contexts = 0;
  Status made = open(wish, entry, layout, contexts);
  if (made.ok()) made = fill(wish, entry, layout, contexts, out);
  if (made.ok()) made = open_multicast(wish, out);
  made = communicator_.agree("device communicator creation: done", made);
  if (!made.ok()) {
    release(entry);
    return made;
  }
  for (size_t i = 0; i < wish.user_nodes.size(); ++i) {
    const UserNode& node = wish.user_nodes[i];
    const ResourcePlace& place = layout.places[DevCommWish::kOwnNodes + i];
    if (node.out_handle != nullptr) *node.out_handle = place.handle;
    if (node.out_signals != nullptr) *node.out_signals = place.first_signal;
    if (node.out_counters != nullptr) *node.out_counters = place.first_counter;
  }
  const std::lock_guard lock(mutex_);
  entries_[++last_ordinal_] = std::move(entry);
  return Status();
}

bool DevCommSet::in_kernels(const Entry& entry) const {
  return simt::kernels_hold(communicator_.device(), {view_in(entry.view.kernel())});
}

// All ranks ask for the same, and what all have destroyed, and no kernel holds, is released.
Status DevCommSet::agree_on(const DevCommWish& wish) {
  const Status mine = check_wish(wish, communicator_);
  ByteWriter out;
  out.number(static_cast<uint8_t>(mine.cause())).text(mine.text()).text(describe(wish));
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [ordinal, entry] : entries_) {
      if (!entry.live && !in_kernels(entry)) out.number(ordinal);
    }
  }
  Result<std::vector<Gift>> gifts = communicator_.plane().all_gather(kWhere, Gift{out.take(), -1});
  if (!gifts.ok()) return gifts.status();
  Status verdict;
  std::string first;
  std::map<uint32_t, size_t> destroyed;
  for (Rank rank = 0; rank < communicator_.size(); ++rank) {
    ByteReader in((*gifts)[static_cast<size_t>(rank)].bytes);
    const Cause cause = cause_of_number(in.number<uint8_t>());
    const std::string text = in.text();
    const std::string asked = in.text();
    if (rank == 0) first = asked;
    if (verdict.ok() && cause != Cause::kNone) {
      verdict = rank == communicator_.rank() ? mine : Status(cause, kWhere, fmt::format("rank {}: {}", rank, text));
    } else if (verdict.ok() && asked != first) {
      verdict =
          Status(Cause::kCallMismatch, kWhere,
                 fmt::format("ranks ask for different things: rank 0 for {}; rank {} for {}", first, rank, asked));
    }
    while (!in.at_end() && in.ok()) ++destroyed[in.number<uint32_t>()];
  }
  const std::lock_guard lock(mutex_);
  for (const auto& [ordinal, count] : destroyed) {
    if (count != gifts->size()) continue;
    release(entries_.at(ordinal));
    entries_.erase(ordinal);
  }
  return verdict;
}

Status DevCommSet::open(const DevCommWish& wish, Entry& entry, ResourceLayout& layout, uint32_t& contexts) {
  const std::vector<ResourceNode> nodes = wish.nodes(communicator_.size(), communicator_.layout().lsa_size);
  const auto plan = [&](uint32_t granted) {
    return plan_resources(nodes, static_cast<uint32_t>(wish.asked.ginSignalCount),
                          static_cast<uint32_t>(wish.asked.ginCounterCount), granted);
  };
  layout = plan(0);
  if (wish.wants_gin()) {
    ANYGIN_TRY(open_contexts(wish, entry, layout, contexts));
    layout = plan(contexts);
  }
  ANYGIN_TRY(open_resources(layout, entry));
  ReservedSignals reserved{static_cast<uint32_t>(wish.asked.ginSignalCount), layout.signals};
  if (nodes.size() > DevCommWish::kOwnNodes) reserved.end = layout.places[DevCommWish::kOwnNodes].first_signal;
  Result<NearBlock> view = make_view(communicator_, wish, reserved);
  if (!view.ok()) return view.status();
  entry.view = std::move(*view);
  if (contexts == 0 || layout.signals == 0 || kernel_side().calls_us()) return Status();
  Result<NearBlock> shadows = NearBlock::create(sizeof(uint64_t) * contexts * layout.signals, communicator_.device());
  if (!shadows.ok()) return shadows.status();
  entry.shadows = std::move(*shadows);
  return Status();
}

Status DevCommSet::open_contexts(const DevCommWish& wish, Entry& entry, ResourceLayout& layout, uint32_t& contexts) {
  Backend& backend = *communicator_.backend();
  const BackendCapabilities can = backend.capabilities();
  const ncclDevCommRequirements& r = wish.asked;
  const auto refuse = [&](std::string text) {
    return Status(Cause::kBackendLimit, "device communicator", fmt::format("backend {}: {}", backend.name(), text));
  };
  if (r.ginStrongSignalsRequired && !can.strong_signals)
    return refuse("no strong signals; ginStrongSignalsRequired=false");
  if (r.ginVaSignalsRequired && !can.va_signals) return refuse("no signals by address; ginVaSignalsRequired=false");
  if (layout.signals > can.signals_max) {
    return refuse(fmt::format("{} signals are needed (the barriers' included), at most {} are possible", layout.signals,
                              can.signals_max));
  }
  if (layout.counters > can.counters_max) {
    return refuse(fmt::format("{} counters are needed, at most {} are possible", layout.counters, can.counters_max));
  }
  ContextRequest request;
  // At least so many, where the backend can (docs/decisions/0014).
  const auto least = static_cast<uint32_t>(options().nccl_gin_contexts_per_comm);
  contexts = std::min(std::max(static_cast<uint32_t>(r.ginContextCount), least), can.contexts_max);
  request.contexts = contexts;
  request.signals = layout.signals;
  request.counters = layout.counters;
  request.depth = static_cast<uint32_t>(r.ginQueueDepth);
  request.traffic_class =
      r.ginTrafficClass == NCCL_CONFIG_UNDEF_INT ? communicator_.traffic_class() : r.ginTrafficClass;
  Result<std::unique_ptr<ContextSet>> made = backend.create_contexts(request);
  if (!made.ok()) return made.status();
  entry.contexts = std::move(*made);
  return Status();
}

Status DevCommSet::open_resources(const ResourceLayout& layout, Entry& entry) {
  if (layout.bytes == 0) return Status();
  Result<char*> memory = world().heap.allocate(layout.bytes, communicator_.device());
  if (memory.ok()) {
    entry.resources = *memory;
    std::memset(*memory, 0, layout.bytes);
  }
  // Collective, so also a rank without memory takes part: with a null buffer, which is refused on all ranks.
  Result<Window*> window = communicator_.windows().add({entry.resources, layout.bytes, NCCL_WIN_DEFAULT, false});
  if (!memory.ok()) return memory.status();
  if (!window.ok()) return window.status();
  entry.window = *window;
  return Status();
}

// Local. Handles of teams are written at once: where creation fails nobody uses them.
Status DevCommSet::open_multicast(const DevCommWish& wish, ncclDevComm* out) {
  Multicast& multicast = communicator_.windows().multicast();
  if (wish.asked.lsaMultimem) {
    Result<char*> space = multicast.lsa_space();
    if (!space.ok()) return space.status();
    out->lsaMultimem.mcBasePtr = *space;
  }
  for (const TeamWish& team : wish.teams) {
    if (team.out_handle == nullptr) continue;
    *team.out_handle = ncclMultimemHandle_t{nullptr};
    if (!team.multicast) continue;
    Result<char*> space = multicast.space(team.team);
    if (!space.ok()) return space.status();
    team.out_handle->mcBasePtr = *space;
  }
  return Status();
}

Status DevCommSet::fill(const DevCommWish& wish, const Entry& entry, const ResourceLayout& layout, uint32_t contexts,
                        ncclDevComm* out) {
  Result<ncclDevCommWindowTable*> table = communicator_.windows().table();
  if (!table.ok()) return table.status();
  const Layout& place = communicator_.layout();
  const auto barrier = [&](size_t node, int count) {
    return gin_barrier_handle(layout.places[node].first_signal, count);
  };
  const auto lsa = [&](size_t node, int count) { return ncclLsaBarrierHandle{layout.places[node].handle, count}; };
  ncclDevComm made{};
  made.magic = NCCL_API_MAGIC;
  made.version = wish.asked.version;
  made.rank = communicator_.rank();
  made.nRanks = place.size;
  made.nRanks_rcp32 = reciprocal(static_cast<uint32_t>(place.size));
  made.lsaRank = place.lsa_rank(made.rank);
  made.lsaSize = place.lsa_size;
  made.lsaSize_rcp32 = reciprocal(static_cast<uint32_t>(place.lsa_size));
  made.windowTable = *table;
  made.resourceWindow = entry.window != nullptr ? entry.window->view : nullptr;
  made.resourceWindow_inlined.view = view_in(entry.view.kernel());
  made.worldGinBarrier = barrier(DevCommWish::kWorldGin, wish.asked.worldGinBarrierCount);
  made.railGinBarrier = barrier(DevCommWish::kRailGin, wish.asked.railGinBarrierCount);
  made.lsaBarrier = lsa(DevCommWish::kLsa, wish.asked.lsaBarrierCount);
  made.hybridWorldGinBarrier = barrier(DevCommWish::kHybridWorldGin, wish.hybrid_world_barriers());
  made.hybridRailGinBarrier = barrier(DevCommWish::kHybridRailGin, wish.asked.barrierCount);
  made.hybridLsaBarrier = lsa(DevCommWish::kHybridLsa, wish.asked.barrierCount);
  made.abortFlag = communicator_.abort_word();
  if (entry.contexts) {
    made.ginConnectionCount = 1;
    made.ginNetDeviceTypes[0] = kProxyDevice;
    made.ginHandles[0] = entry.contexts->handle();
    made.ginSignalCount = static_cast<int>(layout.signals);
    made.ginCounterCount = static_cast<int>(layout.counters);
    made.ginContextCount = contexts;
    made.ginStrongLegacySignals = wish.asked.ginStrongSignalsRequired;
    made.ginContextsRailed = wish.railed();
    if (layout.signals > 0) made.ginSignalShadows = shadows_of(entry, layout);
  }
  *out = made;
  return Status();
}

// --- The end ---------------------------------------------------------------------------------------------------------
Status DevCommSet::destroy(const ncclDevComm& dev_comm) {
  const std::lock_guard lock(mutex_);
  for (auto& [ordinal, entry] : entries_) {
    if (!entry.live || view_in(entry.view.kernel()) != dev_comm.resourceWindow_inlined.view) continue;
    entry.live = false;
    publish(&view_in(entry.view.host())->communicator, uint64_t{0});
    return entry.view.publish();
  }
  return Status(Cause::kDevCommUnknown, "device communicator",
                "it is not one of this communicator, or was destroyed before");
}

void DevCommSet::release(Entry& entry) {
  entry.contexts.reset();
  if (entry.window != nullptr) (void)communicator_.windows().remove(entry.window->view);
  if (!MUTANT(comm_resources_kept)) free_on_heap(entry.resources);
  entry.view = NearBlock();
  entry.shadows = NearBlock();
}

void DevCommSet::clear() {
  for (auto& [ordinal, entry] : entries_) release(entry);
  entries_.clear();
}

}  // namespace anygin::comm
