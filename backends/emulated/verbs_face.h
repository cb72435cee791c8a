// SPDX-License-Identifier: Apache-2.0
// The verbs face of the software HCA: libibverbs' own structs over an Hca. verbs_face.cc has the objects,
// verbs_face_work.cc posting and polling. What a face object is given is checked as a driver would; errors are errno.
//
// Not like hardware: the access flags of a queue pair are kept and not enforced (regions decide); receives, shared
// receive queues and completion channels are refused with EOPNOTSUPP.
#pragma once

#include <atomic>
#include <cstdint>

#include "anygin/emulated/hca.h"
#include "anygin/verbs/verbs_table.h"

namespace anygin::emulated {

// A NIC in this process's list of verbs devices, from construction to destruction.
class VerbsDevice : public ibv_device {
 public:
  explicit VerbsDevice(Hca& hca);
  ~VerbsDevice();
  VerbsDevice(const VerbsDevice&) = delete;
  VerbsDevice& operator=(const VerbsDevice&) = delete;

  Hca& hca() { return hca_; }

 private:
  Hca& hca_;
};

// The structs a program holds are the bases of these.
struct FaceContext : ibv_context {
  Hca* hca = nullptr;
  std::atomic<int> users{0};  // protection domains and completion queues
};
struct FacePd : ibv_pd {
  std::atomic<int> users{0};  // regions and queue pairs
};
struct FaceMr : ibv_mr {
  MemoryRegion* region = nullptr;
};
struct FaceCq : ibv_cq {
  CompletionQueue* queue = nullptr;
};
struct FaceQp : ibv_qp {
  QueuePair* pair = nullptr;
  ibv_qp_cap capacity{};
  ibv_qp_attr attributes{};  // as modified
  bool signal_all = false;
};

inline Hca& hca_of(ibv_context* context) {
  return *static_cast<FaceContext*>(context)->hca;
}

// verbs_face_work.cc
int face_post_send(ibv_qp* qp, ibv_send_wr* first, ibv_send_wr** bad);
int face_post_recv(ibv_qp* qp, ibv_recv_wr* first, ibv_recv_wr** bad);
int face_poll_cq(ibv_cq* cq, int count, ibv_wc* completions);
const char* face_status_name(ibv_wc_status status);
// verbs_face_pair.cc
ibv_qp* face_create_qp(ibv_pd* pd, ibv_qp_init_attr* wanted);
int face_modify_qp(ibv_qp* qp, ibv_qp_attr* attributes, int mask);
int face_query_qp(ibv_qp* qp, ibv_qp_attr* attributes, int mask, ibv_qp_init_attr* init);
int face_destroy_qp(ibv_qp* qp);

}  // namespace anygin::emulated
