// SPDX-License-Identifier: Apache-2.0
// Queue pairs of the verbs face: creation, states, queries.
#include <cerrno>
#include <cstring>

#include "anygin/emulated/verbs_face.h"

namespace anygin::emulated {
namespace {

constexpr int kToInit = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
constexpr int kToReceive = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                           IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
constexpr int kToSend =
    IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC;

bool has_all(int mask, int wanted) {
  return (mask & wanted) == wanted;
}

ibv_qp_state face_state(QueuePairState state) {
  switch (state) {
    case QueuePairState::kReset:
      return IBV_QPS_RESET;
    case QueuePairState::kInit:
      return IBV_QPS_INIT;
    case QueuePairState::kReadyToReceive:
      return IBV_QPS_RTR;
    case QueuePairState::kReadyToSend:
      return IBV_QPS_RTS;
    case QueuePairState::kError:
      return IBV_QPS_ERR;
  }
  return IBV_QPS_UNKNOWN;
}

int to_receive(FaceQp& qp, const ibv_qp_attr& attributes, int mask) {
  if (!has_all(mask, kToReceive) || attributes.ah_attr.is_global != 1) return EINVAL;
  Hca& hca = hca_of(qp.context);
  PortAddress address;
  std::memcpy(&address, attributes.ah_attr.grh.dgid.raw, sizeof(address));
  const std::optional<Rank> peer = hca.port().find(address);
  if (!peer) return EINVAL;
  return hca.to_receive(*qp.pair, *peer, attributes.dest_qp_num, attributes.rq_psn);
}

// Keeps what query_qp() gives back.
void remember(FaceQp& qp, const ibv_qp_attr& given, int mask) {
  ibv_qp_attr& kept = qp.attributes;
  if (mask & IBV_QP_PORT) kept.port_num = given.port_num;
  if (mask & IBV_QP_PKEY_INDEX) kept.pkey_index = given.pkey_index;
  if (mask & IBV_QP_ACCESS_FLAGS) kept.qp_access_flags = given.qp_access_flags;
  if (mask & IBV_QP_AV) kept.ah_attr = given.ah_attr;
  if (mask & IBV_QP_PATH_MTU) kept.path_mtu = given.path_mtu;
  if (mask & IBV_QP_DEST_QPN) kept.dest_qp_num = given.dest_qp_num;
  if (mask & IBV_QP_RQ_PSN) kept.rq_psn = given.rq_psn;
  if (mask & IBV_QP_SQ_PSN) kept.sq_psn = given.sq_psn;
  if (mask & IBV_QP_MAX_DEST_RD_ATOMIC) kept.max_dest_rd_atomic = given.max_dest_rd_atomic;
  if (mask & IBV_QP_MAX_QP_RD_ATOMIC) kept.max_rd_atomic = given.max_rd_atomic;
  if (mask & IBV_QP_MIN_RNR_TIMER) kept.min_rnr_timer = given.min_rnr_timer;
  if (mask & IBV_QP_TIMEOUT) kept.timeout = given.timeout;
  if (mask & IBV_QP_RETRY_CNT) kept.retry_cnt = given.retry_cnt;
  if (mask & IBV_QP_RNR_RETRY) kept.rnr_retry = given.rnr_retry;
}

}  // namespace

ibv_qp* face_create_qp(ibv_pd* pd, ibv_qp_init_attr* wanted) {
  const ibv_qp_cap& cap = wanted->cap;
  errno = EOPNOTSUPP;
  if (wanted->qp_type != IBV_QPT_RC || wanted->srq || cap.max_recv_wr > 0) return nullptr;
  errno = EINVAL;
  if (!wanted->send_cq || cap.max_send_wr < 1 || cap.max_send_wr > Hca::kDepthMax) return nullptr;
  if (cap.max_send_sge > 1 || cap.max_inline_data > kInlineMax) return nullptr;
  QueuePairOptions options;
  options.send_queue = static_cast<FaceCq*>(wanted->send_cq)->queue;
  options.depth = cap.max_send_wr;
  auto* qp = new FaceQp{};
  qp->pair = hca_of(pd->context).create_queue_pair(options);
  wanted->cap.max_send_sge = 1;
  wanted->cap.max_inline_data = kInlineMax;
  wanted->cap.max_recv_sge = 0;
  qp->capacity = wanted->cap;
  qp->signal_all = wanted->sq_sig_all != 0;
  qp->context = pd->context;
  qp->qp_context = wanted->qp_context;
  qp->pd = pd;
  qp->send_cq = wanted->send_cq;
  qp->recv_cq = wanted->recv_cq;
  qp->qp_num = qp->pair->number();
  qp->qp_type = IBV_QPT_RC;
  qp->state = IBV_QPS_RESET;
  static_cast<FacePd*>(pd)->users.fetch_add(1);
  return qp;
}

int face_modify_qp(ibv_qp* qp, ibv_qp_attr* attributes, int mask) {
  auto& face = *static_cast<FaceQp*>(qp);
  Hca& hca = hca_of(qp->context);
  if ((mask & IBV_QP_STATE) == 0) return EINVAL;
  int error = 0;
  switch (attributes->qp_state) {
    case IBV_QPS_RESET:
      hca.to_reset(*face.pair);
      break;
    case IBV_QPS_INIT:
      error = has_all(mask, kToInit) && attributes->port_num == 1 ? hca.to_init(*face.pair) : EINVAL;
      break;
    case IBV_QPS_RTR:
      error = to_receive(face, *attributes, mask);
      break;
    case IBV_QPS_RTS:
      error = has_all(mask, kToSend) ? hca.to_send(*face.pair, attributes->sq_psn) : EINVAL;
      break;
    case IBV_QPS_ERR:
      hca.to_error(*face.pair);
      break;
    default:
      error = EINVAL;
  }
  if (error) return error;
  remember(face, *attributes, mask);
  qp->state = attributes->qp_state;
  return 0;
}

int face_query_qp(ibv_qp* qp, ibv_qp_attr* attributes, int, ibv_qp_init_attr* init) {
  const auto& face = *static_cast<FaceQp*>(qp);
  *attributes = face.attributes;
  attributes->qp_state = attributes->cur_qp_state = face_state(hca_of(qp->context).state(*face.pair));
  attributes->cap = face.capacity;
  if (!init) return 0;
  *init = ibv_qp_init_attr{};
  init->qp_context = qp->qp_context;
  init->send_cq = qp->send_cq;
  init->recv_cq = qp->recv_cq;
  init->cap = face.capacity;
  init->qp_type = IBV_QPT_RC;
  init->sq_sig_all = face.signal_all ? 1 : 0;
  return 0;
}

int face_destroy_qp(ibv_qp* qp) {
  auto* face = static_cast<FaceQp*>(qp);
  hca_of(qp->context).destroy_queue_pair(face->pair);
  static_cast<FacePd*>(qp->pd)->users.fetch_sub(1);
  delete face;
  return 0;
}

}  // namespace anygin::emulated
