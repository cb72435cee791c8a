// SPDX-License-Identifier: Apache-2.0
#include "anygin/comm/proof.h"

#include <fmt/format.h>

#include "anygin/base/env_real.h"
#include "anygin/base/hmac_sha256.h"
#include "anygin/base/mutant.h"

namespace anygin::comm {
namespace {

constexpr uint32_t kFrameMax = 16u << 20;
constexpr size_t kNonceBytes = 32;

std::string draw_nonce() {
  std::string nonce(kNonceBytes, 0);
  draw_random(nonce.data(), nonce.size());
  return nonce;
}

std::string prove(const Token& token, std::string_view role, std::string_view context, std::string_view theirs,
                  std::string_view mine) {
  const std::string_view key(reinterpret_cast<const char*>(token.data()), token.size());
  const Digest digest = hmac_sha256(key, fmt::format("anygin 1 {} {}:{}{}", role, context, theirs, mine));
  return std::string(digest.begin(), digest.end());
}

Status wrong_token(std::string_view who) {
  return Status(Cause::kTokenWrong, "control plane",
                fmt::format("wrong token: {}; all ranks need the same ncclUniqueId, and the same ANYGIN_COMM_TOKEN if "
                            "NCCL_COMM_ID is set",
                            who));
}

}  // namespace

Status send_frame(const Socket& socket, std::string_view bytes, uint64_t deadline_ns) {
  const auto size = static_cast<uint32_t>(bytes.size());
  std::string frame(reinterpret_cast<const char*>(&size), sizeof(size));
  return send_all(socket, frame.append(bytes), deadline_ns);
}

Result<std::string> receive_frame(const Socket& socket, uint64_t deadline_ns) {
  uint32_t size = 0;
  ANYGIN_TRY(receive_all(socket, &size, sizeof(size), deadline_ns));
  if (size > kFrameMax) return Status(Cause::kProtocol, "control plane", "the other end does not speak our language");
  std::string bytes(size, 0);
  ANYGIN_TRY(receive_all(socket, bytes.data(), size, deadline_ns));
  return bytes;
}

Status challenge_peer(const Socket& socket, const Token& token, std::string_view context, uint64_t deadline_ns) {
  const std::string mine = draw_nonce();
  ANYGIN_TRY(send_frame(socket, mine, deadline_ns));
  Result<std::string> answer = receive_frame(socket, deadline_ns);
  if (!answer.ok()) return answer.status();
  const std::string theirs = answer->substr(0, std::min(kNonceBytes, answer->size()));
  const std::string_view proof = std::string_view(*answer).substr(theirs.size());
  if (!MUTANT(comm_token_unchecked) && !equal_in_constant_time(proof, prove(token, "joins", context, mine, theirs))) {
    (void)send_frame(socket, "", deadline_ns);
    return wrong_token("a process that connected does not know it");
  }
  return send_frame(socket, prove(token, "accepts", context, theirs, mine), deadline_ns);
}

Status answer_challenge(const Socket& socket, const Token& token, std::string_view context, uint64_t deadline_ns) {
  Result<std::string> theirs = receive_frame(socket, deadline_ns);
  if (!theirs.ok()) return theirs.status();
  const std::string mine = draw_nonce();
  ANYGIN_TRY(send_frame(socket, mine + prove(token, "joins", context, *theirs, mine), deadline_ns));
  Result<std::string> verdict = receive_frame(socket, deadline_ns);
  if (!verdict.ok()) return verdict.status();
  if (verdict->empty()) return wrong_token("the other end refused ours");
  if (!MUTANT(comm_token_unchecked) &&
      !equal_in_constant_time(*verdict, prove(token, "accepts", context, mine, *theirs))) {
    return wrong_token("the other end does not know ours");
  }
  return Status();
}

}  // namespace anygin::comm
