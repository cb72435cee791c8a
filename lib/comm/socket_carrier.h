// SPDX-License-Identifier: Apache-2.0
// The control carrier of production: a rendezvous over TCP, Unix sockets between the ranks of a host, one thread that
// reads them all.
#pragma once

#include "anygin/comm/control_carrier.h"
#include "anygin/comm/control_thread.h"

namespace anygin::comm {

class SocketCarrier final : public ControlCarrier {
 public:
  ControlLoop& loop() override { return thread_; }
  Result<UniqueId> open_place(const Options& options) override;
  Status prepare(const UniqueId& id, Rank rank, const Options& options) override;
  Result<std::unique_ptr<Assembly>> assemble(const UniqueId& id, const Member& me, Patience patience) override;

 private:
  ControlThread thread_;
};

}  // namespace anygin::comm
