// SPDX-License-Identifier: Apache-2.0
#include "perf_command.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "anygin/base/options.h"
#include "anygin/base/whole_file.h"
#include "info_command.h"
#include "output_file.h"
#include "perf_charts.h"
#include "run_command.h"

extern char** environ;

namespace anygin::tools {
namespace {

#if defined(ANYGIN_RANKS_SHARE_GPU)
constexpr const char* kTarget = "cuda";
#else
constexpr const char* kTarget = "cpu";
#endif

void print_head(const PerfRequest& request) {
  const Options& chosen = options();
  fmt::print("# anygin perf: target {}, backend proxy, NIC {}, fabric {}, profile {}; ranks as {}\n", kTarget,
             chosen.nic, chosen.fabric, name_of(chosen.profile), request.procs ? "processes" : "threads");
  std::fflush(stdout);
}

// Where measurements are gathered: the user's file, or one of ours that goes with this.
class Gathered {
 public:
  explicit Gathered(const PerfRequest& request) : file_(request.csv_file) {
    if (!file_.empty() || request.svg_file.empty()) return;
    char name[] = "/tmp/anygin-perf-XXXXXX";
    const int descriptor = mkstemp(name);
    if (descriptor < 0) return;
    close(descriptor);
    file_ = name;
    ours_ = true;
  }
  ~Gathered() {
    if (ours_) std::remove(file_.c_str());
  }
  Gathered(const Gathered&) = delete;
  Gathered& operator=(const Gathered&) = delete;
  const std::string& file() const { return file_; }  // empty: nobody asked

 private:
  std::string file_;
  bool ours_ = false;
};

int run_here(std::vector<std::string> command) {
  std::vector<char*> arguments;
  for (std::string& argument : command) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int error = posix_spawn(&child, arguments[0], nullptr, nullptr, arguments.data(), environ);
  if (error != 0) {
    fmt::print(stderr, "anygin perf: {}: {}\n", command.front(), std::strerror(error));
    return kExitEnvironment;
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int measure(const PerfRequest& request, const PerfTest& test, int ranks, const std::string& file) {
  std::vector<std::string> command = {own_prefix() + "/bin/anygin-perf", test.name, "--table",
                                      own_prefix() + "/share/anygin/moe_routing.csv"};
  command.insert(command.end(), request.handed_on.begin(), request.handed_on.end());
  if (!file.empty()) command.insert(command.end(), {"--append", file});
  if (request.procs) {
    RunRequest run;
    run.ranks = ranks;
    run.labels = false;
    run.command = std::move(command);
    return run_job(run);
  }
  command.insert(command.end(), {"-r", std::to_string(ranks)});
  return run_here(std::move(command));
}

bool asked_for(const PerfRequest& request, const PerfTest& test, bool by_name) {
  const auto named = [&](const char* name) {
    return std::find(request.tests.begin(), request.tests.end(), name) != request.tests.end();
  };
  return named(test.name) || (!by_name && named("all"));
}

int measure_all(const PerfRequest& request, const std::string& file) {
  for (const PerfTest& test : perf_tests()) {
    if (!asked_for(request, test, false)) continue;
    // A pair keeps its two ranks where it was not meant.
    const bool own = request.ranks.empty() || (test.pair && !asked_for(request, test, true));
    for (const int ranks : own ? test.ranks : request.ranks) {
      const int code = measure(request, test, ranks, file);
      if (code != 0) return code;
    }
  }
  return 0;
}

}  // namespace

const std::vector<PerfTest>& perf_tests() {
  static const std::vector<PerfTest> kTests = {
      {"puts",
       "puts, values, signals and gets by size: half a round trip (gets: the whole), rate and bandwidth in a row",
       true,
       {2}},
      {"rate", "puts of 8 bytes a microsecond by threads and contexts", true, {2}},
      {"barrier", "barriers by ranks: network, hybrid, node", false, {2, 4, 8}},
      {"alltoall", "all to all by puts, by size", false, {4}},
      {"moe", "a mixture of experts: tokens and CPU time, routed by kernels and by the host", false, {2, 4, 8}},
      {"sendrecv", "a ring of ncclSend and ncclRecv by size", false, {2}},
  };
  return kTests;
}

int run_perf(const PerfRequest& request) {
  const Gathered gathered(request);
  if (!gathered.file().empty() && !write_output("perf", gathered.file(), std::string(kPerfColumns) + "\n"))
    return kExitEnvironment;
  if (!request.svg_file.empty() && !write_output("perf", request.svg_file, "")) return kExitEnvironment;
  print_head(request);
  const int code = measure_all(request, gathered.file());
  if (code != 0 || request.svg_file.empty()) return code;
  const Result<std::string> text = read_file(gathered.file());
  const Result<std::vector<PerfRow>> rows = text.ok() ? read_perf_rows(*text) : text.status();
  if (!rows.ok()) {
    fmt::print(stderr, "{}\n", rows.status().message());
    return kExitEnvironment;
  }
  return write_output("perf", request.svg_file, charts_svg(charts_of(*rows))) ? 0 : kExitEnvironment;
}

}  // namespace anygin::tools
