// SPDX-License-Identifier: Apache-2.0
#include "sim_run.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>

#include "anygin/base/whole_file.h"

extern char** environ;

namespace anygin::tools {
namespace {

using Clock = std::chrono::steady_clock;
constexpr size_t kOutputMax = 256 * 1024;

std::string temporary_name() {
  static std::atomic<int> made{0};
  return fmt::format("{}/anygin-run-{}-{}", std::filesystem::temp_directory_path().string(), getpid(), ++made);
}

std::string settings_of(const SimRunRequest& request, const std::string& result_file) {
  std::string text = fmt::format("strategy={},result={},parent={}", request.strategy, result_file, getpid());
  if (request.expected_steps > 0) text += fmt::format(",steps={}", request.expected_steps);
  if (!request.faults.empty()) text += fmt::format(",faults={}", request.faults);
  if (!request.replay_file.empty()) {
    text += fmt::format(",replay={},mode={}", request.replay_file, request.tolerant ? "tolerant" : "strict");
  }
  if (!request.choices_file.empty()) text += fmt::format(",choices={}", request.choices_file);
  return text;
}

// The inherited variables without those that the run decides.
std::vector<std::string> environment_of(const SimRunRequest& request, const std::string& result_file) {
  const std::string library = world_library();
  std::vector<std::string> set = {"LD_PRELOAD=" + library, "ANYGIN_WORLD=" + library,
                                  "ANYGIN_SIM=" + settings_of(request, result_file),
                                  fmt::format("ANYGIN_SEED={}", request.seed), "ANYGIN_PROFILE=" + request.profile};
  if (!request.events_file.empty()) set.push_back("ANYGIN_TRACE=" + request.events_file);
  std::vector<std::string> all = set;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::string name = text.substr(0, text.find('=') + 1);
    const auto replaced = [&](const std::string& one) { return one.compare(0, name.size(), name) == 0; };
    const bool rank = name == "RANK=" || name == "WORLD_SIZE=" || name == "LOCAL_RANK=";  // ranks are threads here
    if (!rank && std::none_of(set.begin(), set.end(), replaced)) all.push_back(text);
  }
  return all;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Reads until the end of file or the deadline. False: the deadline came first.
bool read_output(int fd, Clock::time_point deadline, std::string* output) {
  char chunk[16384];
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return false;
    pollfd ready{fd, POLLIN, 0};
    if (poll(&ready, 1, static_cast<int>(std::min<long>(left, 1000))) <= 0) continue;
    const ssize_t got = read(fd, chunk, sizeof(chunk));
    if (got <= 0) return true;
    output->append(chunk, static_cast<size_t>(got));
    if (output->size() > 2 * kOutputMax) output->erase(0, output->size() - kOutputMax);
  }
}

// A planned error or death ends a communicator: the program may fail, but must not hang or break a promise.
RunOutcome outcome_of(const SimRun& run, const SimRunRequest& request) {
  if (!run.result) return run.exit_code > 128 ? RunOutcome::kFinding : RunOutcome::kNotJudged;
  switch (run.result->verdict) {
    case sim::RunVerdict::kHang:
      return !request.expect_hang ? RunOutcome::kHang : run.exit_code == 0 ? RunOutcome::kClean : RunOutcome::kFinding;
    case sim::RunVerdict::kDiverged:
      return RunOutcome::kDiverged;
    case sim::RunVerdict::kFinding:
      return RunOutcome::kFinding;
    case sim::RunVerdict::kClean:
      break;
  }
  const bool errors =
      request.faults.find("error:") != std::string::npos || request.faults.find("death:") != std::string::npos;
  const bool may_fail = errors && run.exit_code < 128;
  return run.exit_code == 0 || may_fail ? RunOutcome::kClean : RunOutcome::kFinding;
}

}  // namespace

std::string world_library() {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::filesystem::path library = self.parent_path().parent_path() / "lib" / "libanygin_sim.so";
  return std::filesystem::exists(library, error) ? library.string() : "";
}

std::string SimRun::why() const {
  if (outcome == RunOutcome::kClean) return "";
  if (result && !result->findings.empty()) {
    return fmt::format("{} (step {})", result->findings.front().text, result->findings.front().step);
  }
  if (outcome == RunOutcome::kNotJudged) {
    return exit_code == 124 ? "did not end in time: it blocks in a call that is not simulated, or it is too large"
                            : fmt::format("exit code {} and no result: was it built by anygin-c++?", exit_code);
  }
  return exit_code > 128 ? fmt::format("ended by signal {}", exit_code - 128) : fmt::format("exit code {}", exit_code);
}

std::string SimRun::kind() const {
  std::string text = fmt::format("{}:{}", static_cast<int>(outcome), exit_code);
  if (result && !result->findings.empty()) {
    const std::string& first = result->findings.front().text;
    text += ":" + first.substr(0, first.find(':'));
  }
  return text;
}

SimRun run_simulated(const SimRunRequest& request) {
  SimRun run;
  const std::string result_file = temporary_name();
  std::vector<std::string> environment = environment_of(request, result_file);
  std::vector<std::string> command = request.command;
  int pipes[2] = {-1, -1};
  if (pipe2(pipes, O_CLOEXEC) != 0) return run;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (!request.show_output) {
    posix_spawn_file_actions_adddup2(&actions, pipes[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, pipes[1], STDERR_FILENO);
  } else {
    posix_spawn_file_actions_adddup2(&actions, pipes[1], 100);  // held open by the child: its end of file is its end
  }
  pid_t child = -1;
  const int error = posix_spawnp(&child, command.front().c_str(), &actions, nullptr, pointers_to(command).data(),
                                 pointers_to(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  close(pipes[1]);
  if (error != 0) {
    run.output = fmt::format("'{}' cannot be started: {}\n", command.front(), strerror(error));
    run.exit_code = 127;
    close(pipes[0]);
    return run;
  }
  const auto limit = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(request.timeout_s));
  const bool ended = read_output(pipes[0], Clock::now() + limit, &run.output);
  close(pipes[0]);
  if (!ended) kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  run.exit_code = !ended ? 124 : WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  const Result<std::string> text = read_file(result_file);
  std::remove(result_file.c_str());
  if (ended && text.ok()) {
    Result<sim::RunResult> result = sim::parse_run_result(*text);
    if (result.ok()) run.result = *result;
  }
  run.outcome = ended ? outcome_of(run, request) : RunOutcome::kNotJudged;
  return run;
}

}  // namespace anygin::tools
