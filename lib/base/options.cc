// SPDX-License-Identifier: Apache-2.0
#include "anygin/base/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <numeric>

#include "anygin/base/env_real.h"
#include "anygin/base/mutant.h"

namespace anygin {
namespace {

using std::string_view;

Status bad_value(string_view name, string_view value, string_view valid) {
  return Status(Cause::kEnvironment, "environment", fmt::format("{}='{}' is not valid; valid: {}", name, value, valid));
}

template <typename T>
Status parse_number(string_view name, string_view value, T least, T most, T* out) {
  T parsed{};
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), parsed);
  if (error != std::errc() || end != value.data() + value.size() || parsed < least || parsed > most) {
    return bad_value(name, value, fmt::format("a whole number from {} to {}", least, most));
  }
  *out = parsed;
  return Status();
}

Status parse_choice(string_view name, string_view value, std::vector<string_view> choices, std::string* out) {
  if (std::find(choices.begin(), choices.end(), value) == choices.end()) {
    return bad_value(name, value, fmt::format("{}", fmt::join(choices, ", ")));
  }
  *out = std::string(value);
  return Status();
}

Status parse_nic(string_view name, string_view value, Options& o) {
  if (value == "hw") return bad_value(name, value, "emu, none (hardware NICs are not supported by this version yet)");
  return parse_choice(name, value, {"emu", "none"}, &o.nic);
}

Status parse_fabric(string_view name, string_view value, Options& o) {
  if (value == "tcp") return bad_value(name, value, "direct (tcp is not supported by this version yet)");
  return parse_choice(name, value, {"direct"}, &o.fabric);
}

Status parse_profile(string_view name, string_view value, Options& o) {
  for (Profile profile : {Profile::kInorder, Profile::kCx7, Profile::kRelaxed, Profile::kSrd}) {
    if (value == name_of(profile)) {
      o.profile = profile;
      return Status();
    }
  }
  return bad_value(name, value, "inorder, cx7, relaxed, srd");
}

Status parse_seed(string_view name, string_view value, Options& o) {
  if (value == "random") {
    o.seed = draw_random_number();
    std::fprintf(stderr, "anygin: ANYGIN_SEED=%llu\n", static_cast<unsigned long long>(o.seed));
    return Status();
  }
  const Status status = parse_number<uint64_t>(name, value, 0, ~uint64_t{0}, &o.seed);
  return status.ok() ? status : bad_value(name, value, "a whole number from 0 to 2^64-1, random");
}

// Seconds, with a fraction if need be.
Status parse_hang_timeout(string_view name, string_view value, Options& o) {
  double seconds = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), seconds);
  if (error != std::errc() || end != value.data() + value.size() || !(seconds >= 0 && seconds <= 1e6)) {
    return bad_value(name, value, "seconds from 0 (never) to 1000000");
  }
  o.hang_timeout_ns = static_cast<uint64_t>(seconds * 1e9);
  return Status();
}

Status parse_token(string_view name, string_view value, Options& o) {
  const bool is_hex = value.find_first_not_of("0123456789abcdefABCDEF") == string_view::npos;
  if (value.empty() || value.size() % 2 != 0 || !is_hex) {
    // The value is a secret and is not repeated.
    return bad_value(name, "...", "an even number of hexadecimal digits");
  }
  o.comm_token = std::string(value);
  return Status();
}

Status parse_mutant(string_view name, string_view value, Options&) {
#if defined(ANYGIN_MUTANTS)
  if (find_mutant(value) != Mutant::kCount) return Status();
  std::vector<string_view> names;
  for (const MutantInfo& info : mutant_table()) names.push_back(info.name);
  return bad_value(name, value, fmt::format("{}", fmt::join(names, ", ")));
#else
  return bad_value(name, value, "nothing: this build has no mutants (the `mutants` preset has)");
#endif
}

