// SPDX-License-Identifier: Apache-2.0
// First fit over one shared file. An allocation takes whole pages: a red zone page, the bytes asked for (rounded up),
// a red zone page. Pages of a freed allocation come back zero; they go back to the kernel meanwhile unless the place
// where kernels run pins them. There the heap is opened extent by extent, and no allocation spans two.
#include "anygin/base/heap.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <cstring>
#include <iterator>
#include <map>
#include <mutex>

#include "anygin/base/assert.h"
#include "anygin/base/log.h"
#include "anygin/base/mutant.h"
#include "anygin/base/platform.h"

#if defined(ANYGIN_SANITIZE_ADDRESS)
#include <sanitizer/asan_interface.h>
#endif

namespace anygin {
namespace {

constexpr const char* kWhere = "device memory";
constexpr uint64_t kPage = DeviceHeap::kAlignment;

uint64_t round_up(uint64_t bytes) {
  return (bytes + kPage - 1) / kPage * kPage;
}

// What lies on both sides of an allocation: under ASan poisoned memory, elsewhere a pattern that free() looks for.
#if defined(ANYGIN_SANITIZE_ADDRESS)
void arm_red_zones(char* base, uint64_t bytes) {
  ASAN_POISON_MEMORY_REGION(base - kPage, kPage);
  ASAN_UNPOISON_MEMORY_REGION(base, bytes);
  ASAN_POISON_MEMORY_REGION(base + bytes, round_up(bytes) - bytes + kPage);
}
const char* overwritten_side(const char*, uint64_t) {
  return nullptr;
}
void open_to_the_heap(char* base, uint64_t bytes) {
  ASAN_UNPOISON_MEMORY_REGION(base - kPage, round_up(bytes) + 2 * kPage);
}
void poison_freed(char* base, uint64_t bytes) {
  ASAN_POISON_MEMORY_REGION(base - kPage, round_up(bytes) + 2 * kPage);
}
#else
constexpr uint64_t kCanaryBytes = 256;
constexpr unsigned char kCanary = 0xc5;

bool intact(const char* from) {
  for (uint64_t i = 0; i < kCanaryBytes; ++i) {
    if (static_cast<unsigned char>(from[i]) != kCanary) return false;
  }
  return true;
}
void arm_red_zones(char* base, uint64_t bytes) {
  std::memset(base - kCanaryBytes, kCanary, kCanaryBytes);
  std::memset(base + bytes, kCanary, kCanaryBytes);
}
const char* overwritten_side(const char* base, uint64_t bytes) {
  if (!intact(base - kCanaryBytes)) return "before its start";
  return intact(base + bytes) ? nullptr : "behind its end";
}
void open_to_the_heap(char*, uint64_t) {}
void poison_freed(char*, uint64_t) {}
#endif

struct Block {
  uint64_t bytes;  // as asked for
  int device;
  uint64_t serial;
  uint32_t holds = 0;
  bool freed = false;  // by its owner; holds keep it
};
using Blocks = std::map<uint64_t, Block>;  // by the offset of the user's first byte

}  // namespace

struct DeviceHeap::State {
  State(MemoryMap& m, SharedMapping&& file, KernelSide& s) : map(m), mapping(std::move(file)), side(s) {
    id = map.add(mapping.base(), mapping.bytes());
    if (!side.pins_memory()) open_extent(mapping.bytes());
  }
  ~State() {
    map.remove(id);
    if (side.pins_memory()) {
      for (const auto& [offset, bytes] : extents) side.release(base_of(offset));
    }
#if defined(ANYGIN_SANITIZE_ADDRESS)
    for (const auto& [offset, bytes] : ever_used) ASAN_UNPOISON_MEMORY_REGION(mapping.base() + offset, bytes);
#endif
  }

  char* base_of(uint64_t offset) const {
    return mapping.base() + offset;
  }
  uint64_t largest_free() const;
  std::optional<uint64_t> take(uint64_t bytes);
  void give_back(uint64_t offset, uint64_t bytes);
  Blocks::iterator around(const void* pointer);  // the live allocation, or live.end()
  void end(Blocks::iterator block);              // neither owner nor hold is left
  // Makes room for an allocation of `bytes`; nothing changes if there is none.
  Status grow(uint64_t bytes);
  void open_extent(uint64_t bytes);
  void clear(uint64_t offset, uint64_t bytes);

