// SPDX-License-Identifier: Apache-2.0
// What MPI is to one process: its place in the world and its communicators. Every entry point asks process() for it:
// the one place to change when several ranks share a process.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "mpi.h"
#include "mpi_mesh.h"

namespace anygin::mpi {

struct Group {
  uint32_t context = 0;
  std::vector<int> members;  // ranks in the world, in the group's order
  int rank = 0;              // of this process
  int size() const { return static_cast<int>(members.size()); }
};

class Process {
 public:
  void start();
  void finish();
  bool started() const { return mesh_ != nullptr; }
  bool finished() const { return finished_; }

  // The group of a communicator. An unknown one is fatal.
  Group group(const char* function, MPI_Comm comm);
  Mesh& mesh() { return *mesh_; }
  MPI_Comm add(Group group);
  void drop(const char* function, MPI_Comm comm);
  // Contexts are agreed by all members: the highest that any of them offers, and all go on behind it.
  uint32_t next_context() const { return next_context_; }
  void use_context(uint32_t context) { next_context_ = context + 1; }
  // Of a rank in the world, by ANYGIN_TOPOLOGY.
  int node_of(int rank) const;

  // Says what is wrong and ends the job.
  [[noreturn]] void fail(const char* function, const std::string& text);
  [[noreturn]] void abort(int exit_code);

 private:
  std::unique_ptr<Mesh> mesh_;
  bool finished_ = false;
  std::mutex mutex_;  // groups_, next_comm_
  std::map<MPI_Comm, Group> groups_;
  MPI_Comm next_comm_ = MPI_COMM_SELF + 1;
  uint32_t next_context_ = 2;
};

Process& process();

// Collectives over a group; `bytes` are the same everywhere but in bcast, where the root's count.
void bcast(const Group& group, void* data, size_t bytes, int root);
// To the root, in rank order. Empty elsewhere.
std::vector<std::string> gather(const Group& group, const std::string& mine, int root);
std::vector<std::string> all_gather(const Group& group, const std::string& mine);
void barrier(const Group& group);

}  // namespace anygin::mpi
