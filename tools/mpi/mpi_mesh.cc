// SPDX-License-Identifier: Apache-2.0
#include "mpi_mesh.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>

#include "anygin/base/env_real.h"
#include "anygin/base/options.h"
#include "anygin/comm/process_state.h"

namespace anygin::mpi {
namespace {

// A number of the environment; -1 if it is not set or none.
int number_of(const char* variable) {
  const std::string text = environment_variable(variable);
  int value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() ? value : -1;
}

bool fits(const Envelope& wanted, const Envelope& letter) {
  return wanted.context == letter.context && (wanted.from == kAny || wanted.from == letter.from) &&
         (wanted.tag == kAny || wanted.tag == letter.tag);
}

}  // namespace

Result<std::unique_ptr<Mesh>> Mesh::join() {
  const int size = std::max(1, number_of("WORLD_SIZE"));
  const int rank = size == 1 ? 0 : number_of("RANK");
  if (rank < 0 || rank >= size) {
    return Status(Cause::kEnvironment, "MPI_Init",
                  fmt::format("WORLD_SIZE is {} but RANK is no rank of it; start the program with `anygin run -n {}`",
                              size, size));
  }
  std::unique_ptr<Mesh> mesh(new Mesh(rank, size));
  if (size == 1) return mesh;
  Result<Options> here = parse_options(process_environment());
  if (!here.ok()) return here.status();
  if (here->nccl_comm_id.empty()) {
    return Status(
        Cause::kEnvironment, "MPI_Init",
        "RANK and WORLD_SIZE are set but not NCCL_COMM_ID, where ranks meet; start the program with `anygin run`");
  }
  // MPI uses this meeting place up: the program draws ids of communicators itself and hands them around. Not set any
  // more when the library's own options are parsed, if MPI_Init comes first.
  unsetenv("NCCL_COMM_ID");
  Result<comm::UniqueId> id = comm::ProcessState::get().carrier().open_place(*here);
  if (!id.ok()) return id.status();
  ANYGIN_TRY(comm::ProcessState::get().carrier().prepare(*id, rank, *here));
  ANYGIN_TRY(mesh->connect(*id, here->hang_timeout_ns));
  return mesh;
}

Status Mesh::connect(const comm::UniqueId& id, uint64_t hang_timeout_ns) {
  comm::Member me;
  me.rank = rank_;
  me.size = size_;
  me.pid = process_id();
  me.start_time = process_start_time();
  me.process_nonce = comm::ProcessState::get().nonce();
  me.agreed = {{"what is joined", "MPI_COMM_WORLD"}};
  Result<std::unique_ptr<comm::Assembly>> assembly =
      comm::ProcessState::get().carrier().assemble(id, me, comm::join_patience(hang_timeout_ns));
  if (!assembly.ok()) return assembly.status();
  ANYGIN_TRY(comm::check_agreement((*assembly)->members()));
  Result<std::vector<std::unique_ptr<comm::ControlLink>>> links = (*assembly)->connect(*this);
  if (!links.ok()) return links.status();
  links_ = std::move(*links);
  for (auto& link : links_) {
    if (link) link->start();
  }
  (*assembly)->confirm();
  return Status();
}

void Mesh::send(int to, const Envelope& envelope, std::string bytes) {
  if (to == rank_) {
    const std::lock_guard lock(mutex_);
    letters_.push_back({{envelope.context, rank_, envelope.tag}, std::move(bytes)});
    arrived_.notify_all();
    return;
  }
  comm::Message message;
  message.sequence = uint64_t{envelope.context} << 32 | static_cast<uint32_t>(envelope.tag);
  message.bytes = std::move(bytes);
  (void)links_[static_cast<size_t>(to)]->send(message);  // to one that is gone: who needs its answer finds out
}

std::list<Letter>::iterator Mesh::find(const Envelope& wanted) {
  return std::find_if(letters_.begin(), letters_.end(),
                      [&](const Letter& letter) { return fits(wanted, letter.envelope); });
}

bool Mesh::can_still_come(const Envelope& wanted) const {
  if (wanted.from != kAny) return !ended_[static_cast<size_t>(wanted.from)];
  return static_cast<size_t>(std::count(ended_.begin(), ended_.end(), true)) + 1 < ended_.size();
}

Letter Mesh::receive(const Envelope& wanted) {
  std::unique_lock lock(mutex_);
  auto found = find(wanted);
  while (found == letters_.end()) {
    if (!can_still_come(wanted)) {
      fmt::print(stderr, "mpi: rank {} waits for a message of rank {}, which ended without sending it\n", rank_,
                 wanted.from);
      std::fflush(nullptr);
      std::_Exit(1);
    }
    arrived_.wait(lock);
    found = find(wanted);
  }
  Letter letter = std::move(*found);
  letters_.erase(found);
  return letter;
}

void Mesh::broadcast(const comm::Message& message) {
  for (auto& link : links_) {
    if (link) (void)link->send(message);
  }
}

void Mesh::leave() {
  comm::Message message;
  message.type = comm::MessageType::kLeave;
  broadcast(message);
}

void Mesh::tell_abort(int exit_code) {
  comm::Message message;
  message.type = comm::MessageType::kAbort;
  message.sequence = static_cast<uint32_t>(exit_code);
  broadcast(message);
}

void Mesh::on_message(int peer, comm::Message message) {
  if (message.type == comm::MessageType::kAbort) {
    fmt::print(stderr, "mpi: rank {} ends, because rank {} called MPI_Abort\n", rank_, peer);
    std::fflush(nullptr);
    std::_Exit(static_cast<int>(message.sequence));
  }
  const std::lock_guard lock(mutex_);
  if (message.type == comm::MessageType::kLeave) {
    ended_[static_cast<size_t>(peer)] = true;
  } else {
    const auto tag = static_cast<int>(static_cast<uint32_t>(message.sequence));
    letters_.push_back({{static_cast<uint32_t>(message.sequence >> 32), peer, tag}, std::move(message.bytes)});
  }
  arrived_.notify_all();
}

void Mesh::on_end(int peer) {
  const std::lock_guard lock(mutex_);
  ended_[static_cast<size_t>(peer)] = true;
  arrived_.notify_all();
}

}  // namespace anygin::mpi
