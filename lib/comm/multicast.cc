// SPDX-License-Identifier: Apache-2.0
#include "anygin/comm/multicast.h"

#include <fmt/format.h>

#include <algorithm>

#include "anygin/base/multimem.h"
#include "anygin/base/world.h"
#include "anygin/comm/communicator.h"
#include "anygin/comm/window.h"

namespace anygin::comm {
namespace {

constexpr size_t kPage = 4096;  // the unit of a window's place
// Room for all device memory; at least this much, since one allocation may be registered many times.
constexpr size_t kSpaceBytesLeast = size_t{64} << 30;

size_t space_bytes() {
  return std::max(world().heap.capacity() / kPage * kPage, kSpaceBytesLeast);
}

uint32_t pages_of(const Window& window) {
  return static_cast<uint32_t>((window.request.bytes + kPage - 1) / kPage);
}

}  // namespace

Multicast::~Multicast() {
  clear();
}

char* Multicast::address(char* space, const Window& window) {
  return space + size_t{window.mc_place} * kPage;
}

// --- Windows ---------------------------------------------------------------------------------------------------------
// First fit; place 0 says that there is none.
void Multicast::add(Window& window) {
  if (window.host_memory || !communicator_.multicast()) return;
  const std::lock_guard lock(mutex_);
  const uint32_t pages = pages_of(window);
  uint32_t place = 1;
  for (const auto& [taken, other] : windows_) {
    if (taken - place >= pages) break;
    place = taken + pages_of(*other);
  }
  if ((size_t{place} + pages) * kPage > space_bytes()) return;
  window.mc_place = place;
  windows_[place] = &window;
  for (const Space& space : spaces_) map(space, window);
}

void Multicast::remove(Window& window) {
  const std::lock_guard lock(mutex_);
  if (window.mc_place == 0) return;
  for (const Space& space : spaces_) unmap_multimem(address(space.base, window));
  windows_.erase(window.mc_place);
  window.mc_place = 0;
}

// As far as the smallest part of the team's ranks.
void Multicast::map(const Space& space, const Window& window) const {
  const Layout& layout = communicator_.layout();
  const Rank own = communicator_.rank();
  std::vector<char*> replicas;
  uint64_t bytes = window.request.bytes;
  for (int i = 0; i < space.team.nRanks; ++i) {
    const Rank rank = own + (i - space.team.rank) * space.team.stride;
    replicas.push_back(window.lsa_bases[static_cast<size_t>(layout.lsa_rank(rank))]);
    bytes = std::min(bytes, window.sizes[static_cast<size_t>(rank)]);
  }
  map_multimem(address(space.base, window), bytes, replicas);
}

// --- Spaces ----------------------------------------------------------------------------------------------------------
Result<char*> Multicast::space(const ncclTeam& team) {
  const std::lock_guard lock(mutex_);
  for (const Space& known : spaces_) {
    const ncclTeam& other = known.team;
    if (other.nRanks == team.nRanks && other.rank == team.rank && other.stride == team.stride) return known.base;
  }
  char* base = reserve_multimem(space_bytes());
  if (base == nullptr) {
    return Status(Cause::kMulticastFull, "multicast memory",
                  fmt::format("no {} bytes of addresses are left for a team's multicast addresses", space_bytes()));
  }
  spaces_.push_back({team, base});
  for (const auto& [place, window] : windows_) map(spaces_.back(), *window);
  return base;
}

Result<char*> Multicast::lsa_space() {
  const Layout& layout = communicator_.layout();
  return space({layout.lsa_size, layout.lsa_rank(communicator_.rank()), 1});
}

void Multicast::clear() {
  const std::lock_guard lock(mutex_);
  for (const Space& space : spaces_) {
    for (const auto& [place, window] : windows_) unmap_multimem(address(space.base, *window));
    release_multimem(space.base, space_bytes());
  }
  spaces_.clear();
  windows_.clear();
}

}  // namespace anygin::comm
