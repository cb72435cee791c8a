// SPDX-License-Identifier: Apache-2.0
// Devices, contexts, protection domains, regions and completion queues of the verbs face, and the table.
#include "anygin/emulated/verbs_face.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <vector>

#include "anygin/base/assert.h"

namespace anygin::emulated {
namespace {

constexpr uint8_t kPortNumber = 1;

// The verbs API has one list of devices a process: this is it.
struct DeviceList {
  std::mutex mutex;
  std::vector<VerbsDevice*> devices;  // null: the number is free
};
DeviceList& device_list() {
  static DeviceList& list = *new DeviceList;
  return list;
}

template <typename T>
T* fail_with(int error) {
  errno = error;
  return nullptr;
}

ibv_device** get_device_list(int* count) {
  DeviceList& list = device_list();
  std::lock_guard lock(list.mutex);
  auto** devices = new ibv_device*[list.devices.size() + 1];
  int found = 0;
  for (VerbsDevice* device : list.devices) {
    if (device) devices[found++] = device;
  }
  devices[found] = nullptr;
  if (count) *count = found;
  return devices;
}

void free_device_list(ibv_device** list) {
  delete[] list;
}

const char* get_device_name(ibv_device* device) {
  return device->name;
}

ibv_context* open_device(ibv_device* device) {
  auto* context = new FaceContext{};
  context->hca = &static_cast<VerbsDevice*>(device)->hca();
  context->device = device;
  context->ops.poll_cq = face_poll_cq;
  context->ops.post_send = face_post_send;
  context->ops.post_recv = face_post_recv;
  context->cmd_fd = context->async_fd = -1;
  context->num_comp_vectors = 1;
  return context;
}

int close_device(ibv_context* context) {
  auto* face = static_cast<FaceContext*>(context);
  if (face->users.load() > 0) return EBUSY;
  delete face;
  return 0;
}

int query_device(ibv_context*, ibv_device_attr* attributes) {
  *attributes = ibv_device_attr{};
  std::strncpy(attributes->fw_ver, "anygin", sizeof(attributes->fw_ver) - 1);
  attributes->max_mr_size = ~uint64_t{0};
  attributes->page_size_cap = 4096;
  attributes->max_qp = Hca::kQueuePairsMax;
  attributes->max_qp_wr = Hca::kDepthMax;
  attributes->max_sge = 1;
  attributes->max_cq = Hca::kQueuePairsMax;
  attributes->max_cqe = Hca::kCompletionsMax;
  attributes->max_mr = kMrSlots - 1;
  attributes->max_pd = 1 << 16;
  attributes->max_qp_rd_atom = kFlowOpsMax;
  attributes->max_qp_init_rd_atom = kFlowOpsMax;
  attributes->max_res_rd_atom = static_cast<int>(kFlowOpsMax * Hca::kQueuePairsMax);
  attributes->atomic_cap = IBV_ATOMIC_HCA;
  attributes->phys_port_cnt = 1;
  return 0;
}

int query_port(ibv_context*, uint8_t port, ibv_port_attr* attributes) {
  if (port != kPortNumber) return EINVAL;
  *attributes = ibv_port_attr{};
  attributes->state = IBV_PORT_ACTIVE;
  attributes->max_mtu = attributes->active_mtu = IBV_MTU_4096;
  attributes->gid_tbl_len = 1;
  attributes->max_msg_sz = Hca::kBytesMax;
  attributes->pkey_tbl_len = 1;
  attributes->lid = 1;
  attributes->active_width = 2;   // 4 lanes
  attributes->active_speed = 32;  // of 25 Gbit/s
  attributes->phys_state = 5;     // link up
  attributes->link_layer = IBV_LINK_LAYER_INFINIBAND;
  return 0;
}

int query_gid(ibv_context* context, uint8_t port, int index, ibv_gid* gid) {
  if (port != kPortNumber || index != 0) return EINVAL;
  const PortAddress address = hca_of(context).port().address();
  static_assert(sizeof(*gid) == sizeof(address));
  std::memcpy(gid->raw, &address, sizeof(address));
  return 0;
}

ibv_pd* alloc_pd(ibv_context* context) {
  auto* pd = new FacePd{};
  pd->context = context;
  static_cast<FaceContext*>(context)->users.fetch_add(1);
  return pd;
}

int dealloc_pd(ibv_pd* pd) {
  auto* face = static_cast<FacePd*>(pd);
  if (face->users.load() > 0) return EBUSY;
  static_cast<FaceContext*>(pd->context)->users.fetch_sub(1);
  delete face;
  return 0;
}

uint32_t access_bits(int access) {
  uint32_t bits = 0;
  if (access & IBV_ACCESS_LOCAL_WRITE) bits |= kAccessLocalWrite;
  if (access & IBV_ACCESS_REMOTE_WRITE) bits |= kAccessRemoteWrite;
  if (access & IBV_ACCESS_REMOTE_READ) bits |= kAccessRemoteRead;
  if (access & IBV_ACCESS_REMOTE_ATOMIC) bits |= kAccessRemoteAtomic;
  return bits;
}

ibv_mr* reg_mr(ibv_pd* pd, void* address, size_t bytes, int access) {
  const bool remote_stores = (access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)) != 0;
  if (!address || bytes == 0) return fail_with<ibv_mr>(EINVAL);
  if (remote_stores && (access & IBV_ACCESS_LOCAL_WRITE) == 0) return fail_with<ibv_mr>(EINVAL);
  MemoryRegion* region = hca_of(pd->context).register_memory(static_cast<char*>(address), bytes, access_bits(access));
  if (!region) return fail_with<ibv_mr>(ENOMEM);
  auto* mr = new FaceMr{};
  mr->region = region;
  mr->context = pd->context;
  mr->pd = pd;
  mr->addr = address;
  mr->length = bytes;
  mr->lkey = mr->rkey = region->key;
  static_cast<FacePd*>(pd)->users.fetch_add(1);
  return mr;
}

int dereg_mr(ibv_mr* mr) {
  auto* face = static_cast<FaceMr*>(mr);
  hca_of(mr->context).deregister_memory(face->region);
  static_cast<FacePd*>(mr->pd)->users.fetch_sub(1);
  delete face;
  return 0;
}

ibv_cq* create_cq(ibv_context* context, int entries, void* cq_context, ibv_comp_channel* channel, int vector) {
  if (channel) return fail_with<ibv_cq>(EOPNOTSUPP);
  if (entries < 1 || static_cast<uint32_t>(entries) > Hca::kCompletionsMax || vector != 0) {
    return fail_with<ibv_cq>(EINVAL);
  }
  auto* cq = new FaceCq{};
  cq->queue = hca_of(context).create_completion_queue(static_cast<uint32_t>(entries));
  cq->context = context;
  cq->cq_context = cq_context;
  cq->cqe = entries;
  static_cast<FaceContext*>(context)->users.fetch_add(1);
  return cq;
}

int destroy_cq(ibv_cq* cq) {
  auto* face = static_cast<FaceCq*>(cq);
  if (const int error = hca_of(cq->context).destroy_completion_queue(face->queue)) return error;
  static_cast<FaceContext*>(cq->context)->users.fetch_sub(1);
  delete face;
  return 0;
}

bool accepts_hints(ibv_context* context) {
  return hca_of(context).accepts_hints();
}
bool has_completions(ibv_cq* cq) {
  return static_cast<FaceCq*>(cq)->queue->has_completions();
}

}  // namespace

