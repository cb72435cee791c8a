// SPDX-License-Identifier: Apache-2.0
// Two ends of a connection prove to each other that they know the token, by challenge; the token is never sent.
#pragma once

#include "anygin/base/net_socket.h"
#include "anygin/comm/unique_id.h"

namespace anygin::comm {

// Frames of the handshake: a length (u32), then the bytes. At most 16 MiB.
Status send_frame(const Socket& socket, std::string_view bytes, uint64_t deadline_ns);
Result<std::string> receive_frame(const Socket& socket, uint64_t deadline_ns);

// The side that accepted: challenges, checks, then answers the other's challenge. kInvalidUsage if the other end does
// not know the token. `context` goes into the proofs: a proof made for one place is worth nothing at another.
Status challenge_peer(const Socket& socket, const Token& token, std::string_view context, uint64_t deadline_ns);
// The side that connected. kInvalidUsage if it was refused, or if the other end cannot prove that it knows the token.
Status answer_challenge(const Socket& socket, const Token& token, std::string_view context, uint64_t deadline_ns);

}  // namespace anygin::comm
