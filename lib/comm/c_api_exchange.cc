// SPDX-License-Identifier: Apache-2.0
// Sends, receives, collectives and their operators: what is wrong with a call (contract 2.5).
#include <fmt/format.h>

#include <cstring>

#include "anygin/base/world.h"
#include "anygin/comm/c_api.h"
#include "anygin/comm/exchange.h"
#include "anygin/simt/device.h"

namespace anygin::comm {
namespace {

static_assert(static_cast<int>(Element::kFloat8e5m2) == ncclFloat8e5m2 &&
              static_cast<int>(Element::kCount) == ncclNumTypes &&
              static_cast<int>(Element::kBfloat16) == ncclBfloat16);
static_assert(static_cast<int>(ReduceOp::kAverage) == ncclAvg && static_cast<int>(ReduceOp::kMax) == ncclMax &&
              static_cast<int>(ReduceOp::kCount) == ncclNumOps);

Status check_exchange(const char* where, ncclComm_t comm) {
  ANYGIN_TRY(check_ready(where, comm));
  const Communicator& communicator = *find(comm);
  if (communicator.exchange() != nullptr) return Status();
  return Status(Cause::kNoHostTransfers, where, "host transfers are not there: " + communicator.why_no_host_queue());
}

Status check_rank(const char* where, const char* what, int rank, int ranks) {
  if (rank >= 0 && rank < ranks) return Status();
  return Status(Cause::kRankOutOfRange, where, fmt::format("{} is {}; 0 to {} would be right", what, rank, ranks - 1));
}

Status check_type(const char* where, ncclDataType_t type) {
  if (static_cast<int>(type) >= 0 && type < ncclNumTypes) return Status();
  return Status(Cause::kDataTypeUnknown, where,
                fmt::format("datatype is {}; 0 to {} would be right", static_cast<int>(type), ncclNumTypes - 1));
}

// As the program called it.
struct Arguments {
  CallKind kind = CallKind::kSend;
  const char* where = "";
  const void* from = nullptr;
  void* into = nullptr;
  size_t count = 0;
  ncclDataType_t type = ncclInt8;
  int peer = 0;
  ncclRedOp_t op = ncclSum;
};

// Elements that this rank reads and writes; 0: it may give no buffer.
struct Extent {
  uint64_t read = 0, written = 0;
};
Extent extent_of(CallKind kind, uint64_t count, uint64_t ranks, bool root) {
  switch (kind) {
    case CallKind::kSend:
      return {count, 0};
    case CallKind::kRecv:
      return {0, count};
    case CallKind::kBroadcast:
      return {root ? count : 0, count};
    case CallKind::kReduce:
      return {count, root ? count : 0};
    case CallKind::kAllReduce:
      return {count, count};
    case CallKind::kAllGather:
      return {count, ranks * count};
    case CallKind::kReduceScatter:
      return {ranks * count, count};
    case CallKind::kAllToAll:
      return {ranks * count, ranks * count};
    case CallKind::kGather:
      return {count, root ? ranks * count : 0};
    default:  // kScatter
      return {root ? ranks * count : 0, count};
  }
}

Status check_buffer(const char* where, const char* name, const void* buffer, uint64_t bytes) {
  if (bytes == 0) return Status();
  if (buffer == nullptr)
    return Status(Cause::kNullArgument, where, fmt::format("{} is NULL; {} bytes would be right", name, bytes));
  const std::optional<Allocation> memory = world().heap.find(buffer);
  if (!memory) return Status();  // mapped or registered host memory; what else it may be cannot be seen
  const uint64_t left = memory->bytes - static_cast<uint64_t>(static_cast<const char*>(buffer) - memory->base);
  if (bytes <= left) return Status();
  return Status(Cause::kBufferTooSmall, where,
                fmt::format("{}: {} bytes are needed, {} are left of its allocation", name, bytes, left));
}

Status check_buffers(const Arguments& a, const Communicator& communicator) {
  const auto ranks = static_cast<uint64_t>(communicator.size());
  const uint64_t width = size_of(static_cast<Element>(a.type));
  if (a.count > (uint64_t{1} << 56) / (ranks * width)) {
    return Status(Cause::kNumberOutOfRange, a.where, fmt::format("count is {}, beyond any memory", a.count));
  }
  const Extent extent = extent_of(a.kind, a.count, ranks, a.peer == communicator.rank());
  ANYGIN_TRY(check_buffer(a.where, "sendbuff", a.from, extent.read * width));
  ANYGIN_TRY(check_buffer(a.where, "recvbuff", a.into, extent.written * width));
  if (a.kind == CallKind::kAllToAll && a.from == a.into && a.count > 0 && ranks > 1)
    return Status(Cause::kBuffersSame, a.where, "sendbuff and recvbuff are the same; it cannot work in place");
  return Status();
}

bool reduces(CallKind kind) {
  return kind == CallKind::kReduce || kind == CallKind::kAllReduce || kind == CallKind::kReduceScatter;
}

// The operator, resolved; one that the program made is a sum with a scalar.
Status set_op(const Arguments& a, const Exchange& exchange, CallRequest& request) {
  const int op = static_cast<int>(a.op);
  if (op >= 0 && op < ncclNumOps) {
    request.op = static_cast<ReduceOp>(op);
    return Status();
  }
  const std::optional<ScaledSum> sum = op < 0 ? std::nullopt : exchange.find_sum(static_cast<size_t>(op - ncclNumOps));
  if (!sum) {
    return Status(Cause::kOperatorUnknown, a.where,
                  fmt::format("op is {}; 0 to {}, or one that ncclRedOpCreatePreMulSum made for this "
                              "communicator and that lives, would be right",
                              op, ncclNumOps - 1));
  }
  if (sum->element != request.element) {
    return Status(Cause::kOperatorUnknown, a.where,
                  fmt::format("op was made for {}, datatype is {}", name_of(sum->element), name_of(request.element)));
  }
  request.scalar = sum->scalar;
  request.scalar_owner = sum->owner;
  return Status();
}

// The stream as the communicator's device has it: NULL is that device's own one.
simt::Stream* stream_of(cudaStream_t handle, int device) {
  const int before = simt::current_device();
  simt::set_current_device(device);
  simt::Stream* stream = simt::resolve_stream(handle);
  simt::set_current_device(before);
  return stream;
}

Status check_and_submit(const Arguments& a, ncclComm_t comm, cudaStream_t handle) {
  ANYGIN_TRY(check_exchange(a.where, comm));
  Communicator& communicator = *find(comm);
  const bool paired = a.kind == CallKind::kSend || a.kind == CallKind::kRecv;
  ANYGIN_TRY(check_rank(a.where, paired ? "peer" : "root", a.peer, communicator.size()));
  ANYGIN_TRY(check_type(a.where, a.type));
  CallRequest request;
  request.kind = a.kind;
  request.where = a.where;
  request.from = static_cast<const char*>(a.from);
  request.into = static_cast<char*>(a.into);
  request.count = a.count;
  request.element = static_cast<Element>(a.type);
  request.peer = a.peer;
  if (reduces(a.kind)) ANYGIN_TRY(set_op(a, *communicator.exchange(), request));
  ANYGIN_TRY(check_buffers(a, communicator));
  simt::Stream* stream = stream_of(handle, communicator.device());
  if (stream == nullptr) return Status(Cause::kStreamUnknown, a.where, "stream is no stream, or was destroyed before");
  if (a.count == 0 && !paired) return Status();
  return submit_exchange(communicator, {request, stream});
}

ncclResult_t call(const Arguments& arguments, ncclComm_t comm, cudaStream_t stream) {
  return report_on(comm, check_and_submit(arguments, comm, stream));
}

Status create_sum(ncclRedOp_t* op, const void* scalar, ncclDataType_t type, ncclScalarResidence_t residence,
                  ncclComm_t comm) {
  constexpr const char* kWhere = "ncclRedOpCreatePreMulSum";
  ANYGIN_TRY(check_exchange(kWhere, comm));
  if (op == nullptr) return Status(Cause::kNullArgument, kWhere, "op is NULL");
  if (scalar == nullptr) return Status(Cause::kNullArgument, kWhere, "scalar is NULL");
  ANYGIN_TRY(check_type(kWhere, type));
  if (residence != ncclScalarDevice && residence != ncclScalarHostImmediate)
    return Status(Cause::kNumberOutOfRange, kWhere,
                  fmt::format("residence is {}; 0 or 1 would be right", static_cast<int>(residence)));
  ScaledSum sum;
  sum.element = static_cast<Element>(type);
  sum.scalar = static_cast<const char*>(scalar);
  if (residence == ncclScalarHostImmediate) {
    const auto copy = std::make_shared<std::string>(sum.scalar, size_of(sum.element));
    sum.scalar = copy->data();
    sum.owner = copy;
  }
  *op = static_cast<ncclRedOp_t>(ncclNumOps + find(comm)->exchange()->add_sum(sum));
  return Status();
}

Status destroy_sum(ncclRedOp_t op, ncclComm_t comm) {
  constexpr const char* kWhere = "ncclRedOpDestroy";
  ANYGIN_TRY(check_exchange(kWhere, comm));
  const int index = static_cast<int>(op) - static_cast<int>(ncclNumOps);
  if (index >= 0 && find(comm)->exchange()->remove_sum(static_cast<size_t>(index))) return Status();
  return Status(Cause::kOperatorUnknown, kWhere,
                fmt::format("op is {}, {}", static_cast<int>(op),
                            index < 0 ? "which is built in" : "which this communicator does not have"));
}

}  // namespace
}  // namespace anygin::comm

