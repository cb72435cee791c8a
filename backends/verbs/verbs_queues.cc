// SPDX-License-Identifier: Apache-2.0
#include "anygin/verbs/verbs_queues.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace anygin::verbs {

// What a queue pair tells its peer. Sent as bytes.
struct QueueCard {
  PortAddress port;
  uint32_t number = 0;
  uint32_t packet = 0;  // first packet sequence number
};

namespace {

constexpr const char* kWhere = "queue pairs";
constexpr uint32_t kCompletionsMax = 1u << 16;
constexpr uint32_t kInlineBytes = 8;
// An acknowledgement is awaited 4.096 us * 2^18 = 1 s, seven times; receivers that are not ready are retried for ever.
constexpr uint8_t kAckTimeout = 18, kRetries = 7, kNotReadyRetries = 7, kNotReadyTimer = 12;

std::string text_of(OpKind kind, uint64_t bytes, bool has_signal) {
  const char* name = kind == OpKind::kGet ? "get" : kind == OpKind::kPut ? "put" : "putValue";
  return fmt::format("{} of {} bytes{}", name, bytes, has_signal ? " with a signal" : "");
}

uint8_t reads_in_flight(const VerbsDevice& device) {
  return static_cast<uint8_t>(std::clamp(device.attributes().max_qp_rd_atom, 1, 16));
}

}  // namespace

QueueSet::QueueSet(const VerbsDevice& device, Bootstrap& bootstrap, const QueueShape& shape)
    : device_(device),
      bootstrap_(bootstrap),
      shape_(shape),
      ranks_(static_cast<size_t>(bootstrap.size())),
      queues_(shape.contexts * ranks_) {}

Result<std::unique_ptr<QueueSet>> QueueSet::open(const VerbsDevice& device, Bootstrap& bootstrap,
                                                 const QueueShape& shape) {
  auto set = std::unique_ptr<QueueSet>(new QueueSet(device, bootstrap, shape));
  ANYGIN_TRY(agree(bootstrap, kWhere, set->create()));
  // Nobody posts before every rank can receive.
  ANYGIN_TRY(set->connect());
  return set;
}

Status QueueSet::create() {
  const uint64_t wanted = uint64_t{shape_.depth} * queues_.size() * kRequestsPerOp;
  const uint64_t device_most = std::max(2, device_.attributes().max_cqe);
  const uint64_t entries = std::min({wanted, device_most, uint64_t{kCompletionsMax}});
  completions_ =
      Handle<ibv_cq>(device_.table().create_cq(device_.context(), static_cast<int>(entries), nullptr, nullptr, 0),
                     {device_.table().destroy_cq});
  if (!completions_) {
    return Status(Cause::kNicRefused, kWhere,
                  fmt::format("a completion queue of {} entries: {}", entries, std::strerror(errno)));
  }
  // Both requests of a failed operation complete.
  most_in_flight_ = static_cast<uint32_t>(entries / kRequestsPerOp);
  for (Queue& queue : queues_) ANYGIN_TRY(create_pair(queue));
  return Status();
}

Status QueueSet::create_pair(Queue& queue) {
  ibv_qp_init_attr wanted{};
  wanted.send_cq = wanted.recv_cq = completions_.get();
  wanted.qp_type = IBV_QPT_RC;
  wanted.cap.max_send_wr = shape_.depth * kRequestsPerOp;
  wanted.cap.max_send_sge = 1;
  wanted.cap.max_inline_data = kInlineBytes;
  queue.pair = Handle<ibv_qp>(device_.table().create_qp(device_.pd(), &wanted), {device_.table().destroy_qp});
  if (!queue.pair) {
    return Status(Cause::kNicRefused, kWhere,
                  fmt::format("{} = {} contexts x {} ranks are needed, of depth {}; making one failed: {}",
                              queues_.size(), shape_.contexts, ranks_, shape_.depth, std::strerror(errno)));
  }
  if (wanted.cap.max_inline_data < kInlineBytes) {
    return Status(Cause::kBackendLimit, kWhere, fmt::format("the NIC takes no inline data of {} bytes", kInlineBytes));
  }
  ibv_qp_attr init{};
  init.qp_state = IBV_QPS_INIT;
  init.port_num = VerbsDevice::kPort;
  init.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
  return modify(queue, init, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, "INIT");
}

