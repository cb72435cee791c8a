// SPDX-License-Identifier: Apache-2.0
// A software NIC of one rank, ready to use: the HCA core, its port on a fabric, and the verbs face over it.
//
// How a transport uses it:
//   auto nic = EmulatedNic::open(bootstrap, options);            collective
//   const verbs::VerbsTable& v = verbs::emulated_verbs();        functions on libibverbs' own structs
//   ibv_context* c = v.open_device((*nic)->device());            port 1 is active, its GID 0 addresses this NIC
// (v.get_device_list() lists all NICs that are open in this process, those of other ranks too.)
// Queue pairs are connected as on hardware: modify_qp to RTR with the peer's GID and queue-pair number.
// The NIC accepts hints: ibv_send_wr::send_flags bit 31 (verbs::kSendMayPass).
#pragma once

#include <memory>

#include "anygin/base/bootstrap.h"
#include "anygin/base/options.h"
#include "anygin/base/status.h"
#include "anygin/verbs/verbs_table.h"

namespace anygin::emulated {

class EmulatedNic {
 public:
  // Collective over the ranks of `bootstrap`. Fails where ranks disagree on the profile or a peer cannot be reached.
  static Result<std::unique_ptr<EmulatedNic>> open(Bootstrap& bootstrap, const Options& options);
  virtual ~EmulatedNic() = default;  // every object made on its device was destroyed

  // "anygin_emu<n>"; lives as long as this.
  virtual ibv_device* device() = 0;
  // The peer is dead (end of its control socket): what is in flight to it fails with IBV_WC_RETRY_EXC_ERR, nothing
  // posted later succeeds. Any thread, idempotent.
  virtual void fail_peer(Rank peer) = 0;
  // Posted and not completed, or accepted from a peer and not yet visible? Any thread, cheap.
  virtual bool busy() const = 0;
};

}  // namespace anygin::emulated
