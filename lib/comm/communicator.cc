// SPDX-License-Identifier: Apache-2.0
#include "anygin/comm/communicator.h"

#include <fmt/format.h>

#include "anygin/base/kernel_side.h"
#include "anygin/base/order.h"
#include "anygin/base/world.h"
#include "anygin/comm/dev_comm.h"
#include "anygin/comm/exchange.h"
#include "anygin/comm/host_queue.h"
#include "anygin/comm/window.h"
#include "anygin/comm/wire_bytes.h"

namespace anygin::comm {

Communicator::Communicator(const CommunicatorSettings& settings)
    : settings_(settings),
      identity_(ProcessState::get().next_identity()),
      gin_(choose_gin(options())),
      windows_(std::make_unique<WindowSet>(*this)),
      dev_comms_(std::make_unique<DevCommSet>(*this)) {}

Communicator::~Communicator() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  if (plane_) plane_->stop();
  ProcessState::get().control_loop().drain();  // nothing that was posted refers to us any more
  dev_comms_->clear();
  owned_backend_.reset();
  owned_host_queue_.reset();
  exchange_.reset();
  nic_.reset();
  windows_->clear();
  plane_.reset();
  if (page_ != nullptr) {
    const Status freed = world().heap.free(page_);
    ANYGIN_ASSERT(freed.ok());
  }
}

// --- Where the ranks stand -------------------------------------------------------------------------------------------
bool Communicator::reaches_all() const {
  return reaches_rail() && layout_.rails_connected && options().nccl_cross_nic != 0;
}

bool Communicator::symmetric() const {
  return options().nccl_win_enable != 0 && (reaches_rail() || layout_.lsa_teams() == 1);
}

// Multimem instructions of compiled kernels are ours; what they stand for is mapped here or not.
bool Communicator::multicast() const {
  if (options().nccl_nvls_enable == 0 || !symmetric() || !kernel_side().calls_us()) return false;
  const Rank first = layout_.lsa_team(rank()) * layout_.lsa_size;
  for (int i = 0; i < layout_.lsa_size; ++i) {
    if (map(first + i, 0) == nullptr) return false;
  }
  return true;
}

const std::string& Communicator::name() const {
  return plane_->members().front().listener;
}

size_t Communicator::local_ranks() const {
  size_t count = 0;
  for (Rank rank = 0; rank < size(); ++rank) count += plane_->is_local(rank) ? 1 : 0;
  return count;
}

std::string Communicator::why_no_host_rma() const {
  if (rma_contexts() == 0) return "the communicator was made with numRmaCtx 0; 1 would be right";
  if (!why_no_host_queue_.empty()) return why_no_host_queue_;
  if (!symmetric()) return "the communicator has no windows (NCCL_WIN_ENABLE is 0, or several LSA teams without GIN)";
  if (layout_.lsa_teams() == 1 || reaches_all()) return {};
  return "not every rank reaches every other one over the network (rails apart, or NCCL_CROSS_NIC is 0)";
}

char* Communicator::map(Rank rank, uint64_t heap_offset) const {
  if (plane_->is_local(rank)) return world().memory.address({world().heap.id(), heap_offset});
  PeerProcess* peer = ProcessState::get().peer(plane_->members()[static_cast<size_t>(rank)].process_nonce);
  return peer == nullptr ? nullptr : peer->heap.base() + heap_offset;
}

WakeWord* Communicator::wake_word(Rank rank) const {
  if (plane_->is_local(rank)) return &world().executor.wake_word();
  PeerProcess* peer = ProcessState::get().peer(plane_->members()[static_cast<size_t>(rank)].process_nonce);
  return peer == nullptr ? nullptr : &peer->page.control().wake;
}

// --- Work in the background ------------------------------------------------------------------------------------------
bool Communicator::blocking() const {
  return settings_.blocking;
}

bool Communicator::busy() const {
  return work_.load(std::memory_order_acquire) != 0;
}

void Communicator::begin_work() {
  work_.fetch_add(1, std::memory_order_acq_rel);
}

void Communicator::end_work(const Status& status) {
  keep_failure(status);
  work_.fetch_sub(1, std::memory_order_acq_rel);
  ring_everybody(world().executor);
}

void Communicator::keep_failure(const Status& status) {
  const std::lock_guard lock(mutex_);
  if (failure_.ok()) failure_ = status;
}

void Communicator::wait_idle() const {
  (void)wait_until([this] { return !busy(); }, nullptr, WaitReason{});
}

// --- Collective calls ------------------------------------------------------------------------------------------------
Status Communicator::agree(const char* kind, const Status& mine) {
  const Gift gift{ByteWriter().number(static_cast<uint8_t>(mine.cause())).text(mine.text()).take(), -1};
  Result<std::vector<Gift>> gifts = plane_->all_gather(kind, gift);
  if (!gifts.ok()) return gifts.status();
  for (Rank from = 0; from < size(); ++from) {
    ByteReader in((*gifts)[static_cast<size_t>(from)].bytes);
    const Cause cause = cause_of_number(in.number<uint8_t>());
    const std::string text = in.text();
    if (cause == Cause::kNone) continue;
    return from == rank() ? mine : Status(cause, kind, fmt::format("rank {}: {}", from, text));
  }
  return Status();
}

Result<Backend*> Communicator::activate_gin() {
  if (backend() != nullptr) return backend();
  Result<std::unique_ptr<Backend>> opened = open_gin(gin_, {*plane_, *this, abort_word(), options(), nic_});
  ANYGIN_TRY(agree("opening the GIN backend", opened.ok() ? Status() : opened.status()));
  owned_backend_ = std::move(*opened);
  backend_.store(owned_backend_.get());
  const uint32_t cause = observe(abort_word());
  if (cause != 0) owned_backend_->abort(static_cast<AbortCause>(cause), -1);
  ANYGIN_TRY(windows_->tell_backend());
  return backend();
}

void Communicator::offer_place(const UniqueId& id) {
  const std::lock_guard lock(mutex_);
  offered_place_ = id;
}

std::optional<UniqueId> Communicator::offered_place() const {
  const std::lock_guard lock(mutex_);
  return offered_place_;
}

}  // namespace anygin::comm
