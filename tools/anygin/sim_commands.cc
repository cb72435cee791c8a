// SPDX-License-Identifier: Apache-2.0
#include "sim_commands.h"

#include <memory>

#include "check_command.h"
#include "option_checks.h"

namespace anygin::tools {
namespace {

// What the ending says is what is written.
CLI::Validator picture_file() {
  const auto why_not = [](const std::string& name) {
    if (name.ends_with(".json") || TraceRequest::is_still(name)) return std::string();
    return "'" + name + "': a name that ends in .json or .svg would be right";
  };
  return {why_not, "FILE"};
}

void add_run_options(CLI::App& command, SimRunRequest& run) {
  command.add_option("--profile", run.profile, "what the NIC may reorder (default relaxed)")
      ->check(CLI::IsMember({"inorder", "cx7", "relaxed", "srd"}));
  command.add_option("--strategy", run.strategy, "who chooses: canonical, random (default) or pct:DEPTH");
  command.add_option("--steps", run.expected_steps, "of pct: how long a run is, about (default 1000)");
  command.add_option("--faults", run.faults, "none, draw, or a plan such as lost-ack@3+error:remote-access@2");
  command.add_option("--timeout", run.timeout_s, "real seconds that one run may take (default 60)")->check(seconds());
  command.add_flag("--expect-hang", run.expect_hang, "a hang is what the program is about: its exit code judges");
  command.add_option("command", run.command, "the program and its arguments; its ranks run as threads")->required();
  command.positionals_at_end();
}

}  // namespace

void add_sim_commands(CLI::App& app, int& exit_code) {
  auto check = std::make_shared<CheckRequest>();
  CLI::App* const check_app = app.add_subcommand("check", "run a program in the simulated world, seed after seed");
  check_app->add_option("--seeds", check->seeds, "how many (default 100)")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1'000'000'000}));
  check_app->add_option("--seed", check->run.seed, "the first (default 1)");
  check_app->add_option("--shard", check->shard, "i/n: only every n-th seed, from the i-th on");
  check_app->add_option("--budget", check->budget_s, "end after so many seconds")->check(seconds());
  check_app->add_option("-j,--jobs", check->jobs, "runs at a time (default 1)")->check(CLI::Range(1, 256));
  check_app->add_flag("--keep-going", check->keep_going, "past the first failure");
  check_app->add_flag("--twice", check->twice, "every seed twice, and compare");
  check_app->add_flag("--once", check->once, "no seed twice, unless it fails (default: every 64th)");
  check_app->add_flag("!--no-minimise", check->minimise, "leave a failing run as it is");
  check_app->add_option("--junit", check->junit_file, "write a JUnit report there");
  check_app->add_option("--digests", check->digests_file, "write each seed's digest there: equal files, equal runs");
  check_app->add_option("--out", check->out_folder, "folder for the choices of a failing run (default .)")
      ->check(CLI::ExistingDirectory);
  add_run_options(*check_app, check->run);
  check_app->footer(
      "Exit codes: 0 clean, 1 finding, 2 usage, 3 environment, 4 hang, 5 not deterministic. docs/check.md says more.\n"
      "  anygin check --seeds 1000 --profile relaxed -- ./alltoall -r 4");
  check_app->callback([check, &exit_code] { exit_code = run_check(*check); });

  auto replay = std::make_shared<ReplayRequest>();
  CLI::App* const replay_app = app.add_subcommand("replay", "one run of anygin check again");
  replay_app->add_option("--seed", replay->run.seed, "by its seed");
  replay_app->add_option("--choices", replay->run.replay_file, "by a file of its choices")->check(CLI::ExistingFile);
  replay_app->add_flag("--tolerant", replay->run.tolerant, "pass over choices that the program no longer offers");
  replay_app->add_option("--events", replay->run.events_file, "write the event stream there (docs/trace.md)");
  add_run_options(*replay_app, replay->run);
  replay_app->callback([replay, &exit_code] { exit_code = run_replay(*replay); });

  auto trace = std::make_shared<TraceRequest>();
  CLI::App* const trace_app = app.add_subcommand("trace", "one simulated run as a picture for ui.perfetto.dev");
  trace_app->add_option("--seed", trace->run.seed, "of the run (default 1)");
  trace_app->add_option("--out", trace->out_file, "the file (default anygin-trace.json); .svg: a still picture")
      ->check(picture_file());
  add_run_options(*trace_app, trace->run);
  trace_app->callback([trace, &exit_code] { exit_code = run_trace(*trace); });
}

}  // namespace anygin::tools
