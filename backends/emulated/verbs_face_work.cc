// SPDX-License-Identifier: Apache-2.0
// Posting and polling through the verbs face.
#include <algorithm>
#include <array>
#include <cerrno>

#include "anygin/emulated/verbs_face.h"

namespace anygin::emulated {
namespace {

char* pointer(uint64_t address) {
  return reinterpret_cast<char*>(static_cast<uintptr_t>(address));
}

// False: this NIC has no such work request.
bool translate(const ibv_send_wr& wr, PostRequest* request) {
  if (wr.num_sge < 0 || wr.num_sge > 1) return false;
  request->cookie = wr.wr_id;
  request->signaled = (wr.send_flags & IBV_SEND_SIGNALED) != 0;
  request->may_pass = (wr.send_flags & verbs::kSendMayPass) != 0;
  request->is_inline = (wr.send_flags & IBV_SEND_INLINE) != 0;
  if (wr.num_sge == 1) {
    request->local = pointer(wr.sg_list[0].addr);
    request->bytes = wr.sg_list[0].length;
    request->lkey = wr.sg_list[0].lkey;
  }
  switch (wr.opcode) {
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_READ:
      request->kind = wr.opcode == IBV_WR_RDMA_READ ? WorkKind::kRead : WorkKind::kWrite;
      request->remote_address = wr.wr.rdma.remote_addr;
      request->rkey = wr.wr.rdma.rkey;
      return true;
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
      request->kind = WorkKind::kFetchAdd;
      request->remote_address = wr.wr.atomic.remote_addr;
      request->rkey = wr.wr.atomic.rkey;
      request->add = wr.wr.atomic.compare_add;
      return true;
    default:
      return false;
  }
}

ibv_wc_status face_status(WorkStatus status) {
  switch (status) {
    case WorkStatus::kOk:
      return IBV_WC_SUCCESS;
    case WorkStatus::kLocalProtection:
      return IBV_WC_LOC_PROT_ERR;
    case WorkStatus::kFlushed:
      return IBV_WC_WR_FLUSH_ERR;
    case WorkStatus::kRemoteAccess:
      return IBV_WC_REM_ACCESS_ERR;
    case WorkStatus::kRemoteInvalid:
      return IBV_WC_REM_INV_REQ_ERR;
    case WorkStatus::kRemoteOperation:
      return IBV_WC_REM_OP_ERR;
    case WorkStatus::kPeerGone:
      return IBV_WC_RETRY_EXC_ERR;
  }
  return IBV_WC_GENERAL_ERR;
}

ibv_wc_opcode face_opcode(WorkKind kind) {
  switch (kind) {
    case WorkKind::kWrite:
      return IBV_WC_RDMA_WRITE;
    case WorkKind::kFetchAdd:
      return IBV_WC_FETCH_ADD;
    case WorkKind::kRead:
      return IBV_WC_RDMA_READ;
  }
  return IBV_WC_RDMA_WRITE;
}

}  // namespace

int face_post_send(ibv_qp* qp, ibv_send_wr* first, ibv_send_wr** bad) {
  auto& face = *static_cast<FaceQp*>(qp);
  PostScope scope(hca_of(qp->context), *face.pair);
  for (ibv_send_wr* wr = first; wr; wr = wr->next) {
    PostRequest request;
    int error = translate(*wr, &request) ? 0 : EINVAL;
    request.signaled = request.signaled || face.signal_all;
    if (error == 0) error = scope.add(request);
    if (error == 0) continue;
    if (bad) *bad = wr;
    return error;
  }
  return 0;
}

int face_post_recv(ibv_qp*, ibv_recv_wr* first, ibv_recv_wr** bad) {
  if (bad) *bad = first;
  return EOPNOTSUPP;
}

int face_poll_cq(ibv_cq* cq, int count, ibv_wc* completions) {
  constexpr int kBatch = 16;
  std::array<Completion, kBatch> batch;
  int found = 0;
  while (found < count) {
    const auto want = static_cast<size_t>(std::min(kBatch, count - found));
    const int got = hca_of(cq->context).poll(*static_cast<FaceCq*>(cq)->queue, {batch.data(), want});
    if (got < 0) return got;
    for (int i = 0; i < got; ++i) {
      const Completion& done = batch[static_cast<size_t>(i)];
      ibv_wc& wc = completions[found++];
      wc = ibv_wc{};
      wc.wr_id = done.cookie;
      wc.status = face_status(done.status);
      wc.opcode = face_opcode(done.kind);
      wc.byte_len = done.bytes;
      wc.qp_num = done.queue_pair;
    }
    if (static_cast<size_t>(got) < want) break;
  }
  return found;
}

const char* face_status_name(ibv_wc_status status) {
  switch (status) {
    case IBV_WC_SUCCESS:
      return "success";
    case IBV_WC_LOC_PROT_ERR:
      return "local protection error: the local key does not allow this";
    case IBV_WC_WR_FLUSH_ERR:
      return "flushed: the queue pair was already in error";
    case IBV_WC_REM_ACCESS_ERR:
      return "remote access error: unknown key, out of bounds, or not allowed";
    case IBV_WC_REM_INV_REQ_ERR:
      return "remote invalid request: malformed, or a misaligned atomic";
    case IBV_WC_REM_OP_ERR:
      return "remote operation error: the peer's queue pair cannot do it";
    case IBV_WC_RETRY_EXC_ERR:
      return "retries exceeded: the peer is gone";
    default:
      return "unknown completion status";
  }
}

}  // namespace anygin::emulated
