// SPDX-License-Identifier: Apache-2.0
// An opened NIC: context, protection domain, port, and what they can do.
#pragma once

#include <memory>

#include "anygin/verbs/verbs_table.h"

namespace anygin::verbs {

// Owns an object of verbs; destroyed by the table's function.
template <typename T>
struct Destroy {
  int (*function)(T*) = nullptr;
  void operator()(T* object) const { function(object); }
};
template <typename T>
using Handle = std::unique_ptr<T, Destroy<T>>;

// How a rank is addressed on the fabric. Sent to peers as bytes.
struct PortAddress {
  ibv_gid gid{};
  uint16_t lid = 0;
};

class VerbsDevice {
 public:
  static constexpr uint8_t kPort = 1;

  // `wanted`, or the first device whose port 1 is active if it is null. Fails with kSystemError, naming the devices
  // there are and why not.
  static Result<std::unique_ptr<VerbsDevice>> open(const VerbsTable& table, ibv_device* wanted);

  const VerbsTable& table() const { return table_; }
  ibv_context* context() const { return context_.get(); }
  ibv_pd* pd() const { return pd_.get(); }
  const ibv_device_attr& attributes() const { return attributes_; }
  const ibv_port_attr& port() const { return port_; }
  const PortAddress& address() const { return address_; }
  bool accepts_hints() const { return accepts_hints_; }
  // As if it accepted none. Before anything is posted.
  void use_no_hints() { accepts_hints_ = false; }

  // Registers [base, base+bytes); null with errno on failure.
  Handle<ibv_mr> register_memory(void* base, size_t bytes, int access) const;

 private:
  explicit VerbsDevice(const VerbsTable& table) : table_(table) {}
  // Empty if the device is usable, else why it is not.
  std::string try_open(ibv_device* device);

  const VerbsTable& table_;
  Handle<ibv_context> context_;
  Handle<ibv_pd> pd_;
  ibv_device_attr attributes_{};
  ibv_port_attr port_{};
  PortAddress address_;
  bool accepts_hints_ = false;
};

}  // namespace anygin::verbs
