// SPDX-License-Identifier: Apache-2.0
// The host half of a backend: capabilities, windows, contexts, errors. lib/comm owns one per communicator and is the
// only caller. An unmet requirement is kInvalidUsage with the reason.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "anygin/base/bootstrap.h"
#include "anygin/base/engine.h"
#include "anygin/base/ids.h"
#include "anygin/base/options.h"
#include "anygin/base/status.h"
#include "anygin/base/wait.h"

namespace anygin {

struct BackendCapabilities {
  bool strong_signals = false;
  bool va_signals = false;
  bool get = false;
  bool hints = false;                           // the NIC keeps strong and weak apart
  bool flushes_all_puts_on_any_signal = false;  // false unless proven
  uint32_t signals_max = 0;                     // per context
  uint32_t counters_max = 0;
  uint32_t contexts_max = 0;
  uint32_t depth_default = 0;
};

struct ContextRequest {
  uint32_t contexts = 0;
  uint32_t signals = 0;   // per context
  uint32_t counters = 0;  // per context
  uint32_t depth = 0;     // 0: the backend's default
  int traffic_class = 0;
};

// Contexts of one device communicator. The kernel gets `handle`: plain views in memory it can reach.
// Destroying it drains nothing; the kernels that used it have ended.
class ContextSet {
 public:
  virtual ~ContextSet() = default;
  virtual void* handle() const = 0;
};

class Backend {
 public:
  virtual ~Backend() = default;

  virtual std::string_view name() const = 0;
  virtual BackendCapabilities capabilities() const = 0;
  // Collective. The window is known to device halves as `id` from now on.
  virtual Status register_window(WindowId id, char* base, uint64_t bytes, bool strict_ordering) = 0;
  // Local; no kernel uses the window any more.
  virtual void deregister_window(WindowId id) = 0;
  // Collective. All cells zero.
  virtual Result<std::unique_ptr<ContextSet>> create_contexts(const ContextRequest& request) = 0;
  // The first error met, kOk if none; sticky. `peer` (may be null) gets the rank it concerns, or -1. Any thread.
  virtual Status last_error(Rank* peer) const = 0;
  // Ends every wait on the backend's contexts within 1 s and fails what is in flight (P32). Any thread, idempotent.
  virtual void abort(AbortCause cause, Rank peer) = 0;
  // Is anything posted by kernels still on its way? Any thread.
  virtual bool busy() const = 0;
};

namespace verbs {
class Nic;
}

// What a backend reports to when an operation fails or a kernel misuses it. Called by the engine.
class BackendListener {
 public:
  virtual ~BackendListener() = default;
  virtual void on_error(AbortCause cause, Rank peer, const Status& status) = 0;
};

struct BackendOpening {
  Bootstrap& bootstrap;
  BackendListener& listener;
  // The abort word that waits of this communicator see; the backend reads it, lib/comm sets it.
  uint32_t* abort_word = nullptr;
  const Options& options;
  // The communicator's NIC, which the host's own transfers also go through; null: the backend opens one.
  std::shared_ptr<verbs::Nic> nic;
};

// proxy/proxy_backend.cc. GDAKI and GPI come with their issues; lib/comm/backend_select.cc refuses them by name.
Result<std::unique_ptr<Backend>> open_proxy_backend(const BackendOpening& opening);

}  // namespace anygin