  MemoryMap& map;
  SharedMapping mapping;
  KernelSide& side;
  HeapId id;

  mutable std::mutex mutex;
  std::map<uint64_t, uint64_t> extents;      // offset -> bytes; a page that nobody gets stands between two
  uint64_t opened = 0;                       // nothing beyond belongs to an extent
  std::map<uint64_t, uint64_t> free_ranges;  // offset -> bytes; no two touch
  Blocks live;
  std::map<uint64_t, uint64_t> ever_used;  // ASan: where poison may lie
  uint64_t allocated = 0;
  uint64_t given_out = 0;  // allocations ever
};

uint64_t DeviceHeap::State::largest_free() const {
  uint64_t largest = 0;
  for (const auto& [offset, bytes] : free_ranges) largest = std::max(largest, bytes);
  return largest;
}

std::optional<uint64_t> DeviceHeap::State::take(uint64_t bytes) {
  for (auto range = free_ranges.begin(); range != free_ranges.end(); ++range) {
    const auto [offset, free_bytes] = *range;
    if (free_bytes < bytes) continue;
    free_ranges.erase(range);
    if (free_bytes > bytes) free_ranges[offset + bytes] = free_bytes - bytes;
    return offset;
  }
  return std::nullopt;
}

void DeviceHeap::State::open_extent(uint64_t bytes) {
  extents[opened] = bytes;
  free_ranges[opened] = bytes;
  opened += bytes + kPage;
}

Status DeviceHeap::State::grow(uint64_t bytes) {
  const uint64_t left = mapping.bytes() - std::min(opened, mapping.bytes());
  const uint64_t more = std::min(std::max<uint64_t>(kPinnedBytes, bytes), left);
  if (!side.pins_memory() || bytes > left) return Status();  // take() will find nothing
  ANYGIN_TRY(side.reach(base_of(opened), more));
  open_extent(more);
  return Status();
}

void DeviceHeap::State::clear(uint64_t offset, uint64_t bytes) {
  // A hole in pinned memory would give the file new pages, while kernels keep the old ones.
  const bool keep = side.pins_memory() && !MUTANT(pinned_pages_given_back);
  if (keep || fallocate(mapping.fd(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                        static_cast<off_t>(bytes)) != 0) {
    std::memset(base_of(offset), 0, bytes);
  }
}

void DeviceHeap::State::give_back(uint64_t offset, uint64_t bytes) {
  if (!MUTANT(freed_memory_keeps_bytes)) clear(offset, bytes);
  auto next = free_ranges.upper_bound(offset);
  if (next != free_ranges.end() && offset + bytes == next->first) {
    bytes += next->second;
    next = free_ranges.erase(next);
  }
  if (next != free_ranges.begin()) {
    const auto previous = std::prev(next);
    if (previous->first + previous->second == offset) {
      previous->second += bytes;
      return;
    }
  }
  free_ranges[offset] = bytes;
}

DeviceHeap::DeviceHeap(MemoryMap& map, size_t capacity, KernelSide& side) {
  Result<SharedMapping> mapping = SharedMapping::create("anygin-device-memory", round_up(capacity));
  if (!mapping.ok()) {
    std::fprintf(stderr, "anygin: %s\n", mapping.status().message().c_str());
    ANYGIN_ASSERT(!"no device memory");
  }
  state_ = std::make_unique<State>(map, std::move(*mapping), side);
}

DeviceHeap::~DeviceHeap() = default;

Result<char*> DeviceHeap::allocate(size_t bytes, int device) {
  std::lock_guard lock(state_->mutex);
  const bool absurd = bytes > state_->mapping.bytes();
  const uint64_t whole = absurd ? 0 : round_up(bytes) + 2 * kPage;
  std::optional<uint64_t> offset = absurd ? std::nullopt : state_->take(whole);
  if (!offset && !absurd) {
    ANYGIN_TRY(state_->grow(whole));
    offset = state_->take(whole);
  }
  if (!offset) {
    return Status(Cause::kOutOfMemory, kWhere,
                  fmt::format("out of memory: {} bytes asked for; {} of {} in use, largest free piece {} (every "
                              "allocation takes two pages more than asked for)",
                              bytes, state_->allocated, state_->mapping.bytes(), state_->largest_free()));
  }
  const uint64_t user_offset = *offset + kPage;
  char* base = state_->base_of(user_offset);
  state_->live[user_offset] = Block{.bytes = bytes, .device = device, .serial = ++state_->given_out};
  state_->allocated += bytes;
  arm_red_zones(base, bytes);
#if defined(ANYGIN_SANITIZE_ADDRESS)
  uint64_t& used = state_->ever_used[*offset];
  used = std::max(used, whole);
#endif
  return base;
}

Status DeviceHeap::free(void* pointer) {
  std::lock_guard lock(state_->mutex);
  const auto found = state_->around(pointer);
  if (found == state_->live.end() || state_->base_of(found->first) != pointer) {
    return Status(Cause::kAllocationUnknown, kWhere,
                  fmt::format("{} is not the start of a live allocation", fmt::ptr(pointer)));
  }
  Block& block = found->second;
  if (const char* side = overwritten_side(state_->base_of(found->first), block.bytes)) {
    // Stays allocated, so that the evidence stays.
    const Status overrun(Cause::kAllocationOverrun, kWhere,
                         fmt::format("the allocation of {} bytes at {} on device {} was overwritten {}", block.bytes,
                                     fmt::ptr(pointer), block.device, side));
    log(LogLevel::kError, "{}", overrun.message());  // whoever frees rarely looks at the result
    return overrun;
  }
  block.freed = true;
  if (block.holds == 0) state_->end(found);
  return Status();
}

Blocks::iterator DeviceHeap::State::around(const void* pointer) {
  const auto offset = reinterpret_cast<uintptr_t>(pointer) - reinterpret_cast<uintptr_t>(mapping.base());
  const auto after = live.upper_bound(offset);
  if (after == live.begin()) return live.end();
  const auto found = std::prev(after);
  const auto& [start, block] = *found;
  const bool inside = offset == start || offset - start < block.bytes;
  return inside && !block.freed ? found : live.end();
}

void DeviceHeap::State::end(Blocks::iterator block) {
  const auto [offset, bytes] = std::pair(block->first, block->second.bytes);
  live.erase(block);
  allocated -= bytes;
  open_to_the_heap(base_of(offset), bytes);  // which clears it, red zones and all
  give_back(offset - kPage, round_up(bytes) + 2 * kPage);
  poison_freed(base_of(offset), bytes);
}

DeviceHeap::Hold DeviceHeap::hold(const void* pointer) {
  std::lock_guard lock(state_->mutex);
  const auto found = state_->around(pointer);
  if (found == state_->live.end() || MUTANT(heap_holds_nothing)) return {};
  ++found->second.holds;
  return {state_.get(), found->first};
}

DeviceHeap::Hold::~Hold() {
  if (state_ == nullptr) return;
  std::lock_guard lock(state_->mutex);
  const auto found = state_->live.find(offset_);
  if (--found->second.holds == 0 && found->second.freed) state_->end(found);
}

std::optional<Allocation> DeviceHeap::find(const void* pointer) const {
  std::lock_guard lock(state_->mutex);
  const auto found = state_->around(pointer);
  if (found == state_->live.end()) return std::nullopt;
  const auto& [start, block] = *found;
  return Allocation{state_->base_of(start), block.bytes, block.device, block.serial};
}

DeviceHeap::Extent DeviceHeap::extent_of(const void* pointer) const {
  std::lock_guard lock(state_->mutex);
  const auto offset = reinterpret_cast<uintptr_t>(pointer) - reinterpret_cast<uintptr_t>(state_->mapping.base());
  const auto after = state_->extents.upper_bound(offset);
  ANYGIN_ASSERT(after != state_->extents.begin());
  const auto& [start, bytes] = *std::prev(after);
  ANYGIN_ASSERT(offset < start + bytes);
  return Extent{start, bytes};
}

size_t DeviceHeap::allocated() const {
  std::lock_guard lock(state_->mutex);
  return state_->allocated;
}

size_t DeviceHeap::capacity() const {
  return state_->mapping.bytes();
}
HeapId DeviceHeap::id() const {
  return state_->id;
}
int DeviceHeap::fd() const {
  return state_->mapping.fd();
}

}  // namespace anygin