VerbsDevice::VerbsDevice(Hca& hca) : ibv_device{}, hca_(hca) {
  DeviceList& list = device_list();
  std::lock_guard lock(list.mutex);
  auto free_place = std::find(list.devices.begin(), list.devices.end(), nullptr);
  if (free_place == list.devices.end()) free_place = list.devices.insert(free_place, nullptr);
  *free_place = this;
  const auto number = free_place - list.devices.begin();
  fmt::format_to_n(name, sizeof(name) - 1, "anygin_emu{}", number);
  fmt::format_to_n(dev_name, sizeof(dev_name) - 1, "anygin_emu{}", number);
  node_type = IBV_NODE_CA;
  transport_type = IBV_TRANSPORT_IB;
}

VerbsDevice::~VerbsDevice() {
  DeviceList& list = device_list();
  std::lock_guard lock(list.mutex);
  std::replace(list.devices.begin(), list.devices.end(), this, static_cast<VerbsDevice*>(nullptr));
}

}  // namespace anygin::emulated

namespace anygin::verbs {

const VerbsTable& emulated_verbs() {
  using namespace anygin::emulated;
  static const VerbsTable table = {
      .get_device_list = get_device_list,
      .free_device_list = free_device_list,
      .get_device_name = get_device_name,
      .open_device = open_device,
      .close_device = close_device,
      .query_device = query_device,
      .query_port = query_port,
      .query_gid = query_gid,
      .alloc_pd = alloc_pd,
      .dealloc_pd = dealloc_pd,
      .reg_mr = reg_mr,
      .dereg_mr = dereg_mr,
      .create_cq = create_cq,
      .destroy_cq = destroy_cq,
      .create_qp = face_create_qp,
      .modify_qp = face_modify_qp,
      .query_qp = face_query_qp,
      .destroy_qp = face_destroy_qp,
      .post_send = face_post_send,
      .poll_cq = face_poll_cq,
      .wc_status_str = face_status_name,
      .accepts_hints = accepts_hints,
      .has_completions = has_completions,
  };
  return table;
}

}  // namespace anygin::verbs
