// SPDX-License-Identifier: Apache-2.0
// How a communicator forms: the ranks meet, agree on their settings and plan, and map each other's memory.
#include <fmt/format.h>

#include <new>

#include "anygin/base/env_real.h"
#include "anygin/base/kernel_side.h"
#include "anygin/base/log.h"
#include "anygin/base/order.h"
#include "anygin/base/world.h"
#include "anygin/comm/communicator.h"
#include "anygin/comm/exchange.h"
#include "anygin/comm/hang.h"
#include "anygin/comm/host_queue.h"
#include "anygin/comm/wire_bytes.h"
#include "anygin/simt/device.h"
#include "anygin/verbs/verbs_transport.h"
#include "nccl.h"

namespace anygin::comm {

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
  me.agreed = {{"the library's version", ANYGIN_VERSION},
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
        ANYGIN_VERSION, NCCL_MAJOR, NCCL_MINOR, NCCL_PATCH, name(), size(), describe(o.topology), layout_.lsa_teams(),
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

}  // namespace anygin::comm