// The queue pair for (context, peer) here and the one for (context, this rank) there are each other's ends.
Status QueueSet::connect() {
  Gift mine;
  for (const Queue& queue : queues_) {
    const uint32_t number = queue.pair->qp_num;
    const QueueCard card{device_.address(), number, number & 0xFFFFFF};
    mine.bytes.append(reinterpret_cast<const char*>(&card), sizeof(card));
  }
  Result<std::vector<Gift>> gifts = bootstrap_.all_gather("queue pair addresses", mine);
  if (!gifts.ok()) return gifts.status();
  Status connected;
  for (uint32_t i = 0; i < queues_.size() && connected.ok(); ++i) {
    const std::string& bytes = (*gifts)[i % ranks_].bytes;
    const size_t at = (i / ranks_ * ranks_ + static_cast<size_t>(bootstrap_.rank())) * sizeof(QueueCard);
    QueueCard card;
    if (bytes.size() != mine.bytes.size()) {
      connected = Status(Cause::kCallMismatch, kWhere,
                         fmt::format("rank {} opened {} of them, this rank {}", i % ranks_,
                                     bytes.size() / sizeof(QueueCard), queues_.size()));
    } else {
      std::memcpy(&card, bytes.data() + at, sizeof(card));
      connected = connect_pair(queues_[i], card);
    }
  }
  return agree(bootstrap_, "connecting queue pairs", connected);
}

Status QueueSet::connect_pair(Queue& queue, const QueueCard& peer) {
  ibv_qp_attr receive{};
  receive.qp_state = IBV_QPS_RTR;
  receive.path_mtu = device_.port().active_mtu;
  receive.dest_qp_num = peer.number;
  receive.rq_psn = peer.packet;
  receive.max_dest_rd_atomic = reads_in_flight(device_);
  receive.min_rnr_timer = kNotReadyTimer;
  receive.ah_attr.is_global = 1;
  receive.ah_attr.grh.dgid = peer.port.gid;
  receive.ah_attr.grh.hop_limit = 255;
  receive.ah_attr.grh.traffic_class = static_cast<uint8_t>(shape_.traffic_class);
  receive.ah_attr.dlid = peer.port.lid;
  receive.ah_attr.port_num = VerbsDevice::kPort;
  ANYGIN_TRY(modify(queue, receive,
                    IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                        IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
                    "RTR"));
  ibv_qp_attr send{};
  send.qp_state = IBV_QPS_RTS;
  send.timeout = kAckTimeout;
  send.retry_cnt = kRetries;
  send.rnr_retry = kNotReadyRetries;
  send.sq_psn = queue.pair->qp_num & 0xFFFFFF;
  send.max_rd_atomic = reads_in_flight(device_);
  return modify(
      queue, send,
      IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC,
      "RTS");
}

Status QueueSet::modify(Queue& queue, ibv_qp_attr& attributes, int mask, const char* state) const {
  const int error = device_.table().modify_qp(queue.pair.get(), &attributes, mask);
  if (error == 0) return Status();
  return Status(Cause::kNicRefused, kWhere,
                fmt::format("number {:#x} to {}: {}", queue.pair->qp_num, state, std::strerror(error)));
}

bool QueueSet::has_room(uint32_t context, Rank peer) const {
  const Queue& queue = queues_[index(context, peer)];
  return queue.posted - queue.completed < shape_.depth && in_flight_ < most_in_flight_;
}

