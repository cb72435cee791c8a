// SPDX-License-Identifier: Apache-2.0
// One rank's side of a communicator: who the ranks are, where they stand, what went wrong, and what it owns: control
// plane, backend, windows, device communicators.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "anygin/backends/backend.h"
#include "anygin/backends/misuse.h"
#include "anygin/base/wait_board.h"
#include "anygin/comm/backend_select.h"
#include "anygin/comm/control_plane.h"
#include "anygin/comm/layout.h"
#include "anygin/comm/process_state.h"
#include "anygin/comm/registrations.h"

namespace anygin::comm {

class WindowSet;
class DevCommSet;
class Exchange;
class HostQueue;

// Host one-sided calls name a context and a signal of it; programs of before 2.31 have one of each.
struct RmaSelectors {
  int contexts = 1, signals = 1;
};

// What children inherit unless they are told otherwise.
struct CommunicatorSettings {
  bool blocking = true;   // false: calls go on in the background (docs/decisions/0032)
  int traffic_class = 0;  // for device communicators that name none
  int rma_contexts = 1;   // 0: no host RMA
  RmaSelectors rma;       // what host one-sided calls may name
};

struct CommunicatorOpening {
  UniqueId id;
  int size = 1;
  Rank rank = 0;
  int device = 0;
  Seat seat = kAnySeat;  // in its parent
};

inline constexpr const char* kRevokedHint =
    "this rank revoked it; ncclCommShrink, ncclCommSplit, ncclCommAbort or ncclCommDestroy would be right";

// What the communicator and its kernels tell each other outside any operation; in memory that kernels reach.
struct KernelPage {
  WaitBoard board;
  MisuseBlock misuse;
};

class Communicator final : public ControlListener, public BackendListener, public MisuseListener {
 public:
  // Knows nobody yet; only the functions of work in the background may be called.
  explicit Communicator(const CommunicatorSettings& settings);
  ~Communicator() override;
  // Collective, once. The arguments were checked.
  Status join(const CommunicatorOpening& opening);

  // --- Work in the background (any thread) ---
  bool blocking() const;
  // Until end_work() the communicator belongs to the work. Nests.
  void begin_work();
  // The first failure stays, as the asynchronous error.
  void end_work(const Status& status);
  void keep_failure(const Status& status);
  bool busy() const;
  // Blocks while it is.
  void wait_idle() const;
  // Has join() succeeded?
  bool joined() const { return joined_; }

  // --- Fixed after join ---
  Rank rank() const { return opening_.rank; }
  int size() const { return opening_.size; }
  int device() const { return opening_.device; }
  const CommunicatorSettings& settings() const { return settings_; }
  int traffic_class() const { return settings_.traffic_class; }
  int rma_contexts() const { return settings_.rma_contexts; }
  const Layout& layout() const { return layout_; }
  uint64_t identity() const { return identity_; }
  Registrations& registrations() { return registrations_; }
  const GinChoice& gin() const { return gin_; }
  // Can every rank reach every other one over the network, or only its rail? Both false without GIN.
  bool reaches_all() const;
  bool reaches_rail() const { return gin_.kind != GinKind::kNone && layout_.reaches_rail(); }
  // Windows and device communicators are there: one LSA team, or GIN between them.
  bool symmetric() const;
  // Kernels have multicast addresses of the LSA team's windows. The same on all ranks of the team.
  bool multicast() const;
  // Equal on all ranks of this communicator and on no other.
  const std::string& name() const;
  size_t local_ranks() const;
  // Where this process maps byte `offset` of the rank's heap; null if the rank's memory cannot be mapped.
  char* map(Rank rank, uint64_t heap_offset) const;
  WakeWord* wake_word(Rank rank) const;

  // --- Errors (any thread) ---
  // Set, not 0: every wait of this communicator ends, on host and device. In memory that kernels reach.
  uint32_t* abort_word() const { return &page_->board.abort_word; }
  const WaitBoard& wait_board() const { return page_->board; }
  // What device code names when it is misused: a MisuseListener, or the MisuseBlock of kernels that cannot call us.
  void* misuse_sink();
  // Raises what such a kernel has left there. Often, from the hang monitor's beat, and before the error is asked for.
  void notice_misuse();
  // kInProgress while busy; else kOk, or the first thing that went wrong outside any call or in the background. That
  // this rank revoked it is nothing wrong.
  Status async_error() const;
  // Ends every wait of all ranks; the memory stays. kInvalidArgument if this rank did it before, or finalized.
  Status revoke();
  bool revoked() const;
  // It has ended: waits until this rank's kernels and streams have let go of it; the device that was lost with them
  // works again. Host threads.
  void give_device_back();
  // Why waits have ended; kOk if they have not.
  Status what_ended() const;
  bool ended() const { return !what_ended().ok(); }
  // The first call counts, and returns true: stores the error, ends all waits here, and tells the peers unless they
  // told us.
  bool raise(AbortCause cause, Rank peer, const Status& status, bool tell_peers);

