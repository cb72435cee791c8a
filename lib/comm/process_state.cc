// SPDX-License-Identifier: Apache-2.0
#include "anygin/comm/process_state.h"

#include <unistd.h>

#include <algorithm>

#include "anygin/base/env_real.h"
#include "anygin/base/host_threads.h"
#include "anygin/base/world.h"
#include "anygin/comm/communicator.h"
#include "anygin/comm/hang.h"
#include "anygin/comm/socket_carrier.h"
#include "anygin/comm/wire_bytes.h"

namespace anygin::comm {

ProcessState& ProcessState::get() {
  static ProcessState& only = *new ProcessState;
  return only;
}

ProcessState::ProcessState()
    : nonce_(draw_random_number()),
      carrier_(world().control != nullptr ? world().control : new SocketCarrier),
      hang_monitor_(std::make_unique<HangMonitor>(*this)) {
  hang_monitor_->start(control_loop());
}

uint64_t ProcessState::next_identity() {
  const std::lock_guard lock(mutex_);
  return ++last_identity_;
}

void ProcessState::keep(std::unique_ptr<Root> root) {
  const std::lock_guard lock(mutex_);
  const auto ended = [](const std::unique_ptr<Root>& old) { return old->ended(); };
  roots_.erase(std::remove_if(roots_.begin(), roots_.end(), ended), roots_.end());
  roots_.push_back(std::move(root));
}

void ProcessState::close_place(uint16_t port) {
  std::vector<std::unique_ptr<Root>> closed;  // outside the lock: they end their threads
  const std::lock_guard lock(mutex_);
  const auto stays = [port](const std::unique_ptr<Root>& root) { return root->ended() || root->port() != port; };
  const auto first_closed = std::partition(roots_.begin(), roots_.end(), stays);
  std::move(first_closed, roots_.end(), std::back_inserter(closed));
  roots_.erase(first_closed, roots_.end());
}

// --- Peers -----------------------------------------------------------------------------------------------------------
Status ProcessState::add_peer(uint64_t nonce, const Gift& page, const Gift& heap) {
  const std::lock_guard lock(mutex_);
  if (peers_.count(nonce) != 0) {
    ::close(page.fd);
    ::close(heap.fd);
    return Status();
  }
  Result<PeerPage> peer_page = PeerPage::map(page.fd, ByteReader(page.bytes).number<uint64_t>());
  Result<SharedMapping> mapping = SharedMapping::adopt(heap.fd, ByteReader(heap.bytes).number<uint64_t>());
  if (!peer_page.ok()) return peer_page.status();
  if (!mapping.ok()) return mapping.status();
  auto peer = std::make_unique<PeerProcess>(PeerProcess{std::move(*mapping), HeapId(), std::move(*peer_page)});
  peer->heap_id = world().memory.add(peer->heap.base(), peer->heap.bytes());
  peers_[nonce] = std::move(peer);
  return Status();
}

PeerProcess* ProcessState::peer(uint64_t nonce) {
  const std::lock_guard lock(mutex_);
  const auto found = peers_.find(nonce);
  return found == peers_.end() ? nullptr : found->second.get();
}

// --- Communicators ---------------------------------------------------------------------------------------------------
void ProcessState::enlist(Communicator& communicator) {
  const std::lock_guard lock(mutex_);
  all_.insert(&communicator);
}

void ProcessState::admit(Communicator& communicator) {
  const std::lock_guard lock(mutex_);
  alive_.insert(&communicator);
}

bool ProcessState::is_alive(const void* communicator) const {
  const std::lock_guard lock(mutex_);
  return std::any_of(alive_.begin(), alive_.end(), [&](const Communicator* c) { return c == communicator; });
}

bool ProcessState::retire(Communicator* communicator) {
  const std::lock_guard lock(mutex_);
  return alive_.erase(communicator) == 1;
}

void ProcessState::visit(const std::function<void(Communicator&)>& visit) const {
  const std::lock_guard lock(mutex_);
  std::vector<Communicator*> ordered(all_.begin(), all_.end());
  std::sort(ordered.begin(), ordered.end(),
            [](const Communicator* a, const Communicator* b) { return a->identity() < b->identity(); });
  for (Communicator* communicator : ordered) visit(*communicator);
}

std::vector<std::unique_ptr<Communicator>> ProcessState::bury(std::unique_ptr<Communicator> communicator) {
  const std::lock_guard lock(mutex_);
  const std::string key = communicator->name();
  const size_t local_ranks = communicator->local_ranks();
  auto& grave = buried_[key];
  grave.push_back(std::move(communicator));
  if (grave.size() < local_ranks) return {};
  std::vector<std::unique_ptr<Communicator>> all = std::move(grave);
  buried_.erase(key);
  return all;
}

void ProcessState::forget(Communicator& communicator) {
  const std::lock_guard lock(mutex_);
  all_.erase(&communicator);
}

void ProcessState::free_when_unused(std::vector<std::unique_ptr<Communicator>> communicators) {
  std::vector<std::vector<std::unique_ptr<Communicator>>> free;  // outside the lock: their ends come back to us
  const std::lock_guard lock(mutex_);
  unused_soon_.push_back(std::move(communicators));
  const auto used = [](const std::vector<std::unique_ptr<Communicator>>& ranks) {
    return std::any_of(ranks.begin(), ranks.end(), [](const auto& one) { return one->may_be_used(); });
  };
  const auto first_free = std::partition(unused_soon_.begin(), unused_soon_.end(), used);
  std::move(first_free, unused_soon_.end(), std::back_inserter(free));
  unused_soon_.erase(first_free, unused_soon_.end());
}

void ProcessState::keep_aborted(std::unique_ptr<Communicator> communicator) {
  const std::lock_guard lock(mutex_);
  all_.erase(communicator.get());
  aborted_.push_back(std::move(communicator));
}

void ProcessState::in_background(std::function<void()> work) {
  const auto done = std::make_shared<std::atomic<bool>>(false);
  std::thread thread([work = std::move(work), done] {
    const ApiCall call("a call in the background");
    work();
    done->store(true);
  });
  std::vector<Helper> ended;
  {
    const std::lock_guard lock(mutex_);
    const auto goes_on = [](const Helper& helper) { return !helper.done->load(); };
    const auto first_ended = std::partition(helpers_.begin(), helpers_.end(), goes_on);
    std::move(first_ended, helpers_.end(), std::back_inserter(ended));
    helpers_.erase(first_ended, helpers_.end());
    helpers_.push_back({done, std::move(thread)});
  }
  for (Helper& helper : ended) helper.thread.join();
}

// --- Windows ---------------------------------------------------------------------------------------------------------
void ProcessState::add_window(const void* view, Window& window) {
  const std::lock_guard lock(mutex_);
  windows_[view] = &window;
}

void ProcessState::remove_window(const void* view) {
  const std::lock_guard lock(mutex_);
  windows_.erase(view);
}

Window* ProcessState::window(const void* view) const {
  const std::lock_guard lock(mutex_);
  const auto found = windows_.find(view);
  return found == windows_.end() ? nullptr : found->second;
}

}  // namespace anygin::comm
