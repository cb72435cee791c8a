// SPDX-License-Identifier: Apache-2.0
#include "anygin/comm/c_api_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "anygin/base/options.h"
#include "anygin/comm/newer_fields.h"

namespace anygin::comm {
namespace {

constexpr int kOpen = NCCL_CONFIG_UNDEF_INT;
constexpr int kChannelsMax = 64;
constexpr int kRmaSelectorsMax = 4096;  // signals of all contexts, for each source

// A field, from which version on it is read, what it may be, and what it becomes when left open.
struct Field {
  const char* name;
  int ncclConfig_t::*at;
  int since;
  int least, most;
  int value_if_open;
};

const Field kFields[] = {
    {"blocking", &ncclConfig_t::blocking, 0, 0, 1, 1},
    {"cgaClusterSize", &ncclConfig_t::cgaClusterSize, 0, 0, INT_MAX, 4},
    {"minCTAs", &ncclConfig_t::minCTAs, 0, 1, INT_MAX, 1},
    {"maxCTAs", &ncclConfig_t::maxCTAs, 0, 1, INT_MAX, kChannelsMax},
    {"splitShare", &ncclConfig_t::splitShare, 0, 0, 1, 0},
    {"trafficClass", &ncclConfig_t::trafficClass, 0, INT_MIN, INT_MAX, kOpen},
    {"collnetEnable", &ncclConfig_t::collnetEnable, 0, 0, 1, 0},
    {"CTAPolicy", &ncclConfig_t::CTAPolicy, 0, 0, NCCL_CTA_POLICY_EFFICIENCY | NCCL_CTA_POLICY_ZERO, 0},
    {"shrinkShare", &ncclConfig_t::shrinkShare, 0, 0, 1, 0},
    {"nvlsCTAs", &ncclConfig_t::nvlsCTAs, 0, 1, INT_MAX, kOpen},
    {"nChannelsPerNetPeer", &ncclConfig_t::nChannelsPerNetPeer, NCCL_VERSION(2, 28, 0), 1, kChannelsMax, kOpen},
    {"nvlinkCentricSched", &ncclConfig_t::nvlinkCentricSched, NCCL_VERSION(2, 28, 0), 0, 1, 0},
    {"graphUsageMode", &ncclConfig_t::graphUsageMode, NCCL_VERSION(2, 29, 0), 0, 2, 2},
    {"numRmaCtx", &ncclConfig_t::numRmaCtx, NCCL_VERSION(2, 29, 0), 0, INT_MAX, 1},
    {"maxP2pPeers", &ncclConfig_t::maxP2pPeers, NCCL_VERSION(2, 30, 0), 1, INT_MAX, kOpen},
    {"graphStreamOrdering", &ncclConfig_t::graphStreamOrdering, NCCL_VERSION(2, 30, 5), 0, 1, 1},
};

Status bad(std::string text) {
  return Status(Cause::kConfigInvalid, "ncclConfig_t", std::move(text));
}

Status resolve(const Field& field, int version, ncclConfig_t& config) {
  int& value = config.*field.at;
  if (version < field.since || value == kOpen) {
    value = field.value_if_open;
    return Status();
  }
  if (value >= field.least && value <= field.most) return Status();
  if (field.most == INT_MAX)
    return bad(fmt::format("{} is {}; {} or more would be right", field.name, value, field.least));
  return bad(fmt::format("{} is {}; {} to {} would be right", field.name, value, field.least, field.most));
}

}  // namespace

Result<ncclConfig_t> resolve_config(const ncclConfig_t* given) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  if (given != nullptr) {
    if (given->magic != NCCL_API_MAGIC) return bad("it was not initialized; start from NCCL_CONFIG_INITIALIZER");
    std::memcpy(&config, given, std::min(given->size, sizeof(config)));
  }
  for (const Field& field : kFields) ANYGIN_TRY(resolve(field, static_cast<int>(config.version), config));
  // With maxCTAs left open the default counts, unlike NCCL 2.30.7 (contract A.27).
  if (config.minCTAs > config.maxCTAs) {
    return bad(fmt::format("minCTAs is {}, more than maxCTAs, {}", config.minCTAs, config.maxCTAs));
  }
  if (config.graphUsageMode == 2) config.graphStreamOrdering = 1;
  if (options().nccl_num_rma_ctx >= 0) config.numRmaCtx = options().nccl_num_rma_ctx;
  return config;
}

namespace {

// What 2.31 appended: how many signals and contexts host one-sided calls may name. Before it was one of each.
Status read_newer(const ncclConfig_t& given, CommunicatorSettings& settings) {
  if (given.version < kSince231 || !ANYGIN_HAS_FIELD(NewerConfig, host_cft_mode, given.size)) return Status();
  NewerConfig newer;
  std::memcpy(&newer, &given, sizeof(newer));
  const auto check = [](const char* name, int value, int least, int most) {
    if (value == kOpen || (value >= least && value <= most)) return Status();
    return bad(fmt::format("{} is {}; {} to {} would be right", name, value, least, most));
  };
  ANYGIN_TRY(check("numRmaSig", newer.rma_signals, 1, kRmaSelectorsMax));
  ANYGIN_TRY(check("rmaEagerInit", newer.rma_eager_init, 0, 1));
  ANYGIN_TRY(check("launchOrderImplicit", newer.launch_order_implicit, 0, 1));
  ANYGIN_TRY(check("hostCftMode", newer.host_cft_mode, 0, 0));
  settings.rma.signals = newer.rma_signals == kOpen ? 1 : newer.rma_signals;
  settings.rma.contexts = std::max(1, settings.rma_contexts);
  if (settings.rma.contexts <= kRmaSelectorsMax / settings.rma.signals) return Status();
  return bad(fmt::format("numRmaCtx {} times numRmaSig {} is more than {}", settings.rma.contexts, settings.rma.signals,
                         kRmaSelectorsMax));
}

}  // namespace

Result<CommunicatorSettings> settings_from(const ncclConfig_t* given, const CommunicatorSettings& inherited) {
  if (given == nullptr) return inherited;
  Result<ncclConfig_t> resolved = resolve_config(given);
  if (!resolved.ok()) return resolved.status();
  CommunicatorSettings settings;
  settings.blocking = resolved->blocking != 0;
  settings.traffic_class = resolved->trafficClass == NCCL_CONFIG_UNDEF_INT ? 0 : resolved->trafficClass;
  settings.rma_contexts = resolved->numRmaCtx;
  ANYGIN_TRY(read_newer(*given, settings));
  return settings;
}

}  // namespace anygin::comm
