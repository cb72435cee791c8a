// SPDX-License-Identifier: Apache-2.0
// The proxy's host half: windows become regions, contexts become views, an engine moves the descriptors.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "anygin/backends/backend.h"
#include "anygin/backends/transport.h"
#include "anygin/proxy/proxy_context_set.h"
#include "anygin/proxy/proxy_engine.h"

namespace anygin::proxy {

inline constexpr uint32_t kSignalsMax = 1u << 24;
inline constexpr uint32_t kCountersMax = 1u << 24;
inline constexpr uint32_t kDepthDefault = 512;

class ProxyBackend final : public Backend {
 public:
  // Takes the transport; the engine joins world().executor. What the opening refers to outlives the backend, but for
  // the options.
  ProxyBackend(std::unique_ptr<Transport> transport, const BackendOpening& opening);
  // Every ContextSet was destroyed before.
  ~ProxyBackend() override;

  std::string_view name() const override { return "proxy"; }
  BackendCapabilities capabilities() const override;
  Status register_window(WindowId id, char* base, uint64_t bytes, bool strict_ordering) override;
  void deregister_window(WindowId id) override;
  Result<std::unique_ptr<ContextSet>> create_contexts(const ContextRequest& request) override;
  Status last_error(Rank* peer) const override;
  void abort(AbortCause cause, Rank peer) override;
  bool busy() const override;

 private:
  class Contexts;

  Status check(const ContextRequest& request) const;
  // log2 of the ring size for a requested depth; 0 means the default.
  uint32_t depth_log2(uint32_t requested) const;

  std::unique_ptr<Transport> transport_;
  Bootstrap& bootstrap_;
  const Rank rank_;
  const int size_;
  const uint32_t depth_default_;
  ProxyEngine engine_;
  std::mutex quiet_mutex_;  // one at a time takes the engine from the executor
};

}  // namespace anygin::proxy
