// SPDX-License-Identifier: Apache-2.0
// MPI's functions: messages between two ranks, and collectives.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "mpi_process.h"
#include "mpi_values.h"

namespace anygin::mpi {
namespace {

size_t bytes_of(const char* function, int count, MPI_Datatype type) {
  const size_t size = size_of(type);
  if (size == 0) process().fail(function, fmt::format("{} is no datatype of this libmpi", type));
  if (count < 0) process().fail(function, fmt::format("count {}; right is 0 or more", count));
  return size * static_cast<size_t>(count);
}

void check_rank(const char* function, const Group& group, int rank) {
  if (rank >= 0 && rank < group.size()) return;
  process().fail(function, fmt::format("rank {} of a communicator of {} ranks", rank, group.size()));
}

std::string copy_of(const void* data, size_t bytes) {
  return std::string(static_cast<const char*>(data), bytes);
}

void send(const char* function, const void* data, size_t bytes, int to, int tag, const Group& group) {
  if (to == MPI_PROC_NULL) return;
  check_rank(function, group, to);
  if (tag < 0) process().fail(function, fmt::format("tag {}; right is 0 or more", tag));
  process().mesh().send(group.members[static_cast<size_t>(to)], {group.context, kAny, tag}, copy_of(data, bytes));
}

// Without a sender anybody may come: another group has another context.
void receive(const char* function, void* data, size_t bytes, int from, int tag, const Group& group,
             MPI_Status* status) {
  if (from == MPI_PROC_NULL) return;
  if (from != MPI_ANY_SOURCE) check_rank(function, group, from);
  const int sender = from == MPI_ANY_SOURCE ? kAny : group.members[static_cast<size_t>(from)];
  const Letter letter = process().mesh().receive({group.context, sender, tag});
  if (letter.bytes.size() > bytes) {
    process().fail(function, fmt::format("a message of {} bytes for a buffer of {}", letter.bytes.size(), bytes));
  }
  std::memcpy(data, letter.bytes.data(), letter.bytes.size());
  if (status == MPI_STATUS_IGNORE) return;
  const auto place = std::find(group.members.begin(), group.members.end(), letter.envelope.from);
  *status = {static_cast<int>(place - group.members.begin()), letter.envelope.tag, MPI_SUCCESS,
             static_cast<long long>(letter.bytes.size())};
}

struct Reduction {
  const char* function;
  int count;
  MPI_Datatype type;
  MPI_Op op;
};

// The root's result, in rank order: the same bits whenever it is computed. Empty elsewhere.
std::string reduce_to(const Reduction& wanted, const void* data, int root, const Group& group) {
  const size_t bytes = bytes_of(wanted.function, wanted.count, wanted.type);
  std::vector<std::string> all = gather(group, copy_of(data, bytes), root);
  for (size_t rank = 1; rank < all.size(); ++rank) {
    if (all[rank].size() != bytes ||
        !reduce(wanted.op, wanted.type, all[0].data(), all[rank].data(), static_cast<size_t>(wanted.count))) {
      process().fail(wanted.function, fmt::format("operation {} on {} values of datatype {} is not known", wanted.op,
                                                  wanted.count, wanted.type));
    }
  }
  return all.empty() ? "" : all[0];
}

}  // namespace
}  // namespace anygin::mpi

using anygin::mpi::bytes_of;
using anygin::mpi::Group;
using anygin::mpi::process;

extern "C" {

int MPI_Send(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  const Group group = process().group("MPI_Send", comm);
  anygin::mpi::send("MPI_Send", data, bytes_of("MPI_Send", count, type), to, tag, group);
  return MPI_SUCCESS;
}

int MPI_Recv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status) {
  const Group group = process().group("MPI_Recv", comm);
  anygin::mpi::receive("MPI_Recv", data, bytes_of("MPI_Recv", count, type), from, tag, group, status);
  return MPI_SUCCESS;
}

int MPI_Sendrecv(const void* data, int count, MPI_Datatype type, int to, int tag, void* received, int received_count,
                 MPI_Datatype received_type, int from, int received_tag, MPI_Comm comm, MPI_Status* status) {
  MPI_Send(data, count, type, to, tag, comm);
  return MPI_Recv(received, received_count, received_type, from, received_tag, comm, status);
}

int MPI_Get_count(const MPI_Status* status, MPI_Datatype type, int* count) {
  const size_t size = bytes_of("MPI_Get_count", 1, type);
  *count = static_cast<int>(static_cast<size_t>(status->anygin_bytes) / size);
  return MPI_SUCCESS;
}

int MPI_Barrier(MPI_Comm comm) {
  anygin::mpi::barrier(process().group("MPI_Barrier", comm));
  return MPI_SUCCESS;
}

int MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  const Group group = process().group("MPI_Bcast", comm);
  anygin::mpi::check_rank("MPI_Bcast", group, root);
  anygin::mpi::bcast(group, data, bytes_of("MPI_Bcast", count, type), root);
  return MPI_SUCCESS;
}

int MPI_Gather(const void* data, int count, MPI_Datatype type, void* all, int all_count, MPI_Datatype all_type,
               int root, MPI_Comm comm) {
  const Group group = process().group("MPI_Gather", comm);
  anygin::mpi::check_rank("MPI_Gather", group, root);
  const bool in_place = data == MPI_IN_PLACE;
  const size_t bytes = in_place ? bytes_of("MPI_Gather", all_count, all_type) : bytes_of("MPI_Gather", count, type);
  auto* const out = static_cast<char*>(all);
  const char* const mine = in_place ? out + bytes * static_cast<size_t>(group.rank) : static_cast<const char*>(data);
  const auto parts = anygin::mpi::gather(group, anygin::mpi::copy_of(mine, bytes), root);
  for (size_t rank = 0; rank < parts.size(); ++rank) std::memcpy(out + rank * bytes, parts[rank].data(), bytes);
  return MPI_SUCCESS;
}

int MPI_Allgather(const void* data, int count, MPI_Datatype type, void* all, int all_count, MPI_Datatype all_type,
                  MPI_Comm comm) {
  MPI_Gather(data, count, type, all, all_count, all_type, 0, comm);
  const Group group = process().group("MPI_Allgather", comm);
  const size_t bytes = bytes_of("MPI_Allgather", all_count, all_type) * group.members.size();
  anygin::mpi::bcast(group, all, bytes, 0);
  return MPI_SUCCESS;
}

int MPI_Reduce(const void* data, void* result, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
  const Group group = process().group("MPI_Reduce", comm);
  anygin::mpi::check_rank("MPI_Reduce", group, root);
  const void* const mine = data == MPI_IN_PLACE ? result : data;
  const std::string value = anygin::mpi::reduce_to({"MPI_Reduce", count, type, op}, mine, root, group);
  if (group.rank == root) std::memcpy(result, value.data(), value.size());
  return MPI_SUCCESS;
}

int MPI_Allreduce(const void* data, void* result, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  const Group group = process().group("MPI_Allreduce", comm);
  const void* const mine = data == MPI_IN_PLACE ? result : data;
  std::string value = anygin::mpi::reduce_to({"MPI_Allreduce", count, type, op}, mine, 0, group);
  value.resize(bytes_of("MPI_Allreduce", count, type));
  anygin::mpi::bcast(group, value.data(), value.size(), 0);
  std::memcpy(result, value.data(), value.size());
  return MPI_SUCCESS;
}
}