Status parse_address(string_view name, string_view value, Options& o) {
  const size_t colon = value.rfind(':');
  int port = 0;
  if (colon == string_view::npos || colon == 0 ||
      !parse_number<int>(name, value.substr(colon + 1), 1, 65535, &port).ok()) {
    return bad_value(name, value, "host:port, with a port from 1 to 65535");
  }
  o.nccl_comm_id = std::string(value);
  return Status();
}

Status parse_topology_text(string_view name, string_view value, Options& o) {
  Result<Topology> topology = parse_topology(value);
  if (!topology.ok()) return bad_value(name, value, topology.status().text());
  o.topology = *topology;
  return Status();
}

template <auto Member, int Least, int Most>
Status parse_int(string_view name, string_view value, Options& o) {
  return parse_number<int>(name, value, Least, Most, &(o.*Member));
}

template <auto Member>
Status parse_text(string_view name, string_view value, Options& o) {
  if (value.empty()) return bad_value(name, value, "a path");
  o.*Member = std::string(value);
  return Status();
}

Status parse_device_error(string_view name, string_view value, Options& o) {
  return parse_choice(name, value, {"leave", "trap"}, &o.device_error);
}

Status parse_nccl_debug(string_view name, string_view value, Options& o) {
  std::string upper(value);
  for (char& c : upper) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  if (upper == "VERSION") upper = "WARN";  // NCCL: prints the version, and warnings
  if (upper == "ABORT") upper = "ERROR";
  if (upper.empty()) upper = "WARN";
  const Status status = parse_choice(name, upper, {"NONE", "ERROR", "WARN", "INFO", "TRACE"}, &o.nccl_debug);
  return status.ok() ? status : bad_value(name, value, "NONE, VERSION, ABORT, ERROR, WARN, INFO, TRACE");
}

Status parse_gin_type(string_view name, string_view value, Options& o) {
  int type = 0;
  if (!parse_number<int>(name, value, -1, 4, &type).ok() || type == 0 || type == 1) {
    return bad_value(name, value, "-1 (any), 2 (proxy), 3 (GDAKI), 4 (GPI)");
  }
  o.nccl_gin_type = type;
  return Status();
}

// By name, or by the number that NCCL_GIN_TYPE takes.
Status parse_gin_backend(string_view name, string_view value, Options& o) {
  constexpr std::pair<string_view, int> kBackends[] = {{"any", -1}, {"proxy", 2}, {"gdaki", 3}, {"gpi", 4}};
  for (const auto& [backend, type] : kBackends) {
    if (value != backend) continue;
    o.nccl_gin_type = type;
    return Status();
  }
  return parse_gin_type(name, value, o).ok() ? Status() : bad_value(name, value, "any, proxy, gdaki, gpi");
}

Status parse_bool(string_view name, string_view value, Options& o) {
  o.nccl_param_dump_all = value == "1" || value == "true";
  return o.nccl_param_dump_all || value == "0" || value == "false" ? Status() : bad_value(name, value, "true, false");
}

template <auto Member>
std::string show(const Options& o) {
  return fmt::format("{}", o.*Member);
}
std::string show_profile(const Options& o) {
  return std::string(name_of(o.profile));
}
std::string show_topology(const Options& o) {
  return fmt::format("{}{}", fmt::join(o.topology.ranks_of_node, ","), o.topology.rail_only ? ",rail" : "");
}
std::string show_seconds(const Options& o) {
  return fmt::format("{}", static_cast<double>(o.hang_timeout_ns) / 1e9);
}
// The token is a secret; what is not kept is not known.
std::string show_nothing(const Options&) {
  return "";
}

struct Variable {
  OptionInfo info;
  Status (*parse)(string_view name, string_view value, Options& options);
  std::string (*show)(const Options& options);
  string_view alias_of = "";  // another name of that variable: only one of the two may be set
};

constexpr int kIntMax = 2147483647;

