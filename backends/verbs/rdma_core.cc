// SPDX-License-Identifier: Apache-2.0
// The table over rdma-core's libibverbs, loaded when asked for: a machine without it builds and runs all the rest.
#include "anygin/verbs/rdma_core.h"

#include <dlfcn.h>

#include <cstring>
#include <mutex>
#include <string>

namespace anygin::verbs {
namespace {

// Fills `*function` with the symbol `name`; an error names the first one missing.
template <typename Function>
void load(void* library, const char* name, Function* function, std::string* missing) {
  void* symbol = dlsym(library, name);
  if (symbol == nullptr && missing->empty()) *missing = name;
  std::memcpy(function, &symbol, sizeof(symbol));
}

// The exported ibv_query_port() writes a shorter struct than the header's: the tail stays zero.
int (*exported_query_port)(ibv_context*, uint8_t, ibv_port_attr*) = nullptr;
int query_port(ibv_context* context, uint8_t port, ibv_port_attr* attributes) {
  *attributes = ibv_port_attr{};
  return exported_query_port(context, port, attributes);
}

// Optional access flags, relaxed ordering among them, need the newer function; without it they are left out.
ibv_mr* (*exported_reg_mr)(ibv_pd*, void*, size_t, int) = nullptr;
ibv_mr* (*exported_reg_mr_iova2)(ibv_pd*, void*, size_t, uint64_t, unsigned) = nullptr;
ibv_mr* reg_mr(ibv_pd* pd, void* address, size_t bytes, int access) {
  if (exported_reg_mr_iova2 == nullptr) {
    return exported_reg_mr(pd, address, bytes, access & ~static_cast<int>(IBV_ACCESS_OPTIONAL_RANGE));
  }
  return exported_reg_mr_iova2(pd, address, bytes, reinterpret_cast<uint64_t>(address), static_cast<unsigned>(access));
}

}  // namespace

Status fill_from_library(const char* name, VerbsTable& table) {
  void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return Status(Cause::kNicUnavailable, "rdma-core",
                  std::string("no real NIC without ") + name + " (Debian package libibverbs1): " + dlerror());
  }
  std::string missing;
  load(library, "ibv_get_device_list", &table.get_device_list, &missing);
  load(library, "ibv_free_device_list", &table.free_device_list, &missing);
  load(library, "ibv_get_device_name", &table.get_device_name, &missing);
  load(library, "ibv_open_device", &table.open_device, &missing);
  load(library, "ibv_close_device", &table.close_device, &missing);
  load(library, "ibv_query_device", &table.query_device, &missing);
  load(library, "ibv_query_port", &exported_query_port, &missing);
  load(library, "ibv_query_gid", &table.query_gid, &missing);
  load(library, "ibv_alloc_pd", &table.alloc_pd, &missing);
  load(library, "ibv_dealloc_pd", &table.dealloc_pd, &missing);
  load(library, "ibv_reg_mr", &exported_reg_mr, &missing);
  std::string optional;
  load(library, "ibv_reg_mr_iova2", &exported_reg_mr_iova2, &optional);
  load(library, "ibv_dereg_mr", &table.dereg_mr, &missing);
  load(library, "ibv_create_cq", &table.create_cq, &missing);
  load(library, "ibv_destroy_cq", &table.destroy_cq, &missing);
  load(library, "ibv_create_qp", &table.create_qp, &missing);
  load(library, "ibv_modify_qp", &table.modify_qp, &missing);
  load(library, "ibv_query_qp", &table.query_qp, &missing);
  load(library, "ibv_destroy_qp", &table.destroy_qp, &missing);
  load(library, "ibv_wc_status_str", &table.wc_status_str, &missing);
  table.query_port = query_port;
  table.reg_mr = reg_mr;
  // Inline functions of the header: they call the device's own.
  table.post_send = [](ibv_qp* pair, ibv_send_wr* first, ibv_send_wr** bad) {
    return pair->context->ops.post_send(pair, first, bad);
  };
  table.poll_cq = [](ibv_cq* queue, int count, ibv_wc* completions) {
    return queue->context->ops.poll_cq(queue, count, completions);
  };
  table.accepts_hints = nullptr;
  table.has_completions = nullptr;
  if (missing.empty()) return Status();
  dlclose(library);
  return Status(Cause::kNicUnavailable, "rdma-core",
                std::string(name) + " has no " + missing + "; a newer one is needed");
}

Result<const VerbsTable*> load_rdma_core() {
  static VerbsTable table{};
  static std::once_flag once;
  static Status loaded;
  std::call_once(once, [] { loaded = fill_from_library("libibverbs.so.1", table); });
  if (!loaded.ok()) return loaded;
  return &table;
}

}  // namespace anygin::verbs
