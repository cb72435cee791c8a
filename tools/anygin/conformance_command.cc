// SPDX-License-Identifier: Apache-2.0
#include "conformance_command.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "conformance_arms.h"
#include "conformance_matrix.h"
#include "junit.h"
#include "output_file.h"
#include "run_command.h"

namespace anygin::tools {
namespace {

constexpr int kExitFailed = 1;
#if defined(ANYGIN_RANKS_SHARE_GPU)
constexpr bool kRanksShareGpu = true;
#else
constexpr bool kRanksShareGpu = false;
#endif

bool matches(const std::string& pattern, const std::string& name) {
  return fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

// One case on one arm.
struct Run {
  const ConformanceCase* one;
  const Arm* arm;
};

class Conformance {
 public:
  Conformance(const ConformanceRequest& request, std::vector<ConformanceCase> cases, std::vector<Arm> arms)
      : request_(request), cases_(std::move(cases)), arms_(std::move(arms)), rules_(arm_rules()), matrix_(arms_) {}

  int run() {
    plan();
    const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    const int jobs = request_.jobs > 0 ? request_.jobs : kRanksShareGpu ? std::min(4, cores) : cores;
    run_tasks(tasks_, jobs, [this](size_t index, const TaskEnd& end) { take(runs_[index], end); });
    fmt::print("{}{} runs of {} cases on {} arms: {} passed, {} failed, {} not on their arm\n", matrix_.text(),
               tasks_.size(), cases_.size(), arms_.size(), matrix_.passes(), matrix_.failures(), matrix_.elsewhere());
    if (!request_.junit_file.empty() && !write_junit()) return kExitEnvironment;
    return matrix_.failures() == 0 ? 0 : kExitFailed;
  }

 private:
  void plan() {
    for (const ConformanceCase& one : cases_) {
      for (const Arm& arm : arms_) {
        const std::string reason = why_not(one, arm, rules_);
        if (!reason.empty()) {
          matrix_.not_here(one, arm, reason);
          report_.push_back({arm.name, one.name, 0, {}, reason});
          continue;
        }
        runs_.push_back({&one, &arm});
        tasks_.push_back(task_of(one, arm, rules_, request_.seed));
      }
    }
  }

  void take(const Run& run, const TaskEnd& end) {
    std::string why;
    if (end.exit_code == 0) {
      matrix_.passed(*run.one, *run.arm);
    } else {
      why = end.exit_code == 124 ? "it did not end in time" : fmt::format("exit code {}", end.exit_code);
      matrix_.failed(*run.one, *run.arm, why);
      fmt::print(stderr, "{}", end.output);
    }
    if (const auto now = std::chrono::steady_clock::now(); now - told_ >= std::chrono::seconds(15)) {
      told_ = now;
      fmt::print(stderr, "anygin conformance: {} of {} runs, {} failed\n", matrix_.passes() + matrix_.failures(),
                 tasks_.size(), matrix_.failures());
    }
    JunitCase& told = report_.emplace_back(JunitCase{run.arm->name, run.one->name, end.seconds});
    if (!why.empty()) told.failures.push_back({why, end.output});
  }

  bool write_junit() const {
    return write_output("conformance", request_.junit_file, junit_report("anygin conformance", report_));
  }

  const ConformanceRequest& request_;
  const std::vector<ConformanceCase> cases_;
  const std::vector<Arm> arms_;
  const std::vector<ArmRule> rules_;
  std::vector<Run> runs_;
  std::vector<Task> tasks_;
  std::vector<JunitCase> report_;
  ConformanceMatrix matrix_;
  std::chrono::steady_clock::time_point told_ = std::chrono::steady_clock::now();
};

bool has_rdma_device() {
  std::error_code none;
  return std::filesystem::directory_iterator("/sys/class/infiniband", none) != std::filesystem::directory_iterator();
}

int print_list(const std::vector<ConformanceCase>& cases, const std::vector<Arm>& arms) {
  const std::vector<ArmRule> rules = arm_rules();
  for (const Arm& arm : arms) fmt::print("arm  {}\n", arm.name);
  for (const ConformanceCase& one : cases) {
    const auto here =
        std::count_if(arms.begin(), arms.end(), [&](const Arm& arm) { return why_not(one, arm, rules).empty(); });
    fmt::print("case {} ({} arms)\n", one.name, here);
  }
  return 0;
}

}  // namespace

bool matches_case(const std::string& pattern, const std::string& name) {
  return matches(pattern, name) || matches(pattern + "_*", name);
}

int run_conformance(const ConformanceRequest& request) {
  if (request.nic == "hw") {
    fmt::print(stderr,
               "anygin conformance: --nic hw: this AnyGIN drives the software NIC only; hardware comes through "
               "rdma-core with its own issue{}\n",
               has_rdma_device() ? "" : ", and this machine has no RDMA device (/sys/class/infiniband is empty)");
    return kExitEnvironment;
  }
  // Each run starts its ranks itself.
  for (const char* name :
       {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "NCCL_COMM_ID", "ANYGIN_TOPOLOGY", "ANYGIN_PROFILE"})
    unsetenv(name);
  if (kRanksShareGpu) setenv("ANYGIN_DEVICES", "16", 0);  // of the one there is; ranks take one each
  if (request.mutants) return run_conformance_mutants(request);
  std::vector<ConformanceCase> cases = all_cases();
  if (cases.empty()) {
    fmt::print(
        stderr,
        "anygin conformance: no programs in {}; `cmake --build` of everything, or an installed prefix, has them\n",
        conformance_folder());
    return kExitEnvironment;
  }
  std::vector<Arm> arms = all_arms();
  std::erase_if(cases, [&](const ConformanceCase& one) { return !matches_case(request.cases, one.name); });
  std::erase_if(arms, [&](const Arm& arm) { return !matches(request.arms, arm.name); });
  if (cases.empty() || arms.empty()) {
    fmt::print(stderr, "anygin conformance: no {} matches '{}'; --list shows all\n", cases.empty() ? "case" : "arm",
               cases.empty() ? request.cases : request.arms);
    return kExitUsage;
  }
  if (request.list) return print_list(cases, arms);
  return Conformance(request, std::move(cases), std::move(arms)).run();
}

}  // namespace anygin::tools