constexpr Variable kVariables[] = {
    {{"ANYGIN_NIC", "emu", "which NIC: emu (the software HCA) or none"}, parse_nic, show<&Options::nic>},
    {{"ANYGIN_FABRIC", "direct", "how software HCAs exchange operations: direct (processes of one host)"},
     parse_fabric,
     show<&Options::fabric>},
    {{"ANYGIN_PROFILE", "inorder", "what the software HCA may reorder: inorder, cx7, relaxed or srd"},
     parse_profile,
     show_profile},
    {{"ANYGIN_TOPOLOGY", "one node",
      "ranks of each node: 2x4 (2 nodes of 4), a list 3,5; suffix ,rail: rails cannot reach each other"},
     parse_topology_text,
     show_topology},
    {{"ANYGIN_DEVICES", "max(8, ranks of this host)", "how many devices the cpu target shows", OptionType::kInt32},
     parse_int<&Options::devices, 1, 4096>,
     show<&Options::devices>},
    {{"ANYGIN_SEED", "1", "seed of everything that is left to chance; random draws one and prints it",
      OptionType::kUint64},
     parse_seed,
     show<&Options::seed>},
    {{"ANYGIN_HANG_TIMEOUT", "10",
      "seconds without any progress after which a run is reported as hanging; 0: never. Ranks that join wait 60 s for "
      "the missing ones, or so long if that is longer"},
     parse_hang_timeout,
     show_seconds},
    {{"ANYGIN_WORKERS", "max(1, cores / processes of this host)", "threads that run kernels in this process",
      OptionType::kInt32},
     parse_int<&Options::workers, 1, 4096>,
     show<&Options::workers>},
    {{"ANYGIN_ENGINE_THREADS", "1", "helper threads that run NIC and proxy engines when no other thread does",
      OptionType::kInt32},
     parse_int<&Options::engine_threads, 0, 64>,
     show<&Options::engine_threads>},
    {{"ANYGIN_COMM_TOKEN", "derived from NCCL_COMM_ID", "secret that the ranks of a run prove to each other, in hex"},
     parse_token,
     show_nothing},
    {{"ANYGIN_WORLD", "the real world", "library that replaces time, chance and scheduling"},
     parse_text<&Options::world>,
     show<&Options::world>},
    {{"ANYGIN_SIM", "strategy=random", "how the simulated world runs; `anygin check` sets it"},
     parse_text<&Options::sim>,
     show<&Options::sim>},
    {{"ANYGIN_MUTANT", "none", "deliberate fault to switch on (builds of the mutants preset)"},
     parse_mutant,
     show_nothing},
    {{"ANYGIN_DEVICE_ERROR", "leave", "what a kernel does when it can never go on: leave it, or trap"},
     parse_device_error,
     show<&Options::device_error>},
    {{"ANYGIN_TRACE", "none", "file that the event stream is written to; %p becomes the process id"},
     parse_text<&Options::trace_file>,
     show<&Options::trace_file>},
    {{"NCCL_COMM_ID", "none", "host:port where rank 0 listens"}, parse_address, show<&Options::nccl_comm_id>},
    {{"NCCL_DEBUG", "WARN", "what is logged: NONE, ERROR, WARN, INFO or TRACE"},
     parse_nccl_debug,
     show<&Options::nccl_debug>},
    {{"NCCL_GIN_ENABLE", "1", "0: no GIN", OptionType::kInt32},
     parse_int<&Options::nccl_gin_enable, 0, 1>,
     show<&Options::nccl_gin_enable>},
    {{"NCCL_GIN_TYPE", "-1", "backend: -1 any, 2 proxy, 3 GDAKI, 4 GPI", OptionType::kInt32},
     parse_gin_type,
     show<&Options::nccl_gin_type>},
    {{"NCCL_GIN_PROXY_QUEUE_SIZE", "-1", "depth of the proxy's queues; -1: the backend's default", OptionType::kInt32},
     parse_int<&Options::nccl_gin_proxy_queue_size, -1, kIntMax>,
     show<&Options::nccl_gin_proxy_queue_size>},
    {{"NCCL_WIN_ENABLE", "1", "0: no symmetric windows", OptionType::kInt32},
     parse_int<&Options::nccl_win_enable, 0, 1>,
     show<&Options::nccl_win_enable>},
    {{"NCCL_ELASTIC_BUFFER_REGISTER", "1", "0: no host memory in windows", OptionType::kInt32},
     parse_int<&Options::nccl_elastic_buffer_register, 0, 1>,
     show<&Options::nccl_elastic_buffer_register>},
    {{"NCCL_LSA_TEAM_SIZE", "0", "ranks that reach each other by loads and stores; 0: as the topology says",
      OptionType::kInt32},
     parse_int<&Options::nccl_lsa_team_size, 0, kIntMax>,
     show<&Options::nccl_lsa_team_size>},
    {{"NCCL_CROSS_NIC", "2", "may rails reach each other: 0 no, 1 yes, 2 as the topology says", OptionType::kInt32},
     parse_int<&Options::nccl_cross_nic, 0, 2>,
     show<&Options::nccl_cross_nic>},
    {{"NCCL_NVLS_ENABLE", "2", "0: no multicast memory; 1 or 2: where there is some", OptionType::kInt32},
     parse_int<&Options::nccl_nvls_enable, 0, 2>,
     show<&Options::nccl_nvls_enable>},
    {{"NCCL_GIN_BACKEND", "any", "another name of NCCL_GIN_TYPE: any, proxy, gdaki, gpi"},
     parse_gin_backend,
     show<&Options::nccl_gin_type>,
     "NCCL_GIN_TYPE"},
    {{"NCCL_GIN_CONTEXTS_PER_COMM", "16", "least GIN contexts of a device communicator, where the backend can",
      OptionType::kInt32},
     parse_int<&Options::nccl_gin_contexts_per_comm, 1, 1024>,
     show<&Options::nccl_gin_contexts_per_comm>},
    {{"NCCL_PROXY_THREADS", "1", "another name of ANYGIN_ENGINE_THREADS", OptionType::kInt32},
     parse_int<&Options::engine_threads, 0, 64>,
     show<&Options::engine_threads>,
     "ANYGIN_ENGINE_THREADS"},
    {{"NCCL_NUM_RMA_CTX", "-1", "contexts of host one-sided operations; 0: none; -1: as ncclConfig_t says",
      OptionType::kInt32},
     parse_int<&Options::nccl_num_rma_ctx, -1, kIntMax>,
     show<&Options::nccl_num_rma_ctx>},
    {{"NCCL_ENABLE_VERSION_CHECK", "1", "0: structs of newer versions than the library are accepted",
      OptionType::kInt32},
     parse_int<&Options::nccl_enable_version_check, 0, 1>,
     show<&Options::nccl_enable_version_check>},
    {{"NCCL_PARAM_DUMP_ALL", "false", "true: parameter functions list the variables of AnyGIN, too"},
     parse_bool,
     show<&Options::nccl_param_dump_all>},
};