void QueueSet::post(const Op& op, const WorkPlaces& places) {
  ANYGIN_ASSERT(has_room(op.context, op.peer));
  const size_t at = index(op.context, op.peer);
  Queue& queue = queues_[at];
  if (queue.ops.empty()) queue.ops.resize(shape_.depth);
  in_flight_at(queue, queue.posted) = {op.cookie, op.bytes, op.call_site, op.kind, op.signal.present};
  WorkChain chain(op, places, device_.accepts_hints(), (uint64_t{at} << 32) | queue.posted);
  ++queue.posted;
  ++in_flight_;
  ibv_send_wr* bad = nullptr;
  if (queue.refused == 0 && device_.table().post_send(queue.pair.get(), chain.requests, &bad) == 0) return;
  // A queue that refused once takes no more: its operations fail in order, behind those in flight.
  ++queue.refused;
  refused_.fetch_add(1, std::memory_order_relaxed);
  fail_peer(op.peer);
}

size_t QueueSet::poll(OpCompletion* out, size_t most) {
  std::array<ibv_wc, 16> raw;
  const int count =
      device_.table().poll_cq(completions_.get(), static_cast<int>(std::min(most, raw.size())), raw.data());
  ANYGIN_ASSERT(count >= 0);
  size_t found = 0;
  for (int i = 0; i < count; ++i) {
    const ibv_wc& wc = raw[static_cast<size_t>(i)];
    const size_t at = static_cast<size_t>(wc.wr_id >> 32);
    const uint32_t sequence = static_cast<uint32_t>(wc.wr_id);
    // The second request of an operation that already failed.
    if (sequence != queues_[at].completed) {
      ANYGIN_ASSERT(wc.status != IBV_WC_SUCCESS && sequence + 1 == queues_[at].completed);
      continue;
    }
    const bool good = wc.status == IBV_WC_SUCCESS;
    out[found++] =
        finish(at, good ? Cause::kNone : Cause::kNicOperation, good ? "" : device_.table().wc_status_str(wc.status));
  }
  if (refused_.load(std::memory_order_relaxed) > 0) found += take_refused(out + found, most - found);
  return found;
}

OpCompletion QueueSet::finish(size_t queue_index, Cause error, const char* what) {
  Queue& queue = queues_[queue_index];
  const InFlight& op = in_flight_at(queue, queue.completed);
  const OpCompletion completion{op.cookie, shape_.first + static_cast<uint32_t>(queue_index / ranks_),
                                static_cast<Rank>(queue_index % ranks_), error, what};
  ++queue.completed;
  --in_flight_;
  return completion;
}

size_t QueueSet::take_refused(OpCompletion* out, size_t most) {
  size_t found = 0;
  for (size_t i = 0; i < queues_.size(); ++i) {
    Queue& queue = queues_[i];
    while (found < most && queue.refused > 0 && queue.posted - queue.completed == queue.refused) {
      out[found++] = finish(i, Cause::kNicRefused, "the NIC refused the work request");
      --queue.refused;
      refused_.fetch_sub(1, std::memory_order_relaxed);
    }
  }
  return found;
}

bool QueueSet::has_completions() const {
  if (refused_.load(std::memory_order_relaxed) > 0 || device_.table().has_completions == nullptr) return true;
  return device_.table().has_completions(completions_.get());
}

void QueueSet::fail_peer(Rank peer) {
  for (size_t i = static_cast<size_t>(peer); i < queues_.size(); i += ranks_) {
    ibv_qp_attr error{};
    error.qp_state = IBV_QPS_ERR;
    // A queue pair that cannot even fail is gone with its device.
    (void)device_.table().modify_qp(queues_[i].pair.get(), &error, IBV_QP_STATE);
  }
}

void QueueSet::describe_pending(std::vector<std::string>& out) const {
  for (size_t i = 0; i < queues_.size(); ++i) {
    const Queue& queue = queues_[i];
    for (uint32_t sequence = queue.completed; sequence != queue.posted; ++sequence) {
      const InFlight& op = queue.ops[sequence % shape_.depth];
      out.push_back(fmt::format("verbs context {} to rank {}: {} in flight (call site {})", shape_.first + i / ranks_,
                                i % ranks_, text_of(op.kind, op.bytes, op.has_signal), op.call_site));
    }
  }
}

}  // namespace anygin::verbs
