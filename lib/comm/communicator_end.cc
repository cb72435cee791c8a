// SPDX-License-Identifier: Apache-2.0
// How a communicator ends: by an error or a revocation, which end every wait; and in peace, once all is drained.
#include <fmt/format.h>

#include "anygin/base/kernel_side.h"
#include "anygin/base/log.h"
#include "anygin/base/mutant.h"
#include "anygin/base/order.h"
#include "anygin/base/world.h"
#include "anygin/comm/communicator.h"
#include "anygin/comm/hang.h"
#include "anygin/comm/host_queue.h"
#include "anygin/comm/window.h"
#include "anygin/simt/device.h"

namespace anygin::comm {

// --- Errors ----------------------------------------------------------------------------------------------------------
Status Communicator::async_error() const {
  const std::lock_guard lock(mutex_);
  if (busy()) return Status(Cause::kInProgress, "communicator", "a call on it goes on in the background");
  if (!failure_.ok()) return failure_;
  return ended_here_ ? Status() : ended_by_;
}

// Kernels and streams leave by themselves, within P32's second: more than that is not waited for.
void Communicator::give_device_back() {
  const std::vector<const void*> handles = kernel_handles();
  WaitReason reason;
  reason.rank = rank();
  const auto let_go = [&] {
    const HostQueue* queue = host_queue();
    return !simt::kernels_hold(device(), handles) && (queue == nullptr || !queue->holds_streams());
  };
  (void)wait_until(let_go, nullptr, reason, world().clock.now() + 2 * kSecond);
  if (!MUTANT(comm_device_stays_lost)) simt::recover_device(device());
}

Status Communicator::what_ended() const {
  const std::lock_guard lock(mutex_);
  return ended_by_;
}

bool Communicator::revoked() const {
  return revoked_;
}

Status Communicator::revoke() {
  if (finalized_) return Status(Cause::kCommFinalized, "communicator", "it was finalized; nothing is left to revoke");
  if (revoked_.exchange(true)) return Status(Cause::kRevokedTwice, "communicator", "this rank revoked it before");
  const Status why(Cause::kRevoked, "communicator", fmt::format("rank {} revoked it", rank()));
  raise(AbortCause::kRevoked, rank(), why, !MUTANT(comm_revoke_untold));
  ProcessState::get().control_loop().drain();  // peers are told
  return Status();
}

bool Communicator::raise(AbortCause cause, Rank peer, const Status& status, bool tell_peers) {
  if (cause == AbortCause::kHang && plane_) plane_->end_meetings();  // also where waits have ended before
  const std::lock_guard lock(mutex_);
  if (ending_ || !ended_by_.ok()) return false;
  ended_by_ = status;
  ended_here_ = cause == AbortCause::kRevoked && peer == rank();
  log(LogLevel::kInfo, "rank {}: {}", rank(), status.message());
  if (!MUTANT(comm_abort_word_unset)) publish(abort_word(), static_cast<uint32_t>(cause));
  ring_everybody(world().executor);
  // Not here: the caller may be an engine that holds locks of the backend.
  ProcessState::get().control_loop().post([this, cause, peer, tell_peers, text = status.message()] {
    if (tell_peers && plane_) plane_->tell_abort(cause, text);
    if (Backend* opened = backend_.load()) opened->abort(cause, peer);
    if (HostQueue* queue = host_queue_.load()) queue->abort(text);
    if (!MUTANT(comm_spins_survive)) simt::end_kernels(device(), kernel_handles(), text);
    ring_everybody(world().executor);
  });
  return true;
}

// What the arguments of a kernel hold that uses this communicator.
std::vector<const void*> Communicator::kernel_handles() const {
  std::vector<const void*> handles = windows_->views();
  handles.push_back(abort_word());
  return handles;
}

void Communicator::on_peer_abort(Rank from, AbortCause cause, const std::string& text) {
  // Ours has judged already, or will not: what waited here has ended.
  if (cause == AbortCause::kHang && !ended()) ProcessState::get().hang_monitor().report();
  const Cause why = cause == AbortCause::kRevoked ? Cause::kRevoked : Cause::kPeerEnded;
  raise(cause, from, Status(why, "communicator", fmt::format("rank {} ended it: {}", from, text)), false);
}

void Communicator::on_peer_death(Rank peer, const std::string& text) {
  raise(AbortCause::kPeerDied, peer, Status(Cause::kPeerDied, "communicator", text), true);
}

void Communicator::on_error(AbortCause cause, Rank peer, const Status& status) {
  raise(cause, peer, status, true);
}

void* Communicator::misuse_sink() {
  if (kernel_side().calls_us()) return static_cast<MisuseListener*>(this);
  return &page_->misuse;
}

void Communicator::notice_misuse() {
  if (busy() || !joined_) return;
  if (observe(&page_->misuse.complete) == 0 || misuse_noticed_.exchange(true)) return;
  tell_misuse(page_->misuse.misuse, this);
}

bool Communicator::on_misuse(const Misuse& misuse, const char* text) {
  return raise(AbortCause::kMisuse, -1, Status(cause_of(misuse.kind), "kernel", text), true);
}

// Kernels first: while they run they post.
Status Communicator::drain() {
  const Backend* opened = backend();
  const HostQueue* queue = host_queue();
  WaitReason reason;
  reason.rank = rank();
  const std::vector<const void*> handles = kernel_handles();
  const auto kernels_ended = [&handles, where = device()] {
    return MUTANT(comm_destroy_ignores_kernels) || !simt::kernels_hold(where, handles);
  };
  (void)wait_until(kernels_ended, abort_word(), reason);
  const auto is_quiet = [opened, queue] {
    return (opened == nullptr || !opened->busy()) && (queue == nullptr || !queue->pending());
  };
  (void)wait_until(is_quiet, abort_word(), reason);
  return Status();
}

Status Communicator::begin_finalize() {
  if (revoked_) return Status(Cause::kCommRevoked, "communicator", kRevokedHint);
  if (finalized_.exchange(true)) return Status(Cause::kCommFinalized, "communicator", "it was finalized before");
  return Status();
}

void Communicator::leave() {
  last_kernel_ = simt::newest_kernel();
  left_ = true;
  plane_->leave();
}

bool Communicator::may_be_used() const {
  return !MUTANT(comm_freed_under_kernels) && simt::kernels_left(device(), last_kernel_);
}

// --- The end ---------------------------------------------------------------------------------------------------------
Status destroy(std::unique_ptr<Communicator> communicator) {
  Communicator& mine = *communicator;
  mine.wait_idle();
  if (!mine.joined()) return Status();
  (void)mine.drain();
  mine.leave();
  const bool in_peace = observe(mine.abort_word()) == 0;
  if (!in_peace) {
    ProcessState::get().keep_aborted(std::move(communicator));
    return Status();
  }
  // Ranks of this process may be destroyed one after the other by one thread: only the last one may wait.
  std::vector<std::unique_ptr<Communicator>> all = ProcessState::get().bury(std::move(communicator));
  if (all.empty()) return Status();
  ControlPlane* plane = &mine.plane();
  WaitReason reason;
  reason.rank = mine.rank();
  (void)wait_until([plane] { return plane->others_gone(); }, mine.abort_word(), reason);
  for (const auto& one : all) ProcessState::get().forget(*one);
  ProcessState::get().free_when_unused(std::move(all));
  return Status();
}

void end_waits(Communicator& communicator, const std::string& why) {
  const Status status(Cause::kAborted, "communicator", fmt::format("rank {} {}", communicator.rank(), why));
  communicator.raise(AbortCause::kAborted, -1, status, true);
  ProcessState::get().control_loop().drain();
}

void abort(std::unique_ptr<Communicator> communicator) {
  Communicator& mine = *communicator;
  if (!mine.joined()) return;  // its memory is its own
  end_waits(mine, "aborted it");
  mine.plane().end_meetings();
  mine.leave();
  ProcessState::get().keep_aborted(std::move(communicator));
}

}  // namespace anygin::comm
