// SPDX-License-Identifier: Apache-2.0
#include "anygin/comm/backend_select.h"

#include <fmt/format.h>

namespace anygin::comm {
namespace {

constexpr int kAnyType = -1, kProxyType = 2, kGdakiType = 3, kGpiType = 4;

}  // namespace

GinChoice choose_gin(const Options& options) {
  const auto none = [](std::string why) { return GinChoice{GinKind::kNone, std::move(why)}; };
  if (options.nic == "none") return none("ANYGIN_NIC is none; emu would give the software HCA");
  if (options.nic != "emu") {
    return none(
        fmt::format("ANYGIN_NIC is {}, which this version has no backend for; emu would be right", options.nic));
  }
  if (options.fabric != "direct") {
    return none(
        fmt::format("ANYGIN_FABRIC is {}, which this version does not have; direct would be right", options.fabric));
  }
  switch (options.nccl_gin_type) {
    case kAnyType:
    case kProxyType:
      return {GinKind::kProxy, ""};
    case kGdakiType:
      return none("NCCL_GIN_TYPE is 3 (GDAKI), which this version does not have; 2 (proxy) would be right");
    case kGpiType:
      return none("NCCL_GIN_TYPE is 4 (GPI), which this version does not have; 2 (proxy) would be right");
    default:
      return none(
          fmt::format("NCCL_GIN_TYPE is {}, which is no type; 2 (proxy) would be right", options.nccl_gin_type));
  }
}

Result<std::unique_ptr<Backend>> open_gin(const GinChoice& choice, const BackendOpening& opening) {
  if (choice.kind == GinKind::kNone) return Status(Cause::kNoBackend, "GIN", choice.why_none);
  if (opening.options.nccl_gin_enable == 0)
    return Status(Cause::kGinDisabled, "GIN", "NCCL_GIN_ENABLE is 0, which switches GIN off; unset it, or set 1");
  return open_proxy_backend(opening);
}

}  // namespace anygin::comm
