// SPDX-License-Identifier: Apache-2.0
#include "anygin/comm/socket_carrier.h"

#include "anygin/base/env_real.h"
#include "anygin/base/time.h"
#include "anygin/comm/link.h"
#include "anygin/comm/meeting_place.h"
#include "anygin/comm/mesh.h"
#include "anygin/comm/rendezvous.h"

namespace anygin::comm {
namespace {

class SocketAssembly final : public Assembly {
 public:
  struct Parts {
    ControlThread& thread;
    MeshListener listener;
    Meeting meeting;
    Rank rank;
    Token token;
    Patience patience;
  };
  explicit SocketAssembly(Parts parts) : parts_(std::move(parts)) {}

  const std::vector<Member>& members() const override { return parts_.meeting.members; }
  void confirm() override { comm::confirm(parts_.meeting); }

  Result<std::vector<std::unique_ptr<ControlLink>>> connect(ControlLink::Receiver& receiver) override {
    const uint64_t wait = parts_.patience.give_up_after_ns;
    Result<std::vector<Socket>> sockets = connect_mesh(parts_.meeting, parts_.rank, parts_.listener, parts_.token,
                                                       wait == 0 ? kNever : monotonic_ns() + wait);
    if (!sockets.ok()) return sockets.status();
    std::vector<std::unique_ptr<ControlLink>> links(sockets->size());
    for (size_t peer = 0; peer < links.size(); ++peer) {
      if (static_cast<Rank>(peer) == parts_.rank) continue;
      links[peer] =
          std::make_unique<Link>(parts_.thread, receiver, static_cast<int>(peer), std::move((*sockets)[peer]));
    }
    return links;
  }

 private:
  Parts parts_;
};

}  // namespace

Result<UniqueId> SocketCarrier::open_place(const Options& options) {
  return open_meeting_place(options);
}

Status SocketCarrier::prepare(const UniqueId& id, Rank rank, const Options& options) {
  return prepare_meeting(id, rank, options);
}

Result<std::unique_ptr<Assembly>> SocketCarrier::assemble(const UniqueId& id, const Member& me, Patience patience) {
  Result<MeshListener> listener = open_mesh_listener();
  if (!listener.ok()) return listener.status();
  Member with_listener = me;
  with_listener.listener = listener->name;
  Result<Meeting> meeting = meet(id, with_listener, patience);
  if (!meeting.ok()) return meeting.status();
  return std::unique_ptr<Assembly>(std::make_unique<SocketAssembly>(
      SocketAssembly::Parts{thread_, std::move(*listener), std::move(*meeting), me.rank, id.token, patience}));
}

}  // namespace anygin::comm
