// SPDX-License-Identifier: Apache-2.0
// The verbs functions the transport uses, as a table: filled from the software HCA in this process, or from rdma-core's
// libibverbs. Types and meanings are those of <infiniband/verbs.h>; so the code that runs on a cluster is the code that
// CI runs. No function may be null but the last two.
#pragma once

#include <infiniband/verbs.h>

#include "anygin/base/status.h"

namespace anygin::verbs {

// Hint on a work request (docs/decisions/0002): may pass earlier ones of its queue pair. Set only where accepts_hints()
// says yes.
inline constexpr unsigned kSendMayPass = 1u << 31;

struct VerbsTable {
  ibv_device** (*get_device_list)(int* count);
  void (*free_device_list)(ibv_device** list);
  const char* (*get_device_name)(ibv_device* device);
  ibv_context* (*open_device)(ibv_device* device);
  int (*close_device)(ibv_context* context);
  int (*query_device)(ibv_context* context, ibv_device_attr* attributes);
  int (*query_port)(ibv_context* context, uint8_t port, ibv_port_attr* attributes);
  int (*query_gid)(ibv_context* context, uint8_t port, int index, ibv_gid* gid);
  ibv_pd* (*alloc_pd)(ibv_context* context);
  int (*dealloc_pd)(ibv_pd* pd);
  ibv_mr* (*reg_mr)(ibv_pd* pd, void* address, size_t bytes, int access);
  int (*dereg_mr)(ibv_mr* mr);
  ibv_cq* (*create_cq)(ibv_context* context, int entries, void* cq_context, ibv_comp_channel* channel, int vector);
  int (*destroy_cq)(ibv_cq* cq);
  ibv_qp* (*create_qp)(ibv_pd* pd, ibv_qp_init_attr* attributes);
  int (*modify_qp)(ibv_qp* qp, ibv_qp_attr* attributes, int mask);
  int (*query_qp)(ibv_qp* qp, ibv_qp_attr* attributes, int mask, ibv_qp_init_attr* init);
  int (*destroy_qp)(ibv_qp* qp);
  int (*post_send)(ibv_qp* qp, ibv_send_wr* first, ibv_send_wr** bad);
  int (*poll_cq)(ibv_cq* cq, int count, ibv_wc* completions);
  const char* (*wc_status_str)(ibv_wc_status status);

  // Does the device keep strong and weak apart? Null: no.
  bool (*accepts_hints)(ibv_context* context);
  // Would poll_cq() return something? Any thread, cheap, no false negatives. Null: unknown, the caller must poll.
  bool (*has_completions)(ibv_cq* cq);
};

// The software HCA (backends/emulated/verbs_face.cc).
const VerbsTable& emulated_verbs();
// rdma-core's libibverbs.so.1, loaded on first use. Fails with the reason if there is none, or it lacks a symbol.
Result<const VerbsTable*> load_rdma_core();

}  // namespace anygin::verbs
