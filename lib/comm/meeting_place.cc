// SPDX-License-Identifier: Apache-2.0
#include "anygin/comm/meeting_place.h"

#include <fmt/format.h>

#include <atomic>

#include "anygin/base/env_real.h"
#include "anygin/base/hmac_sha256.h"
#include "anygin/base/log.h"
#include "anygin/comm/process_state.h"
#include "anygin/comm/rendezvous.h"

namespace anygin::comm {
namespace {

constexpr const char* kLoopback = "127.0.0.1";
constexpr uint64_t kPlaceTakenNs = 3'000'000'000;  // an earlier root at the same place may still be ending
constexpr uint64_t kRetryNs = 10'000'000;

Result<UniqueId> agreed_place(const Options& options) {
  UniqueId id;
  id.root_is_rank0 = true;
  ANYGIN_TRY(parse_host_port(options.nccl_comm_id, id));
  if (!options.comm_token.empty()) {
    Result<Token> token = parse_token(options.comm_token);
    if (!token.ok()) return token.status();
    id.token = *token;
    return id;
  }
  if (id.host.rfind("127.", 0) != 0) {
    return Status(
        Cause::kTokenInvalid, "NCCL_COMM_ID",
        fmt::format("{} is not a loopback address: set ANYGIN_COMM_TOKEN to {} hexadecimal digits on all ranks",
                    id.host, 2 * kTokenBytes));
  }
  log(LogLevel::kWarn, "NCCL_COMM_ID without ANYGIN_COMM_TOKEN: any user of this machine may join at {}:{}", id.host,
      id.port);
  const Digest derived = sha256(fmt::format("anygin meeting place {}:{}", id.host, id.port));
  std::copy(derived.begin(), derived.end(), id.token.begin());
  return id;
}

}  // namespace

Result<UniqueId> open_meeting_place(const Options& options) {
  if (!options.nccl_comm_id.empty()) return agreed_place(options);
  UniqueId id;
  id.host = kLoopback;
  draw_random(id.token.data(), id.token.size());
  Result<std::unique_ptr<Root>> root = Root::start(id.host, 0, id.token, join_patience(options.hang_timeout_ns));
  if (!root.ok()) return root.status();
  id.port = (*root)->port();
  ProcessState::get().keep(std::move(*root));
  return id;
}

Status prepare_meeting(const UniqueId& id, int rank, const Options& options) {
  if (!id.root_is_rank0 || rank != 0) return Status();
  const uint64_t deadline = monotonic_ns() + kPlaceTakenNs;
  while (true) {
    Result<std::unique_ptr<Root>> root =
        Root::start(id.host, id.port, id.token, join_patience(options.hang_timeout_ns));
    if (root.ok()) {
      ProcessState::get().keep(std::move(*root));
      return Status();
    }
    if (monotonic_ns() >= deadline) return root.status();
    std::atomic<uint32_t> nobody_rings{0};
    futex_wait(&nobody_rings, 0, kRetryNs);
  }
}

}  // namespace anygin::comm
