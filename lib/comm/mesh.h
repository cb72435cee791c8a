// SPDX-License-Identifier: Apache-2.0
// Connects every pair of ranks that a rendezvous has brought together: the higher rank to the lower one's listener.
// Both ends prove that they know the token; the kernel says which user and process is at the other end.
#pragma once

#include <vector>

#include "anygin/base/net_socket.h"
#include "anygin/comm/rendezvous.h"

namespace anygin::comm {

// A listener with a name that nobody can guess; the name goes into Member::listener.
struct MeshListener {
  Socket socket;
  std::string name;
};
Result<MeshListener> open_mesh_listener();

// One socket a rank, in rank order; invalid at the own place. Ends early when the root says that a rank failed.
Result<std::vector<Socket>> connect_mesh(const Meeting& meeting, Rank rank, const MeshListener& listener,
                                         const Token& token, uint64_t deadline_ns);

}  // namespace anygin::comm