using namespace anygin;
using namespace anygin::comm;

#define ANYGIN_EXCHANGE_CALL(name, ...) \
  ANYGIN_NCCL_CALL(name);               \
  return ::anygin::comm::call({__VA_ARGS__}, comm, stream)

ANYGIN_NCCL_FUNCTION(ncclResult_t, ncclSend,
                     (const void* sendbuff, size_t count, ncclDataType_t datatype, int peer, ncclComm_t comm,
                      cudaStream_t stream)) {
  ANYGIN_EXCHANGE_CALL("ncclSend", CallKind::kSend, "ncclSend", sendbuff, nullptr, count, datatype, peer);
}

ANYGIN_NCCL_FUNCTION(ncclResult_t, ncclRecv,
                     (void* recvbuff, size_t count, ncclDataType_t datatype, int peer, ncclComm_t comm,
                      cudaStream_t stream)) {
  ANYGIN_EXCHANGE_CALL("ncclRecv", CallKind::kRecv, "ncclRecv", nullptr, recvbuff, count, datatype, peer);
}

ANYGIN_NCCL_FUNCTION(ncclResult_t, ncclBroadcast,
                     (const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, int root,
                      ncclComm_t comm, cudaStream_t stream)) {
  ANYGIN_EXCHANGE_CALL("ncclBroadcast", CallKind::kBroadcast, "ncclBroadcast", sendbuff, recvbuff, count, datatype,
                       root);
}

