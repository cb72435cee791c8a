// SPDX-License-Identifier: Apache-2.0
// Which NIC: the one place that knows where tables of verbs come from.
#include <utility>

#include "anygin/emulated/emulated_nic.h"
#include "anygin/verbs/verbs_transport.h"

namespace anygin::verbs {
namespace {

class RealNic final : public Nic {
 public:
  explicit RealNic(const VerbsTable& table) : table_(table) {}
  const VerbsTable& table() const override { return table_; }

 private:
  const VerbsTable& table_;
};

class SoftwareNic final : public Nic {
 public:
  explicit SoftwareNic(std::unique_ptr<emulated::EmulatedNic> nic) : nic_(std::move(nic)) {}
  const VerbsTable& table() const override { return emulated_verbs(); }
  ibv_device* device() override { return nic_->device(); }
  void fail_peer(Rank peer) override { nic_->fail_peer(peer); }
  bool busy() const override { return nic_->busy(); }

 private:
  const std::unique_ptr<emulated::EmulatedNic> nic_;
};

Result<std::shared_ptr<Nic>> open_software_nic(Bootstrap& bootstrap, const Options& options) {
  Result<std::unique_ptr<emulated::EmulatedNic>> nic = emulated::EmulatedNic::open(bootstrap, options);
  if (!nic.ok()) return nic.status();
  return std::shared_ptr<Nic>(std::make_shared<SoftwareNic>(std::move(*nic)));
}

Result<std::shared_ptr<Nic>> open_real_nic(Bootstrap& bootstrap) {
  const Result<const VerbsTable*> table = load_rdma_core();
  ANYGIN_TRY(agree(bootstrap, "rdma-core", table.status()));
  return std::shared_ptr<Nic>(std::make_shared<RealNic>(**table));
}

}  // namespace

Result<std::shared_ptr<Nic>> open_nic(Bootstrap& bootstrap, const Options& options) {
  if (options.nic == "emu") return open_software_nic(bootstrap, options);
  if (options.nic == "hw") return open_real_nic(bootstrap);
  return Status(Cause::kNoBackend, "ANYGIN_NIC", "'" + options.nic + "' is no NIC that puts can use; valid: emu, hw");
}

Result<std::unique_ptr<Transport>> open_transport(Bootstrap& bootstrap, const Options& options) {
  Result<std::shared_ptr<Nic>> nic = open_nic(bootstrap, options);
  if (!nic.ok()) return nic.status();
  return VerbsTransport::open(std::move(*nic), bootstrap);
}

}  // namespace anygin::verbs
