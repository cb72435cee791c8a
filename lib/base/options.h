// SPDX-License-Identifier: Apache-2.0
// Every environment variable of ours and NCCL's that we honour, parsed once into one struct. An unknown ANYGIN_* or a
// bad value is an error that names the valid choices; an unknown NCCL_GIN_* is a warning. `anygin env` prints this
// table, the parameter functions of nccl.h read it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "anygin/base/array_view.h"
#include "anygin/base/status.h"

namespace anygin {

enum class Profile : uint8_t { kInorder, kCx7, kRelaxed, kSrd };
std::string_view name_of(Profile profile);

// Ranks of each node, in order; empty: one node holds all. "2x4" is {4, 4}, "3,5" is {3, 5}.
struct Topology {
  std::vector<int> ranks_of_node;
  bool rail_only = false;  // suffix ",rail": rails cannot reach each other
};
// The error's text says what is valid.
Result<Topology> parse_topology(std::string_view text);

struct Options {
  std::string nic = "emu";                    // ANYGIN_NIC: emu | none (hw comes with its issue)
  std::string fabric = "direct";              // ANYGIN_FABRIC: direct (tcp comes with its issue)
  Profile profile = Profile::kInorder;        // ANYGIN_PROFILE
  Topology topology;                          // ANYGIN_TOPOLOGY
  int devices = 0;                            // ANYGIN_DEVICES; 0: max(8, ranks of this host)
  uint64_t seed = 1;                          // ANYGIN_SEED; `random` draws and prints
  uint64_t hang_timeout_ns = 10'000'000'000;  // ANYGIN_HANG_TIMEOUT, seconds; 0: never
  int workers = 0;                            // ANYGIN_WORKERS; 0: max(1, cores / processes of this host)
  int engine_threads = 1;                     // ANYGIN_ENGINE_THREADS
  std::string comm_token;                     // ANYGIN_COMM_TOKEN, hex
  std::string world;                          // ANYGIN_WORLD: path of a world library
  std::string sim;                            // ANYGIN_SIM: settings of the simulated world
  std::string device_error = "leave";         // ANYGIN_DEVICE_ERROR: leave | trap
  std::string trace_file;                     // ANYGIN_TRACE: write the event stream here
  std::string nccl_comm_id;                   // NCCL_COMM_ID: host:port
  std::string nccl_debug = "WARN";            // NCCL_DEBUG: NONE | ERROR | WARN | INFO | TRACE
  int nccl_gin_enable = 1;                    // NCCL_GIN_ENABLE
  int nccl_gin_type = -1;                     // NCCL_GIN_TYPE: -1 any, 2 proxy, 3 GDAKI, 4 GPI
  int nccl_gin_proxy_queue_size = -1;         // NCCL_GIN_PROXY_QUEUE_SIZE
  int nccl_elastic_buffer_register = 1;       // NCCL_ELASTIC_BUFFER_REGISTER
  int nccl_win_enable = 1;                    // NCCL_WIN_ENABLE
  int nccl_lsa_team_size = 0;                 // NCCL_LSA_TEAM_SIZE
  int nccl_cross_nic = 2;                     // NCCL_CROSS_NIC
  int nccl_nvls_enable = 2;                   // NCCL_NVLS_ENABLE
  int nccl_gin_contexts_per_comm = 16;        // NCCL_GIN_CONTEXTS_PER_COMM
  int nccl_num_rma_ctx = -1;                  // NCCL_NUM_RMA_CTX; -1: what ncclConfig_t says
  int nccl_enable_version_check = 1;          // NCCL_ENABLE_VERSION_CHECK
  bool nccl_param_dump_all = false;           // NCCL_PARAM_DUMP_ALL

  std::vector<std::string> warnings;  // of NCCL_GIN_* names that mean nothing here; told once
};

enum class OptionType : uint8_t { kText, kInt32, kUint64 };

// A variable as the help shows it.
struct OptionInfo {
  std::string_view name, default_value, meaning;
  OptionType type = OptionType::kText;
};
ArrayView<const OptionInfo> option_table();
// What `options` holds for the variable of that name, as text; nothing if there is no such variable.
std::optional<std::string> option_value(const Options& options, std::string_view name);

// Parses "NAME=value" strings (environ's form).
Result<Options> parse_options(ArrayView<const char* const> environment);
// Those of this process, parsed on first use; a bad value is printed and ends the process with exit code 2.
const Options& options();
void set_options_for_test(const Options& replacement);

}  // namespace anygin