ANYGIN_NCCL_FUNCTION(ncclResult_t, ncclBcast,
                     (void* buff, size_t count, ncclDataType_t datatype, int root, ncclComm_t comm,
                      cudaStream_t stream)) {
  ANYGIN_EXCHANGE_CALL("ncclBcast", CallKind::kBroadcast, "ncclBcast", buff, buff, count, datatype, root);
}

ANYGIN_NCCL_FUNCTION(ncclResult_t, ncclReduce,
                     (const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, ncclRedOp_t op,
                      int root, ncclComm_t comm, cudaStream_t stream)) {
  ANYGIN_EXCHANGE_CALL("ncclReduce", CallKind::kReduce, "ncclReduce", sendbuff, recvbuff, count, datatype, root, op);
}

ANYGIN_NCCL_FUNCTION(ncclResult_t, ncclAllReduce,
                     (const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, ncclRedOp_t op,
                      ncclComm_t comm, cudaStream_t stream)) {
  ANYGIN_EXCHANGE_CALL("ncclAllReduce", CallKind::kAllReduce, "ncclAllReduce", sendbuff, recvbuff, count, datatype, 0,
                       op);
}

ANYGIN_NCCL_FUNCTION(ncclResult_t, ncclReduceScatter,
                     (const void* sendbuff, void* recvbuff, size_t recvcount, ncclDataType_t datatype, ncclRedOp_t op,
                      ncclComm_t comm, cudaStream_t stream)) {
  ANYGIN_EXCHANGE_CALL("ncclReduceScatter", CallKind::kReduceScatter, "ncclReduceScatter", sendbuff, recvbuff,
                       recvcount, datatype, 0, op);
}

ANYGIN_NCCL_FUNCTION(ncclResult_t, ncclAllGather,
                     (const void* sendbuff, void* recvbuff, size_t sendcount, ncclDataType_t datatype, ncclComm_t comm,
                      cudaStream_t stream)) {
  ANYGIN_EXCHANGE_CALL("ncclAllGather", CallKind::kAllGather, "ncclAllGather", sendbuff, recvbuff, sendcount, datatype,
                       0);
}

ANYGIN_NCCL_FUNCTION(ncclResult_t, ncclAlltoAll,
                     (const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, ncclComm_t comm,
                      cudaStream_t stream)) {
  ANYGIN_EXCHANGE_CALL("ncclAlltoAll", CallKind::kAllToAll, "ncclAlltoAll", sendbuff, recvbuff, count, datatype, 0);
}

ANYGIN_NCCL_FUNCTION(ncclResult_t, ncclGather,
                     (const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, int root,
                      ncclComm_t comm, cudaStream_t stream)) {
  ANYGIN_EXCHANGE_CALL("ncclGather", CallKind::kGather, "ncclGather", sendbuff, recvbuff, count, datatype, root);
}

ANYGIN_NCCL_FUNCTION(ncclResult_t, ncclScatter,
                     (const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, int root,
                      ncclComm_t comm, cudaStream_t stream)) {
  ANYGIN_EXCHANGE_CALL("ncclScatter", CallKind::kScatter, "ncclScatter", sendbuff, recvbuff, count, datatype, root);
}

ANYGIN_NCCL_FUNCTION(ncclResult_t, ncclRedOpCreatePreMulSum,
                     (ncclRedOp_t * op, void* scalar, ncclDataType_t datatype, ncclScalarResidence_t residence,
                      ncclComm_t comm)) {
  ANYGIN_NCCL_CALL("ncclRedOpCreatePreMulSum");
  return report(create_sum(op, scalar, datatype, residence, comm));
}

ANYGIN_NCCL_FUNCTION(ncclResult_t, ncclRedOpDestroy, (ncclRedOp_t op, ncclComm_t comm)) {
  ANYGIN_NCCL_CALL("ncclRedOpDestroy");
  return report(destroy_sum(op, comm));
}
