// SPDX-License-Identifier: Apache-2.0
#include "anygin/comm/mesh.h"

#include <fmt/format.h>

#include "anygin/base/env_real.h"
#include "anygin/base/log.h"
#include "anygin/comm/proof.h"
#include "anygin/comm/wire_bytes.h"

namespace anygin::comm {
namespace {

constexpr uint64_t kHandshakeNs = 10'000'000'000;

std::string place_of(Rank accepts, Rank connects) {
  return fmt::format("mesh {} {}", accepts, connects);
}

Status failed(Rank peer, const Member& member, std::string_view why) {
  return Status(Cause::kPeerUnreachable, "control plane",
                fmt::format("cannot connect to rank {} (process {}): {}", peer, member.pid, why));
}

// A pid of 0 is a process of another pid namespace.
Status check_owner(const Socket& socket, const Member& member) {
  Result<PeerCredentials> owner = credentials_of(socket);
  if (!owner.ok()) return owner.status();
  if (owner->uid == own_user_id() && (owner->pid == member.pid || owner->pid == 0)) return Status();
  return failed(member.rank, member, fmt::format("process {} of user {} is at its place", owner->pid, owner->uid));
}

Status wait_for(const Socket& socket, const Meeting& meeting, uint64_t deadline_ns) {
  switch (wait_readable(socket, &meeting.connection, deadline_ns)) {
    case Readable::kSocket:
      return Status();
    case Readable::kWatched:
      return failure_of(meeting);
    case Readable::kTimeout:
      break;
  }
  return Status(Cause::kJoinTimeout, "control plane", "not all ranks connected to each other in time");
}

// Who has connected; a stranger, or a rank whose place is taken, is an error that concerns only that connection.
Result<Rank> receive_peer(const Socket& socket, const Meeting& meeting, Rank rank, const Token& token) {
  const uint64_t deadline = monotonic_ns() + kHandshakeNs;
  Result<std::string> hello = receive_frame(socket, deadline);
  if (!hello.ok()) return hello.status();
  ByteReader in(*hello);
  const auto peer = in.number<Rank>();
  if (!in.ok() || peer <= rank || static_cast<size_t>(peer) >= meeting.members.size()) {
    return Status(Cause::kJoinRefused, "control plane", "a connection names no rank that should connect");
  }
  ANYGIN_TRY(check_owner(socket, meeting.members[static_cast<size_t>(peer)]));
  ANYGIN_TRY(challenge_peer(socket, token, place_of(rank, peer), deadline));
  return peer;
}

Status connect_to_lower(std::vector<Socket>& sockets, const Meeting& meeting, Rank rank, const Token& token,
                        uint64_t deadline_ns) {
  const auto member = [&](Rank peer) -> const Member& { return meeting.members[static_cast<size_t>(peer)]; };
  for (Rank peer = 0; peer < rank; ++peer) {
    Result<Socket> socket = connect_unix(member(peer).listener);
    if (!socket.ok()) return failed(peer, member(peer), socket.status().text());
    ANYGIN_TRY(check_owner(*socket, member(peer)));
    ANYGIN_TRY(send_frame(*socket, ByteWriter().number(rank).take(), monotonic_ns() + kHandshakeNs));
    sockets[static_cast<size_t>(peer)] = std::move(*socket);
  }
  for (Rank peer = 0; peer < rank; ++peer) {
    const Socket& socket = sockets[static_cast<size_t>(peer)];
    ANYGIN_TRY(wait_for(socket, meeting, deadline_ns));
    const Status met = answer_challenge(socket, token, place_of(peer, rank), monotonic_ns() + kHandshakeNs);
    if (!met.ok()) return failed(peer, member(peer), met.text());
  }
  return Status();
}

}  // namespace

Result<MeshListener> open_mesh_listener() {
  const uint64_t first = draw_random_number();
  const uint64_t second = draw_random_number();
  MeshListener listener;
  listener.name = fmt::format("anygin-{:016x}{:016x}", first, second);
  Result<Socket> socket = listen_unix(listener.name);
  if (!socket.ok()) return socket.status();
  listener.socket = std::move(*socket);
  return listener;
}

Result<std::vector<Socket>> connect_mesh(const Meeting& meeting, Rank rank, const MeshListener& listener,
                                         const Token& token, uint64_t deadline_ns) {
  const size_t size = meeting.members.size();
  std::vector<Socket> sockets(size);
  ANYGIN_TRY(connect_to_lower(sockets, meeting, rank, token, deadline_ns));
  for (size_t met = static_cast<size_t>(rank) + 1; met < size;) {
    ANYGIN_TRY(wait_for(listener.socket, meeting, deadline_ns));
    Result<Socket> socket = accept_connection(listener.socket, monotonic_ns() + kHandshakeNs);
    if (!socket.ok()) return socket.status();
    Result<Rank> peer = receive_peer(*socket, meeting, rank, token);
    if (!peer.ok()) {
      log(LogLevel::kWarn, "rank {} refused a connection: {}", rank, peer.status().message());
      continue;
    }
    Socket& place = sockets[static_cast<size_t>(*peer)];
    if (place.valid()) continue;
    place = std::move(*socket);
    ++met;
  }
  return sockets;
}

}  // namespace anygin::comm
