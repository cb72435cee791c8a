// SPDX-License-Identifier: Apache-2.0
// What the communicators of one process share: the carrier of their control planes, the peers' mapped memory, who is
// alive. With the group state of each thread this is the process-wide object that NCCL's interface itself asks for
// (docs/decisions/0001).
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "anygin/base/bootstrap.h"
#include "anygin/base/memory_map.h"
#include "anygin/base/process_page.h"
#include "anygin/comm/control_carrier.h"
#include "anygin/comm/rendezvous.h"

namespace anygin::comm {

class Communicator;
class HangMonitor;
struct Window;

// Memory of another process of this host, mapped once however many communicators it shares with us.
struct PeerProcess {
  SharedMapping heap;
  HeapId heap_id;
  PeerPage page;
};

// Thread-safe. Never destroyed: threads of the program may use it while the process exits.
class ProcessState {
 public:
  static ProcessState& get();

  ControlCarrier& carrier() { return *carrier_; }
  ControlLoop& control_loop() { return carrier_->loop(); }
  HangMonitor& hang_monitor() { return *hang_monitor_; }
  uint64_t nonce() const { return nonce_; }
  // Of a communicator on a rank; never 0, never used twice in this process.
  uint64_t next_identity();

  // Ends by itself when its communicator is complete.
  void keep(std::unique_ptr<Root> root);

  // Nobody meets there: ends the root of this process that listens at `port`, if there is one.
  void close_place(uint16_t port);

  // Maps what the peer gave, unless it is mapped already. Takes ownership of both descriptors.
  Status add_peer(uint64_t nonce, const Gift& page, const Gift& heap);
  PeerProcess* peer(uint64_t nonce);

  // visit() comes to it: it has joined.
  void enlist(Communicator& communicator);
  // Its handle is one that programs may use.
  void admit(Communicator& communicator);
  // False if `communicator` is not alive: destroyed, aborted, or never one.
  bool is_alive(const void* communicator) const;
  // The caller alone ends the communicator from now on; null if somebody else does, or it is none.
  bool retire(Communicator* communicator);
  // Alive and ending ones; none is destroyed meanwhile. `visit` does not block.
  void visit(const std::function<void(Communicator&)>& visit) const;

  // Keeps an ended communicator until every rank of it in this process has ended; then gives all of them back.
  // Aborted ones stay for good: kernels may still hold their memory.
  std::vector<std::unique_ptr<Communicator>> bury(std::unique_ptr<Communicator> communicator);
  // visit() does not come to it any more: it is about to be destroyed.
  void forget(Communicator& communicator);
  // Destroys them, and what waited for this before, as soon as no kernel may use any of them: now, or at a later call.
  void free_when_unused(std::vector<std::unique_ptr<Communicator>> communicators);
  void keep_aborted(std::unique_ptr<Communicator> communicator);

  // Runs `work` on a thread of its own, and returns.
  void in_background(std::function<void()> work);

  // Windows that host functions find by their view.
  void add_window(const void* view, Window& window);
  void remove_window(const void* view);
  Window* window(const void* view) const;

 private:
  ProcessState();

  const uint64_t nonce_;
  ControlCarrier* const carrier_;
  std::unique_ptr<HangMonitor> hang_monitor_;
  mutable std::mutex mutex_;  // all below
  uint64_t last_identity_ = 0;
  std::vector<std::unique_ptr<Root>> roots_;
  std::map<uint64_t, std::unique_ptr<PeerProcess>> peers_;
  std::set<Communicator*> alive_;
  std::set<Communicator*> all_;
  std::map<std::string, std::vector<std::unique_ptr<Communicator>>> buried_;
  std::vector<std::vector<std::unique_ptr<Communicator>>> unused_soon_;  // ranks of one communicator together
  std::vector<std::unique_ptr<Communicator>> aborted_;
  std::map<const void*, Window*> windows_;
  struct Helper {
    std::shared_ptr<std::atomic<bool>> done;
    std::thread thread;
  };
  std::vector<Helper> helpers_;  // those that are done are joined when another starts
};

}  // namespace anygin::comm
