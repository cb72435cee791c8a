// SPDX-License-Identifier: Apache-2.0
#include "anygin/comm/communicator.h"

#include <fmt/format.h>

#include <new>

#include "anygin/base/env_real.h"
#include "anygin/base/kernel_side.h"
#include "anygin/base/log.h"
#include "anygin/base/mutant.h"
#include "anygin/base/order.h"
#include "anygin/base/world.h"
#include "anygin/comm/dev_comm.h"
#include "anygin/comm/exchange.h"
#include "anygin/comm/hang.h"
#include "anygin/comm/host_queue.h"
#include "anygin/comm/window.h"
#include "anygin/comm/wire_bytes.h"
#include "anygin/simt/device.h"
#include "anygin/verbs/verbs_transport.h"

namespace anygin::comm {
namespace {

constexpr const char* kVersion = "0.1.0";

}  // namespace

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

Member Communicator::describe_self() const {
  const Options& o = options();
  Member me;
  me.rank = opening_.rank;
  me.size = opening_.size;
  me.device = opening_.device;
  me.seat = opening_.seat;
  me.pid = process_id();
  me.start_time = process_start_time();
  me.process_nonce = ProcessState::get().nonce();
  me.agreed = {{"the library's version", kVersion},
               {"ANYGIN_PROFILE", std::string(name_of(o.profile))},
               {"ANYGIN_TOPOLOGY", describe(o.topology)},
               {"ANYGIN_NIC", o.nic},
               {"ANYGIN_FABRIC", o.fabric},
               {"NCCL_GIN_TYPE", std::to_string(o.nccl_gin_type)},
               {"numRmaCtx and numRmaSig", fmt::format("{} and {}", settings().rma.contexts, settings().rma.signals)},
               {"NCCL_GIN_CONTEXTS_PER_COMM", std::to_string(o.nccl_gin_contexts_per_comm)},
               {"NCCL_WIN_ENABLE", std::to_string(o.nccl_win_enable)},
               {"NCCL_LSA_TEAM_SIZE", std::to_string(o.nccl_lsa_team_size)},
               {"NCCL_CROSS_NIC", std::to_string(o.nccl_cross_nic)},
               {"NCCL_NVLS_ENABLE", std::to_string(o.nccl_nvls_enable)}};
  return me;
}

Status Communicator::join(const CommunicatorOpening& opening) {
  opening_ = opening;
  Result<char*> page = world().heap.allocate(sizeof(KernelPage), opening.device);
  if (!page.ok()) return page.status();
  page_ = new (*page) KernelPage{};
  ProcessState& process = ProcessState::get();
  ANYGIN_TRY(process.carrier().prepare(opening.id, opening.rank, options()));
  Result<std::unique_ptr<ControlPlane>> plane = ControlPlane::join(
      {process.carrier(), *this, opening.id, describe_self(), join_patience(options().hang_timeout_ns), abort_word()});
  if (!plane.ok()) return plane.status();
  plane_ = std::move(*plane);
  std::vector<Seat> seats;
  for (const Member& member : plane_->members()) seats.push_back(member.seat);
  Result<Layout> layout = plan_layout(std::move(seats), options().topology, options().nccl_lsa_team_size);
  if (!layout.ok()) return layout.status();  // on all ranks: all plan the same
  layout_ = std::move(*layout);
  ANYGIN_TRY(exchange_memory());
  ANYGIN_TRY(open_host_queue());
  introduce();
  joined_ = true;
  return Status();
}

// NCCL_DEBUG=INFO: a line a rank; and what a person should know in any case.
void Communicator::introduce() const {
  const Options& o = options();
  if (rank() == 0) {
    log(LogLevel::kInfo, "AnyGIN {}, API of NCCL {}.{}.{}; communicator {}: {} ranks, {}, {} LSA teams of {}{}",
        kVersion, NCCL_MAJOR, NCCL_MINOR, NCCL_PATCH, name(), size(), describe(o.topology), layout_.lsa_teams(),
        layout_.lsa_size, layout_.rails_connected ? "" : ", rails apart");
    log(LogLevel::kInfo, "communicator {}: {}", name(),
        reaches_rail() ? fmt::format("GIN by the proxy backend, NIC {}, fabric {}, profile {}, seed {}", o.nic,
                                     o.fabric, name_of(o.profile), o.seed)
                       : "no GIN: " + gin_.why_none);
    if (kernel_side().calls_us() && size() > simt::device_count()) {
      log(LogLevel::kWarn,
          "{} ranks on {} devices: some share one, which NCCL refuses on GPUs; ANYGIN_DEVICES={} gives each its own",
          size(), simt::device_count(), size());
    }
  }
  log(LogLevel::kInfo,
      "communicator {}: rank {} is process {}, device {}, node {}, rank {} of LSA team {}; {} of {} ranks in this "
      "process",
      name(), rank(), process_id(), device(), layout_.node_of_rank[static_cast<size_t>(rank())],
      layout_.lsa_rank(rank()), layout_.lsa_team(rank()), local_ranks(), size());
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

// Process pages and heaps of the other processes of this host, once a process.
Status Communicator::exchange_memory() {
  if (local_ranks() == static_cast<size_t>(size())) return Status();
  World& here = world();
  const Gift my_page{ByteWriter().number<uint64_t>(here.page.bytes()).take(), here.page.fd()};
  Result<std::vector<Gift>> pages = plane_->all_gather("joining: process page", my_page);
  if (!pages.ok()) return pages.status();
  const Gift my_heap{ByteWriter().number<uint64_t>(here.heap.capacity()).take(), here.heap.fd()};
  Result<std::vector<Gift>> heaps = plane_->all_gather("joining: heap", my_heap);
  if (!heaps.ok()) return heaps.status();
  Status mapped;
  for (Rank rank = 0; rank < size(); ++rank) {
    const auto at = static_cast<size_t>(rank);
    if (plane_->is_local(rank) || !mapped.ok()) {
      const Socket unused_page((*pages)[at].fd), unused_heap((*heaps)[at].fd);
    } else {
      mapped = ProcessState::get().add_peer(plane_->members()[at].process_nonce, (*pages)[at], (*heaps)[at]);
    }
  }
  return agree("joining: memory mapped", mapped);
}

// At once, so that no rank's first transfer waits for another rank's.
Status Communicator::open_host_queue() {
  why_no_host_queue_ = HostQueue::why_none(options());
  if (!why_no_host_queue_.empty()) return Status();
  // Without a NIC for kernels the software HCA still copies for the host.
  Options own = options();
  own.nic = "emu";
  Result<std::shared_ptr<verbs::Nic>> nic = verbs::open_nic(*plane_, own);
  ANYGIN_TRY(agree("opening the host queue's NIC", nic.ok() ? Status() : nic.status()));
  nic_ = std::move(*nic);
  const auto selectors = static_cast<uint32_t>(settings().rma.contexts * settings().rma.signals);
  Result<std::unique_ptr<HostQueue>> opened = HostQueue::open({*plane_, *this, nic_, traffic_class(), selectors});
  ANYGIN_TRY(agree("opening the host queue", opened.ok() ? Status() : opened.status()));
  owned_host_queue_ = std::move(*opened);
  host_queue_.store(owned_host_queue_.get());
  Result<std::unique_ptr<Exchange>> exchange = Exchange::open(*owned_host_queue_, *this, device());
  ANYGIN_TRY(agree("opening host transfers", exchange.ok() ? Status() : exchange.status()));
  exchange_ = std::move(*exchange);
  if (observe(abort_word()) != 0) owned_host_queue_->abort(what_ended().message());
  return Status();
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

void Communicator::offer_place(const UniqueId& id) {
  const std::lock_guard lock(mutex_);
  offered_place_ = id;
}

std::optional<UniqueId> Communicator::offered_place() const {
  const std::lock_guard lock(mutex_);
  return offered_place_;
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
