// SPDX-License-Identifier: Apache-2.0
#include "check_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <atomic>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "anygin/base/whole_file.h"
#include "anygin/sim/choice_trace.h"
#include "anygin/sim/fault_plan.h"
#include "anygin/sim/strategy.h"
#include "junit.h"
#include "minimise.h"
#include "output_file.h"
#include "run_command.h"
#include "shell_text.h"

namespace anygin::tools {
namespace {

using Clock = std::chrono::steady_clock;
constexpr size_t kMinimiseRuns = 60;
constexpr uint64_t kTwiceEvery = 64;  // without --twice: the first seed, and every so many

struct Failure {
  uint64_t seed = 0;
  SimRun run;
  bool deterministic = true;
  std::string why() const {
    return deterministic ? run.why()
                         : "two runs of the seed differ: the program reads a clock, random bytes or threads that are "
                           "not simulated";
  }
};

class Check {
 public:
  explicit Check(const CheckRequest& request) : request_(request) {}
  int run();

 private:
  bool next_seed(uint64_t* seed);
  void work();
  void judge(uint64_t seed, const SimRun& run);
  void show_progress(bool last);
  int report();
  void print_faults() const;
  std::string explain(const Failure& failure);
  void print_bound() const;
  bool write_junit() const;
  bool write_digests() const;
  SimRunRequest with_seed(uint64_t seed) const {
    SimRunRequest run = request_.run;
    run.seed = seed;
    return run;
  }
  double seconds() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

