// SPDX-License-Identifier: Apache-2.0
// MPI's functions: the process, and its communicators.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "anygin/base/env_real.h"
#include "mpi_process.h"
#include "mpi_values.h"

namespace anygin::mpi {
namespace {

struct Choice {
  int color, key;
  uint32_t context;
};

// A group of those that chose the same color, by key and then by rank.
MPI_Comm split(const Group& parent, int color, int key) {
  const Choice mine{color, key, process().next_context()};
  const std::vector<std::string> all =
      all_gather(parent, std::string(reinterpret_cast<const char*>(&mine), sizeof mine));
  uint32_t context = 0;
  std::vector<std::pair<int, int>> chosen;  // key, rank in the parent
  for (int rank = 0; rank < parent.size(); ++rank) {
    Choice choice;
    std::memcpy(&choice, all[static_cast<size_t>(rank)].data(), sizeof choice);
    context = std::max(context, choice.context);
    if (choice.color == color) chosen.emplace_back(choice.key, rank);
  }
  process().use_context(context);
  if (color == MPI_UNDEFINED) return MPI_COMM_NULL;
  std::sort(chosen.begin(), chosen.end());
  Group group;
  group.context = context;
  for (const auto& [unused, rank] : chosen) {
    if (rank == parent.rank) group.rank = group.size();
    group.members.push_back(parent.members[static_cast<size_t>(rank)]);
  }
  return process().add(std::move(group));
}

int copy_text(const std::string& text, char* out, int* length) {
  std::memcpy(out, text.c_str(), text.size() + 1);
  *length = static_cast<int>(text.size());
  return MPI_SUCCESS;
}

}  // namespace
}  // namespace anygin::mpi

using anygin::mpi::process;

extern "C" {

int MPI_Init(int*, char***) {
  process().start();
  return MPI_SUCCESS;
}

int MPI_Init_thread(int* argc, char*** argv, int, int* provided) {
  *provided = MPI_THREAD_MULTIPLE;
  return MPI_Init(argc, argv);
}

int MPI_Initialized(int* flag) {
  *flag = process().started() ? 1 : 0;
  return MPI_SUCCESS;
}

int MPI_Finalize(void) {
  process().finish();
  return MPI_SUCCESS;
}

int MPI_Finalized(int* flag) {
  *flag = process().finished() ? 1 : 0;
  return MPI_SUCCESS;
}

int MPI_Abort(MPI_Comm, int exit_code) {
  process().abort(exit_code);
}

double MPI_Wtime(void) {
  return static_cast<double>(anygin::monotonic_ns()) * 1e-9;
}

int MPI_Error_string(int error, char* text, int* length) {
  return anygin::mpi::copy_text(error == MPI_SUCCESS ? "no error" : fmt::format("MPI error {}", error), text, length);
}

int MPI_Get_processor_name(char* name, int* length) {
  char host[MPI_MAX_PROCESSOR_NAME] = {};
  (void)gethostname(host, sizeof host - 1);
  return anygin::mpi::copy_text(host, name, length);
}

int MPI_Type_size(MPI_Datatype type, int* bytes) {
  *bytes = static_cast<int>(anygin::mpi::size_of(type));
  return *bytes > 0 ? MPI_SUCCESS : MPI_ERR_ARG;
}

int MPI_Comm_rank(MPI_Comm comm, int* rank) {
  *rank = process().group("MPI_Comm_rank", comm).rank;
  return MPI_SUCCESS;
}

int MPI_Comm_size(MPI_Comm comm, int* size) {
  *size = process().group("MPI_Comm_size", comm).size();
  return MPI_SUCCESS;
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* copy) {
  *copy = anygin::mpi::split(process().group("MPI_Comm_dup", comm), 0, 0);
  return MPI_SUCCESS;
}

int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* part) {
  *part = anygin::mpi::split(process().group("MPI_Comm_split", comm), color, key);
  return MPI_SUCCESS;
}

int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info, MPI_Comm* part) {
  const anygin::mpi::Group parent = process().group("MPI_Comm_split_type", comm);
  if (type != MPI_COMM_TYPE_SHARED && type != MPI_UNDEFINED) {
    process().fail("MPI_Comm_split_type", fmt::format("type {}; right is MPI_COMM_TYPE_SHARED or MPI_UNDEFINED", type));
  }
  const int node = process().node_of(process().mesh().rank());
  *part = anygin::mpi::split(parent, type == MPI_UNDEFINED ? MPI_UNDEFINED : node, key);
  return MPI_SUCCESS;
}

int MPI_Comm_free(MPI_Comm* comm) {
  process().drop("MPI_Comm_free", *comm);
  *comm = MPI_COMM_NULL;
  return MPI_SUCCESS;
}
}
