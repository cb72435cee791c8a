// SPDX-License-Identifier: Apache-2.0
// Puts a NIC together: port, HCA, verbs device.
#include "anygin/emulated/emulated_nic.h"

#include <fmt/format.h>

#include "anygin/emulated/fabric/fabric.h"
#include "anygin/emulated/hca.h"
#include "anygin/emulated/verbs_face.h"

namespace anygin::emulated {
namespace {

class Nic final : public EmulatedNic {
 public:
  Nic(World& world, std::unique_ptr<Port> port, const Options& options)
      : hca_(world, std::move(port), HcaOptions{options.profile, true}), device_(hca_) {}

  ibv_device* device() override { return &device_; }
  void fail_peer(Rank peer) override { hca_.fail_peer(peer); }
  bool busy() const override { return hca_.busy(); }

 private:
  Hca hca_;
  VerbsDevice device_;
};

Result<FabricProvider*> fabric_of(World& world, const Options& options) {
  if (world.fabrics) return world.fabrics;
  if (options.fabric == "direct") return &direct_fabric();
  return Status(Cause::kEnvironment, "ANYGIN_FABRIC",
                fmt::format("'{}' names no fabric that this build has; valid: direct", options.fabric));
}

}  // namespace

Result<std::unique_ptr<EmulatedNic>> EmulatedNic::open(Bootstrap& bootstrap, const Options& options) {
  World& here = world();
  Result<FabricProvider*> fabric = fabric_of(here, options);
  if (!fabric.ok()) return fabric.status();
  Result<std::unique_ptr<Port>> port = (*fabric)->open_port(here, bootstrap, options);
  if (!port.ok()) return port.status();
  return std::unique_ptr<EmulatedNic>(std::make_unique<Nic>(here, std::move(*port), options));
}

}  // namespace anygin::emulated
