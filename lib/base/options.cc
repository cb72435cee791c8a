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

struct Variable {
  OptionInfo info;
  Status (*parse)(string_view name, string_view value, Options& options);
};

constexpr int kIntMax = 2147483647;

constexpr Variable kVariables[] = {
    {{"ANYGIN_NIC", "emu", "which NIC: emu (the software HCA) or none"}, parse_nic},
    {{"ANYGIN_FABRIC", "direct", "how software HCAs exchange operations: direct (processes of one host)"},
     parse_fabric},
    {{"ANYGIN_PROFILE", "inorder", "what the software HCA may reorder: inorder, cx7, relaxed or srd"}, parse_profile},
    {{"ANYGIN_TOPOLOGY", "one node",
      "ranks of each node: 2x4 (2 nodes of 4), a list 3,5; suffix ,rail: rails cannot reach each other"},
     parse_topology_text},
    {{"ANYGIN_DEVICES", "max(8, ranks of this host)", "how many devices the cpu target shows"},
     parse_int<&Options::devices, 1, 4096>},
    {{"ANYGIN_SEED", "1", "seed of everything that is left to chance; random draws one and prints it"}, parse_seed},
    {{"ANYGIN_HANG_TIMEOUT", "10",
      "seconds without any progress after which a run is reported as hanging; 0: never. Ranks that join wait 60 s for "
      "the missing ones, or so long if that is longer"},
     parse_hang_timeout},
    {{"ANYGIN_WORKERS", "max(1, cores / processes of this host)", "threads that run kernels in this process"},
     parse_int<&Options::workers, 1, 4096>},
    {{"ANYGIN_ENGINE_THREADS", "1", "helper threads that run NIC and proxy engines when no other thread does"},
     parse_int<&Options::engine_threads, 0, 64>},
    {{"ANYGIN_COMM_TOKEN", "derived from NCCL_COMM_ID", "secret that the ranks of a run prove to each other, in hex"},
     parse_token},
    {{"ANYGIN_WORLD", "the real world", "library that replaces time, chance and scheduling"},
     parse_text<&Options::world>},
    {{"ANYGIN_SIM", "strategy=random", "how the simulated world runs; `anygin check` sets it"},
     parse_text<&Options::sim>},
    {{"ANYGIN_MUTANT", "none", "deliberate fault to switch on (builds of the mutants preset)"}, parse_mutant},
    {{"ANYGIN_DEVICE_ERROR", "leave", "what a kernel does when it can never go on: leave it, or trap"},
     parse_device_error},
    {{"ANYGIN_TRACE", "none", "file that the event stream is written to; %p becomes the process id"},
     parse_text<&Options::trace_file>},
    {{"NCCL_COMM_ID", "none", "host:port where rank 0 listens"}, parse_address},
    {{"NCCL_DEBUG", "WARN", "what is logged: NONE, ERROR, WARN, INFO or TRACE"}, parse_nccl_debug},
    {{"NCCL_GIN_ENABLE", "1", "0: no GIN"}, parse_int<&Options::nccl_gin_enable, 0, 1>},
    {{"NCCL_GIN_TYPE", "-1", "backend: -1 any, 2 proxy, 3 GDAKI, 4 GPI"}, parse_gin_type},
    {{"NCCL_GIN_PROXY_QUEUE_SIZE", "-1", "depth of the proxy's queues; -1: the backend's default"},
     parse_int<&Options::nccl_gin_proxy_queue_size, -1, kIntMax>},
    {{"NCCL_WIN_ENABLE", "1", "0: no symmetric windows"}, parse_int<&Options::nccl_win_enable, 0, 1>},
    {{"NCCL_ELASTIC_BUFFER_REGISTER", "1", "0: no host memory in windows"},
     parse_int<&Options::nccl_elastic_buffer_register, 0, 1>},
    {{"NCCL_LSA_TEAM_SIZE", "0", "ranks that reach each other by loads and stores; 0: as the topology says"},
     parse_int<&Options::nccl_lsa_team_size, 0, kIntMax>},
    {{"NCCL_CROSS_NIC", "2", "may rails reach each other: 0 no, 1 yes, 2 as the topology says"},
     parse_int<&Options::nccl_cross_nic, 0, 2>},
    {{"NCCL_NVLS_ENABLE", "2", "0: no multicast memory; 1 or 2: where there is some"},
     parse_int<&Options::nccl_nvls_enable, 0, 2>},
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

Status unknown_variable(string_view name) {
  std::vector<string_view> names;
  for (const Variable& variable : kVariables) {
    if (variable.info.name.substr(0, 7) == "ANYGIN_") names.push_back(variable.info.name);
  }
  std::stable_sort(names.begin(), names.end(),
                   [&](string_view a, string_view b) { return edit_distance(name, a) < edit_distance(name, b); });
  return Status(Cause::kEnvironment, "environment",
                fmt::format("there is no variable {}; there are: {}", name, fmt::join(names, ", ")));
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
  if (parsed.ok()) return std::make_unique<const Options>(*parsed);
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

Result<Options> parse_options(ArrayView<const char* const> environment) {
  Options parsed;
  for (const char* entry : environment) {
    const string_view text(entry);
    const size_t equals = text.find('=');
    if (equals == string_view::npos) continue;
    const string_view name = text.substr(0, equals);
    const auto* variable = std::find_if(std::begin(kVariables), std::end(kVariables),
                                        [&](const Variable& v) { return v.info.name == name; });
    if (variable != std::end(kVariables)) {
      ANYGIN_TRY(variable->parse(name, text.substr(equals + 1), parsed));
    } else if (name.substr(0, 7) == "ANYGIN_") {
      return unknown_variable(name);
    }
  }
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