  // --- Collective calls (one thread at a time) ---
  ControlPlane& plane() { return *plane_; }
  // kOk on all ranks if `mine` is on all; else the status of the lowest rank that has another, on all.
  Status agree(const char* kind, const Status& mine);
  // Opens the backend on first use, and tells it the windows there are.
  Result<Backend*> activate_gin();
  Backend* backend() const { return backend_.load(); }  // null until activated
  // What the host's own transfers go through; null where there is none.
  HostQueue* host_queue() const { return host_queue_.load(); }
  // Sends, receives and collectives; null where there is no host queue.
  Exchange* exchange() const { return exchange_.get(); }
  const std::string& why_no_host_queue() const { return why_no_host_queue_; }
  // Why the host's one-sided operations are refused; empty if they are not. Equal on all ranks.
  std::string why_no_host_rma() const;

  // Where a larger communicator that this one grows into is to meet.
  void offer_place(const UniqueId& id);
  std::optional<UniqueId> offered_place() const;

  WindowSet& windows() { return *windows_; }
  DevCommSet& dev_comms() { return *dev_comms_; }

  // Blocks until no kernel of this rank has a handle of the communicator among its arguments, and what kernels posted
  // is complete; ends early when the communicator is aborted, which ends them.
  Status drain();
  // It is to be finalized now, by drain(). Second call: kInvalidArgument.
  Status begin_finalize();
  // Said goodbye: no call and no kernel of this rank is to come. Any thread.
  bool left() const { return left_; }
  void leave();
  // Left, and kernels that were launched before are not complete: they may know it by a pointer that is not among
  // their arguments, so its memory has to stay.
  bool may_be_used() const;

 private:
  Status exchange_memory();
  Status open_host_queue();
  Member describe_self() const;
  void introduce() const;
  std::vector<const void*> kernel_handles() const;

  void on_peer_abort(Rank from, AbortCause cause, const std::string& text) override;
  void on_peer_death(Rank peer, const std::string& text) override;
  void on_error(AbortCause cause, Rank peer, const Status& status) override;
  bool on_misuse(const Misuse& misuse, const char* text) override;

  const CommunicatorSettings settings_;
  CommunicatorOpening opening_;  // fixed after join
  const uint64_t identity_;
  Registrations registrations_;
  const GinChoice gin_;
  Layout layout_;
  KernelPage* page_ = nullptr;
  std::atomic<bool> misuse_noticed_{false};
  std::unique_ptr<ControlPlane> plane_;
  std::string why_no_host_queue_;  // fixed after join

  mutable std::mutex mutex_;  // ended_by_, ended_here_, ending_, offered_place_
  Status ended_by_;           // kOk while it has not ended
  Status failure_;            // of work in the background
  bool ended_here_ = false;   // this rank revoked it, and nothing had gone wrong
  bool ending_ = false;
  std::optional<UniqueId> offered_place_;
  std::unique_ptr<Backend> owned_backend_;
  std::atomic<Backend*> backend_{nullptr};
  std::shared_ptr<verbs::Nic> nic_;     // fixed after join
  std::unique_ptr<Exchange> exchange_;  // fixed after join
  std::unique_ptr<HostQueue> owned_host_queue_;
  std::atomic<HostQueue*> host_queue_{nullptr};
  std::unique_ptr<WindowSet> windows_;
  std::unique_ptr<DevCommSet> dev_comms_;
  std::atomic<int> work_{0};
  std::atomic<bool> joined_{false};
  std::atomic<bool> finalized_{false};
  std::atomic<bool> revoked_{false};
  std::atomic<bool> left_{false};
  std::atomic<uint64_t> last_kernel_{0};  // when it left
};

// Ends every wait of all ranks, as a failure of this one does.
void end_waits(Communicator& communicator, const std::string& why);
// Ends a communicator that ProcessState::retire() gave to the caller. `destroy` drains and leaves in peace; the last
// rank of the process waits for the ranks of other processes.
Status destroy(std::unique_ptr<Communicator> communicator);
// Ends every wait of all ranks.
void abort(std::unique_ptr<Communicator> communicator);

}  // namespace anygin::comm