  const CheckRequest& request_;
  const Clock::time_point begin_ = Clock::now();
  uint64_t shard_ = 0, shards_ = 1;
  std::mutex mutex_;  // all below
  uint64_t next_ = 0;
  bool stop_ = false;
  uint64_t runs_ = 0;
  uint64_t longest_ = 0, actors_ = 0, faults_ = 0;
  std::set<uint64_t> distinct_;
  std::map<uint64_t, std::string> digests_;  // by seed, if they are wanted: a line each
  std::vector<Failure> failures_;
  Clock::time_point shown_ = begin_;
};

bool Check::next_seed(uint64_t* seed) {
  const std::lock_guard lock(mutex_);
  while (next_ < request_.seeds && next_ % shards_ != shard_) ++next_;
  const bool over = request_.budget_s > 0 && seconds() >= request_.budget_s;
  if (stop_ || over || next_ >= request_.seeds) return false;
  *seed = request_.run.seed + next_++;
  return true;
}

void Check::work() {
  uint64_t seed = 0;
  while (next_seed(&seed)) judge(seed, run_simulated(with_seed(seed)));
}

void Check::judge(uint64_t seed, const SimRun& run) {
  bool deterministic = true;
  const uint64_t place = seed - request_.run.seed;
  const bool again =
      request_.twice || (!request_.once && place % kTwiceEvery == shard_) || run.outcome != RunOutcome::kClean;
  if (again && run.result) {
    const SimRun second = run_simulated(with_seed(seed));
    deterministic = second.result && second.result->digest == run.result->digest && second.exit_code == run.exit_code;
  }
  const std::lock_guard lock(mutex_);
  ++runs_;
  if (run.result) {
    distinct_.insert(run.result->choices_digest);
    longest_ = std::max(longest_, run.result->steps);
    actors_ = std::max(actors_, run.result->actors);
    faults_ += run.result->faults;
    if (!request_.digests_file.empty()) {
      digests_[seed] = fmt::format("{} {:016x} {} steps, exit code {}\n", seed, run.result->digest, run.result->steps,
                                   run.exit_code);
    }
  }
  if (run.outcome != RunOutcome::kClean || !deterministic) {
    failures_.push_back({seed, run, deterministic});
    stop_ = !request_.keep_going;
  }
  show_progress(false);
}

void Check::show_progress(bool last) {
  constexpr auto kBetween = std::chrono::seconds(5);
  if (!last && Clock::now() - shown_ < kBetween) return;
  shown_ = Clock::now();
  fmt::print(stderr, "anygin check: {} runs, {:.1f} a second, {} distinct, {} failed\n", runs_,
             static_cast<double>(runs_) / std::max(seconds(), 1e-3), distinct_.size(), failures_.size());
}

// Repeats the failing run with its choices kept, makes them fewer, and says how to repeat it.
std::string Check::explain(const Failure& failure) {
  if (!failure.run.result || !failure.deterministic) return replay_line(with_seed(failure.seed), "");
  const std::string file = fmt::format("{}/anygin-seed-{}.choices", request_.out_folder, failure.seed);
  SimRunRequest keep = with_seed(failure.seed);
  keep.choices_file = file;
  const std::string kind = run_simulated(keep).kind();
  const Result<std::string> text = read_file(file);
  Result<sim::ChoiceTrace> trace = text.ok() ? sim::from_text(*text) : Result<sim::ChoiceTrace>(text.status());
  if (!trace.ok() || !request_.minimise) return replay_line(with_seed(failure.seed), "");
  const size_t before = deviations_in(trace->choices);
  const std::string trial = file + ".trial";
  trace->choices = minimise(
      trace->choices,
      [&](const std::vector<sim::ChoiceRecord>& choices) {
        if (!write_file(trial, sim::to_text({trace->about, choices})).ok()) return false;
        SimRunRequest replay = with_seed(failure.seed);
        replay.replay_file = trial;
        replay.tolerant = true;
        return run_simulated(replay).kind() == kind;
      },
      kMinimiseRuns);
  std::remove(trial.c_str());
  // Written as the simpler run chose, so that it repeats strictly.
  (void)write_file(file, sim::to_text(*trace));
  SimRunRequest simpler = with_seed(failure.seed);
  simpler.replay_file = file;
  simpler.tolerant = true;
  simpler.choices_file = file + ".kept";
  const SimRun kept = run_simulated(simpler);
  (void)std::rename(simpler.choices_file.c_str(), file.c_str());
  return fmt::format("{}\n  of {} choices that are not the canonical ones {} are left: {}",
                     replay_line(with_seed(failure.seed), ""), before, kept.result ? kept.result->deviations : before,
                     replay_line(with_seed(failure.seed), file));
}

void Check::print_bound() const {
  const Result<sim::StrategyChoice> strategy = sim::parse_strategy(request_.run.strategy);
  if (!strategy.ok() || strategy->kind != sim::StrategyChoice::Kind::kPct || actors_ == 0 || longest_ == 0) return;
  const double n = static_cast<double>(actors_), k = static_cast<double>(longest_);
  const double p = 1.0 / (n * std::pow(k, strategy->depth - 1));
  fmt::print(
      "pct:{}: with {} actors and {} steps a run meets a given fault of depth {} with p >= {:.2g}; these {} with "
      "{:.2g}\n",
      strategy->depth, actors_, longest_, strategy->depth, p, runs_, 1 - std::pow(1 - p, static_cast<double>(runs_)));
}

// A plan that never strikes proves nothing.
void Check::print_faults() const {
  if (request_.run.faults.empty() || request_.run.faults == "none") return;
  fmt::print("faults {}: {} struck in {} runs{}\n", request_.run.faults, faults_, runs_,
             faults_ == 0 ? "; what they count is never reached, or the rank is not there" : "");
}

int Check::report() {
  show_progress(true);
  print_bound();
  print_faults();
  int exit_code = 0;
  for (const Failure& failure : failures_) {
    const bool hang = failure.run.outcome == RunOutcome::kHang;
    const char* const what = !failure.deterministic ? "NOT DETERMINISTIC" : hang ? "HANG" : "FAILED";
    fmt::print("seed {}: {}: {}\n", failure.seed, what, failure.why());
    if (&failure == &failures_.front()) {
      std::fwrite(failure.run.output.data(), 1, failure.run.output.size(), stderr);
      fmt::print("repeat it with: {}\n", explain(failure));
    }
    const int code = !failure.deterministic                          ? kExitNotDeterministic
                     : failure.run.outcome == RunOutcome::kNotJudged ? kExitEnvironment
                     : hang                                          ? kExitHang
                                                                     : kExitFinding;
    if (exit_code == 0) exit_code = code;
  }
  fmt::print("{}: {} runs, {} distinct, profile {}, strategy {}: {}\n", fmt::join(request_.run.command, " "), runs_,
             distinct_.size(), request_.run.profile, request_.run.strategy, failures_.empty() ? "clean" : "not clean");
  const bool junit = request_.junit_file.empty() || write_junit();
  const bool digests = request_.digests_file.empty() || write_digests();
  return exit_code == 0 && !(junit && digests) ? kExitEnvironment : exit_code;
}

bool Check::write_digests() const {
  std::string text;
  for (const auto& [seed, line] : digests_) text += line;
  return write_output("check", request_.digests_file, text);
}

bool Check::write_junit() const {
  JunitCase all{
      "", fmt::format("{} {} {}", fmt::join(request_.run.command, " "), request_.run.profile, request_.run.strategy),
      seconds()};
  all.runs = runs_;
  for (const Failure& failure : failures_) {
    all.failures.push_back({fmt::format("seed {}: {}", failure.seed, failure.why()), failure.run.output});
  }
  return write_output("check", request_.junit_file, junit_report("anygin check", {all}));
}

int Check::run() {
  if (!parse_shard(request_.shard, &shard_, &shards_)) {
    fmt::print(stderr, "anygin check: --shard {}: i/n with i below n would be right\n", request_.shard);
    return kExitUsage;
  }
  std::vector<std::thread> workers;
  for (int job = 0; job < request_.jobs; ++job) workers.emplace_back([this] { work(); });
  for (std::thread& worker : workers) worker.join();
  return report();
}

}  // namespace

bool parse_shard(const std::string& text, uint64_t* index, uint64_t* count) {
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, *index);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != '/') return false;
  const auto second = std::from_chars(first.ptr + 1, end, *count);
  return second.ec == std::errc() && second.ptr == end && *index < *count;
}

