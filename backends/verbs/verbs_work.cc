// SPDX-License-Identifier: Apache-2.0
#include "anygin/verbs/verbs_work.h"

#include <utility>

#include "anygin/base/mutant.h"

namespace anygin::verbs {

WorkChain::WorkChain(const Op& op, const WorkPlaces& places, bool hints, uint64_t wr_id)
    : inline_value(op.inline_value) {
  const unsigned may_pass = hints ? kSendMayPass : 0;
  // A put of no bytes and no signal still completes: it carries a counter.
  if (op.bytes > 0 || !op.signal.present) {
    const bool is_inline = op.kind == OpKind::kPutInline;
    const bool get = op.kind == OpKind::kGet;
    const KeyedAddress local = is_inline ? KeyedAddress{reinterpret_cast<uint64_t>(&inline_value), 0} : places.local;
    ibv_send_wr& payload = append(get ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE, local, op.bytes,
                                  (is_inline ? unsigned{IBV_SEND_INLINE} : 0u) | (get ? 0u : may_pass));
    payload.wr.rdma.remote_addr = places.remote.address;
    payload.wr.rdma.rkey = places.remote.key;
  }
  if (op.signal.present) {
    const bool weak = op.signal.strength == Strength::kWeak || MUTANT(verbs_strong_may_pass);
    ibv_send_wr& signal = append(IBV_WR_ATOMIC_FETCH_AND_ADD, places.sink, sizeof(uint64_t), weak ? may_pass : 0u);
    signal.wr.atomic.remote_addr = places.cell.address;
    signal.wr.atomic.rkey = places.cell.key;
    signal.wr.atomic.compare_add = op.signal.add;
  }
  for (unsigned i = 0; i < count; ++i) {
    requests[i].wr_id = wr_id;
    requests[i].next = i + 1 < count ? &requests[i + 1] : nullptr;
  }
  requests[count - 1].send_flags |= IBV_SEND_SIGNALED;
}

ibv_send_wr& WorkChain::append(ibv_wr_opcode opcode, KeyedAddress local, uint64_t bytes, unsigned flags) {
  ibv_send_wr& request = requests[count];
  scatter[count] = {local.address, static_cast<uint32_t>(bytes), local.key};
  request.sg_list = &scatter[count];
  request.num_sge = bytes > 0 ? 1 : 0;
  request.opcode = opcode;
  request.send_flags = flags;
  ++count;
  return request;
}

}  // namespace anygin::verbs
