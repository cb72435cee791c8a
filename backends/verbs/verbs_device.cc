// SPDX-License-Identifier: Apache-2.0
#include "anygin/verbs/verbs_device.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

namespace anygin::verbs {

Result<std::unique_ptr<VerbsDevice>> VerbsDevice::open(const VerbsTable& table, ibv_device* wanted) {
  int count = 1;
  ibv_device** list = wanted == nullptr ? table.get_device_list(&count) : &wanted;
  if (list == nullptr) count = 0;
  std::string reasons;
  std::unique_ptr<VerbsDevice> found;
  for (int i = 0; i < count && !found; ++i) {
    auto device = std::unique_ptr<VerbsDevice>(new VerbsDevice(table));
    const std::string why_not = device->try_open(list[i]);
    if (why_not.empty()) {
      found = std::move(device);
    } else {
      reasons += fmt::format("; {}: {}", table.get_device_name(list[i]), why_not);
    }
  }
  if (wanted == nullptr && list != nullptr) table.free_device_list(list);
  if (found) return found;
  return Status(Cause::kNicUnavailable, "NIC", fmt::format("none of {} RDMA devices is usable{}", count, reasons));
}

std::string VerbsDevice::try_open(ibv_device* device) {
  context_ = Handle<ibv_context>(table_.open_device(device), {table_.close_device});
  if (!context_) return fmt::format("open_device: {}", std::strerror(errno));
  if (const int error = table_.query_device(context(), &attributes_); error != 0) {
    return fmt::format("query_device: {}", std::strerror(error));
  }
  if (const int error = table_.query_port(context(), kPort, &port_); error != 0) {
    return fmt::format("query_port {}: {}", kPort, std::strerror(error));
  }
  if (port_.state != IBV_PORT_ACTIVE) return fmt::format("port {} is not active", kPort);
  address_.lid = port_.lid;
  if (const int error = table_.query_gid(context(), kPort, 0, &address_.gid); error != 0) {
    return fmt::format("query_gid 0 of port {}: {}", kPort, std::strerror(error));
  }
  if (attributes_.atomic_cap == IBV_ATOMIC_NONE) return "no atomics: signals need fetch-and-add";
  pd_ = Handle<ibv_pd>(table_.alloc_pd(context()), {table_.dealloc_pd});
  if (!pd_) return fmt::format("alloc_pd: {}", std::strerror(errno));
  accepts_hints_ = table_.accepts_hints != nullptr && table_.accepts_hints(context());
  return "";
}

Handle<ibv_mr> VerbsDevice::register_memory(void* base, size_t bytes, int access) const {
  return Handle<ibv_mr>(table_.reg_mr(pd(), base, bytes, access), {table_.dereg_mr});
}

}  // namespace anygin::verbs