size_t edit_distance(string_view a, string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

constexpr string_view kOurs = "ANYGIN_", kGin = "NCCL_GIN_";

// The nearest one first.
std::vector<string_view> names_like(string_view name, string_view prefix) {
  std::vector<string_view> names;
  for (const Variable& variable : kVariables) {
    if (variable.info.name.substr(0, prefix.size()) == prefix) names.push_back(variable.info.name);
  }
  std::stable_sort(names.begin(), names.end(),
                   [&](string_view a, string_view b) { return edit_distance(name, a) < edit_distance(name, b); });
  return names;
}

Status unknown_variable(string_view name) {
  const std::vector<string_view> names = names_like(name, kOurs);
  return Status(Cause::kEnvironment, "environment",
                fmt::format("there is no variable {}; there are: {}", name, fmt::join(names, ", ")));
}

// NCCL has these; a library without external plugins and hardware queues has nothing that they could set.
constexpr string_view kWithoutEffect[] = {
    "NCCL_GIN_PLUGIN",          "NCCL_GIN_PLUGIN_REF_COUNT",       "NCCL_GIN_NCONNECTIONS",
    "NCCL_GIN_IB_TC",           "NCCL_GIN_GDAKI_NIC_HANDLER",      "NCCL_GIN_GDAKI_QP_DEPTH",
    "NCCL_GIN_ERROR_QUERY_SEC", "NCCL_GIN_GDAKI_MAX_QP_RD_ATOMIC", "NCCL_GIN_GDAKI_MAX_DEST_RD_ATOMIC"};

std::string warning_of(string_view name) {
  if (std::find(std::begin(kWithoutEffect), std::end(kWithoutEffect), name) != std::end(kWithoutEffect)) {
    return fmt::format("{} has no effect in this library", name);
  }
  return fmt::format("there is no variable {}; the nearest one is {}", name, names_like(name, kGin).front());
}

// Two names of one variable are set.
Status check_aliases(const std::vector<const Variable*>& seen) {
  for (const Variable* variable : seen) {
    for (const Variable* other : seen) {
      if (variable->alias_of != other->info.name) continue;
      return Status(Cause::kEnvironment, "environment",
                    fmt::format("{} and {} are one variable; only one of them would be right", other->info.name,
                                variable->info.name));
    }
  }
  return Status();
}

struct Current {
  std::mutex mutex;
  std::unique_ptr<const Options> parsed;
  std::vector<std::unique_ptr<const Options>> replaced;  // somebody may hold a reference
};

Current& current() {
  static Current* const instance = new Current;
  return *instance;
}

std::unique_ptr<const Options> parse_own_environment() {
  Result<Options> parsed = parse_options(process_environment());
  if (parsed.ok()) {
    const bool quiet = parsed->nccl_debug == "NONE" || parsed->nccl_debug == "ERROR";
    for (const std::string& warning : parsed->warnings) {
      if (!quiet) std::fprintf(stderr, "anygin WARN: %s\n", warning.c_str());
    }
    return std::make_unique<const Options>(*parsed);
  }
  std::fprintf(stderr, "anygin: %s\n", parsed.status().message().c_str());
  std::exit(2);
}

}  // namespace

