// SPDX-License-Identifier: Apache-2.0
#include "mpi_process.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>

#include "anygin/base/options.h"

namespace anygin::mpi {
namespace {

constexpr int kCollective = -2;  // a tag that programs cannot use

}  // namespace

Process& process() {
  static auto* const instance = new Process();  // threads may use it while the process exits
  return *instance;
}

void Process::start() {
  if (mesh_ || finished_) fail("MPI_Init", "called twice");
  Result<std::unique_ptr<Mesh>> mesh = Mesh::join();
  if (!mesh.ok()) fail("MPI_Init", mesh.status().text());
  mesh_ = std::move(*mesh);
  Group world;
  world.members.resize(static_cast<size_t>(mesh_->size()));
  std::iota(world.members.begin(), world.members.end(), 0);
  world.rank = mesh_->rank();
  groups_[MPI_COMM_WORLD] = world;
  groups_[MPI_COMM_SELF] = {1, {mesh_->rank()}, 0};
}

void Process::finish() {
  barrier(group("MPI_Finalize", MPI_COMM_WORLD));
  finished_ = true;
  mesh_->leave();
}

Group Process::group(const char* function, MPI_Comm comm) {
  if (!mesh_) fail(function, "called before MPI_Init");
  if (finished_) fail(function, "called after MPI_Finalize");
  const std::lock_guard lock(mutex_);
  const auto found = groups_.find(comm);
  if (found == groups_.end()) fail(function, fmt::format("{} is no communicator, or it was freed", comm));
  return found->second;
}

MPI_Comm Process::add(Group group) {
  const std::lock_guard lock(mutex_);
  groups_[next_comm_] = std::move(group);
  return next_comm_++;
}

void Process::drop(const char* function, MPI_Comm comm) {
  (void)group(function, comm);
  if (comm == MPI_COMM_WORLD || comm == MPI_COMM_SELF) fail(function, "MPI's own communicators cannot be freed");
  const std::lock_guard lock(mutex_);
  groups_.erase(comm);
}

int Process::node_of(int rank) const {
  int node = 0, first = 0;
  for (int ranks : options().topology.ranks_of_node) {
    if (rank < first + ranks) return node;
    first += ranks;
    ++node;
  }
  return node;
}

void Process::fail(const char* function, const std::string& text) {
  fmt::print(stderr, "mpi: {}: {}\n", function, text);
  abort(1);
}

void Process::abort(int exit_code) {
  if (mesh_) mesh_->tell_abort(exit_code);
  std::fflush(nullptr);
  std::_Exit(exit_code);
}

std::vector<std::string> gather(const Group& group, const std::string& mine, int root) {
  Mesh& mesh = process().mesh();
  if (group.rank != root) {
    mesh.send(group.members[static_cast<size_t>(root)], {group.context, kAny, kCollective}, mine);
    return {};
  }
  std::vector<std::string> all;
  for (int rank = 0; rank < group.size(); ++rank) {
    const int from = group.members[static_cast<size_t>(rank)];
    all.push_back(rank == root ? mine : mesh.receive({group.context, from, kCollective}).bytes);
  }
  return all;
}

void bcast(const Group& group, void* data, size_t bytes, int root) {
  Mesh& mesh = process().mesh();
  if (group.rank != root) {
    const Letter letter = mesh.receive({group.context, group.members[static_cast<size_t>(root)], kCollective});
    if (letter.bytes.size() != bytes) {
      process().fail("collective call", fmt::format("rank {} brings {} bytes, rank {} expects {}", root,
                                                    letter.bytes.size(), group.rank, bytes));
    }
    std::memcpy(data, letter.bytes.data(), bytes);
    return;
  }
  for (int rank = 0; rank < group.size(); ++rank) {
    if (rank == root) continue;
    mesh.send(group.members[static_cast<size_t>(rank)], {group.context, kAny, kCollective},
              std::string(static_cast<const char*>(data), bytes));
  }
}

std::vector<std::string> all_gather(const Group& group, const std::string& mine) {
  std::vector<std::string> all = gather(group, mine, 0);
  std::string joined(mine.size() * group.members.size(), '\0');
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].size() != mine.size()) {
      process().fail("collective call",
                     fmt::format("rank {} brings {} bytes, rank 0 {}", i, all[i].size(), mine.size()));
    }
    joined.replace(i * mine.size(), mine.size(), all[i]);
  }
  bcast(group, joined.data(), joined.size(), 0);
  all.resize(group.members.size());
  for (size_t i = 0; i < all.size(); ++i) all[i] = joined.substr(i * mine.size(), mine.size());
  return all;
}

void barrier(const Group& group) {
  (void)all_gather(group, "");
}

}  // namespace anygin::mpi