std::string replay_line(const SimRunRequest& run, const std::string& choices_file) {
  std::string line = "anygin replay";
  if (choices_file.empty()) {
    line += fmt::format(" --seed {} --strategy {}", run.seed, run.strategy);
    if (run.expected_steps > 0) line += fmt::format(" --steps {}", run.expected_steps);
  } else {
    line += " --choices " + shell_word(choices_file);
  }
  line += fmt::format(" --profile {}", run.profile);
  if (!run.faults.empty()) line += fmt::format(" --faults {}", run.faults);
  return line + " -- " + shell_words(run.command);
}

// 0, or the exit code of what is wrong; it is printed.
static int check_request(const SimRunRequest& run, const char* command) {
  const Result<sim::StrategyChoice> strategy = sim::parse_strategy(run.strategy);
  const Result<sim::FaultPlan> faults = sim::FaultPlan::parse(run.faults.empty() ? "none" : run.faults);
  const Status status = !strategy.ok() ? strategy.status() : faults.ok() ? Status() : faults.status();
  if (!status.ok()) {
    fmt::print(stderr, "anygin {}: {}\n", command, status.message());
    return kExitUsage;
  }
  if (!world_library().empty()) return 0;
  fmt::print(stderr, "anygin {}: libanygin_sim.so is not in the prefix's lib folder\n", command);
  return kExitEnvironment;
}

int run_check(const CheckRequest& request) {
  if (const int wrong = check_request(request.run, "check")) return wrong;
  return Check(request).run();
}

int run_replay(const ReplayRequest& request) {
  if (const int wrong = check_request(request.run, "replay")) return wrong;
  SimRunRequest run = request.run;
  run.show_output = true;
  const SimRun ran = run_simulated(run);
  if (ran.outcome == RunOutcome::kNotJudged && !ran.output.empty()) fmt::print(stderr, "{}", ran.output);
  const std::string why = ran.why();
  fmt::print("{}: {}\n", fmt::join(run.command, " "), why.empty() ? "clean" : why);
  if (ran.result) fmt::print("digest {:016x}, {} steps\n", ran.result->digest, ran.result->steps);
  switch (ran.outcome) {
    case RunOutcome::kClean:
      return 0;
    case RunOutcome::kFinding:
      return kExitFinding;
    case RunOutcome::kHang:
      return kExitHang;
    case RunOutcome::kDiverged:
      return kExitNotDeterministic;
    case RunOutcome::kNotJudged:
      break;
  }
  return kExitEnvironment;
}

}  // namespace anygin::tools