string_view name_of(Profile profile) {
  constexpr string_view kNames[] = {"inorder", "cx7", "relaxed", "srd"};
  return kNames[static_cast<size_t>(profile)];
}

ArrayView<const OptionInfo> option_table() {
  static const std::vector<OptionInfo> table = [] {
    std::vector<OptionInfo> infos;
    for (const Variable& variable : kVariables) infos.push_back(variable.info);
    return infos;
  }();
  return table;
}

std::optional<std::string> option_value(const Options& options, string_view name) {
  for (const Variable& variable : kVariables) {
    if (variable.info.name == name) return variable.show(options);
  }
  return std::nullopt;
}

Result<Options> parse_options(ArrayView<const char* const> environment) {
  Options parsed;
  std::vector<const Variable*> seen;
  for (const char* entry : environment) {
    const string_view text(entry);
    const size_t equals = text.find('=');
    if (equals == string_view::npos) continue;
    const string_view name = text.substr(0, equals);
    const auto* variable = std::find_if(std::begin(kVariables), std::end(kVariables),
                                        [&](const Variable& v) { return v.info.name == name; });
    if (variable != std::end(kVariables)) {
      ANYGIN_TRY(variable->parse(name, text.substr(equals + 1), parsed));
      seen.push_back(variable);
    } else if (name.substr(0, kOurs.size()) == kOurs) {
      return unknown_variable(name);
    } else if (name.substr(0, kGin.size()) == kGin && !MUTANT(options_gin_typo_silent)) {
      parsed.warnings.push_back(warning_of(name));
    }
  }
  ANYGIN_TRY(check_aliases(seen));
  return parsed;
}

const Options& options() {
  Current& now = current();
  std::lock_guard lock(now.mutex);
  if (!now.parsed) now.parsed = parse_own_environment();
  return *now.parsed;
}

void set_options_for_test(const Options& replacement) {
  Current& now = current();
  std::lock_guard lock(now.mutex);
  if (now.parsed) now.replaced.push_back(std::move(now.parsed));
  now.parsed = std::make_unique<const Options>(replacement);
}

}  // namespace anygin
