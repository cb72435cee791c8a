// SPDX-License-Identifier: Apache-2.0
// Which NIC: the one place that knows where tables of verbs come from.
#include <utility>

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

}  // namespace

Result<std::unique_ptr<Transport>> open_transport(Bootstrap& bootstrap, const Options& options) {
  if (options.nic != "hw") {
    return Status(Code::kInvalidUsage, "ANYGIN_NIC", "'" + options.nic + "' names no NIC that this build has");
  }
  Result<const VerbsTable*> table = load_rdma_core();
  ANYGIN_TRY(agree(bootstrap, "rdma-core", table.status()));
  return VerbsTransport::open(std::make_unique<RealNic>(**table), bootstrap);
}

}  // namespace anygin::verbs
