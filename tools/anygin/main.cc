// SPDX-License-Identifier: Apache-2.0
// The command line: anygin run | conformance | perf | check | replay | litmus | info | env | prefix.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "conformance_command.h"
#include "errors_page.h"
#include "info_command.h"
#include "option_checks.h"
#include "perf_command.h"
#include "run_command.h"
#if !defined(ANYGIN_RANKS_SHARE_GPU)
#include "litmus_command.h"
#include "sim_commands.h"
#endif

namespace {

using anygin::tools::kExitUsage;
using anygin::tools::RunRequest;

constexpr const char* kFooter = R"(Start here:
  anygin-c++ -o alltoall alltoall.cu -lnccl     build a CUDA + NCCL program for the CPU
  anygin run -n 4 -- ./alltoall                 run it as 4 ranks on one node
  anygin run -n 4 --nodes 2 -- ./alltoall       as 2 nodes x 2 ranks: load/store inside, network between
  anygin litmus tests/litmus                    what a NIC may do with your puts and signals, every way
  anygin check -- ./alltoall -r 4               run it in the simulated world, seed after seed
  anygin conformance                            every promise on every arm: what holds here
  anygin perf all --svg here.svg                latency, rate and bandwidth on this machine
  anygin env                                    every variable, its default and meaning
  anygin errors GIN_ERR_NO_BACKEND              what an error's name means, and what helps
Exit codes: 0 clean, 1 finding, 2 usage, 3 environment, 4 hang, 5 not deterministic.)";

int run(const RunRequest& request) {
  if (request.nodes > request.ranks) {
    std::fprintf(stderr, "anygin run: --nodes %d with -n %d: a node needs at least one rank\n", request.nodes,
                 request.ranks);
    return kExitUsage;
  }
  const std::string why_not = anygin::tools::refusal(request.command.front());
  if (!why_not.empty()) {
    std::fprintf(stderr, "anygin run: %s\n", why_not.c_str());
    return kExitUsage;
  }
  return anygin::tools::run_job(request);
}

// Options that anygin-perf itself checks: one list of them, one place that refuses.
void hand_on(CLI::App& app, anygin::tools::PerfRequest& perf, const std::string& name, const std::string& what) {
  app.add_option_function<std::string>(
      name,
      [&perf, name](const std::string& value) {
        perf.handed_on.insert(perf.handed_on.end(), {name, value});
      },
      what);
}

void add_perf_command(CLI::App& app, int& exit_code) {
  static anygin::tools::PerfRequest perf;  // outlives the parse
  perf.tests = {"puts"};
  CLI::App* const perf_app = app.add_subcommand("perf", "latency, rate and bandwidth here: tables, values, curves");
  std::vector<std::string> names{"all"};
  std::string footer = "Tests:\n";
  for (const anygin::tools::PerfTest& test : anygin::tools::perf_tests()) {
    names.emplace_back(test.name);
    footer += "  " + std::string(test.name) + std::string(10 - std::string(test.name).size(), ' ') + test.what + "\n";
  }
  perf_app->add_option("tests", perf.tests, "what to measure, or all (puts)")->check(CLI::IsMember(names));
  perf_app->add_flag("--procs", perf.procs, "a process a rank, instead of threads");
  perf_app->add_option("--ranks", perf.ranks, "numbers of ranks: 2,4,8")->delimiter(',')->check(CLI::Range(1, 64));
  perf_app->add_option("--csv", perf.csv_file, "write what is measured there, as comma-separated values");
  perf_app->add_option("--svg", perf.svg_file, "draw it there");
  hand_on(*perf_app, perf, "--min", "smallest size in bytes (8); each is four times the one before");
  hand_on(*perf_app, perf, "--max", "largest size in bytes (16777216)");
  hand_on(*perf_app, perf, "--turns",
          "turns of a run of the smallest size (2000); 20 runs a row, 5 where the host measures");
  hand_on(*perf_app, perf, "--threads", "rate: threads of the block (1,32,128,512)");
  hand_on(*perf_app, perf, "--contexts", "rate: contexts (1,4,16)");
  hand_on(*perf_app, perf, "--tokens", "moe: tokens a step, of all ranks (4096)");
  hand_on(*perf_app, perf, "--table", "moe: a routing table as examples/data/moe_routing.csv");
  perf_app->footer(footer + "ANYGIN_PROFILE and the other variables of `anygin env` hold as for any program.");
  perf_app->callback([&exit_code] { exit_code = anygin::tools::run_perf(perf); });
}

void add_conformance_command(CLI::App& app, int& exit_code) {
  static anygin::tools::ConformanceRequest conformance;  // outlives the parse
  CLI::App* const own = app.add_subcommand("conformance", "every line of the semantics on every arm, as a matrix");
  own->add_option("--arm", conformance.arms, "only arms that match, e.g. 'cpu/proxy/emu/direct/*/procs'");
  own->add_option("--case", conformance.cases, "only cases that match, or whose first words do, e.g. P2");
  own->add_option("--nic", conformance.nic, "emu (default), or hw where there is one")
      ->check(CLI::IsMember({"emu", "hw"}));
  own->add_option("--junit", conformance.junit_file, "write a JUnit report there");
  own->add_option("--seed", conformance.seed, "of the runs (default 1); on simulated arms the first of three");
  own->add_option("-j,--jobs", conformance.jobs, "runs at a time (default: cores; on one GPU 4)")
      ->check(CLI::Range(1, 256));
  own->add_flag("--list", conformance.list, "arms and cases, and run nothing");
  own->add_flag("--mutants", conformance.mutants, "in a build with deliberate faults: how many are noticed");
  own->footer(
      "Exit codes: 0 all passed, 1 a case failed, 2 usage, 3 environment. The programs are in "
      "libexec/anygin/conformance\n"
      "of the prefix and are ranks like any others: anygin run -n 2 -- PROGRAM CASE; mpirun and srun start them, too.\n"
      "  anygin conformance --arm '*/relaxed/threads' --junit conformance.xml");
  own->callback([&exit_code] { exit_code = anygin::tools::run_conformance(conformance); });
}

int print_errors(const std::string& name) {
  const std::string text = name.empty() ? anygin::tools::errors_page() : anygin::tools::explain_cause(name);
  if (text.empty()) std::fprintf(stderr, "anygin errors: %s is no cause; `anygin errors` lists all\n", name.c_str());
  std::fputs(text.c_str(), stdout);
  return text.empty() ? kExitUsage : 0;
}

#if !defined(ANYGIN_RANKS_SHARE_GPU)
// What explores orders needs kernels of the cpu target.
void add_litmus_command(CLI::App& app, int& exit_code) {
  static anygin::tools::LitmusRequest litmus;  // outlives the parse
  CLI::App* const litmus_app = app.add_subcommand("litmus", "which outcomes a small program can have, per NIC profile");
  litmus_app->add_option("files", litmus.files, "litmus files, or folders of them")
      ->required()
      ->check(CLI::ExistingPath);
  litmus_app->add_option("--profile", litmus.profiles, "only this profile (may be repeated)")
      ->check(CLI::IsMember({"inorder", "cx7", "relaxed", "srd"}));
  litmus_app
      ->add_option("--form", litmus.form,
                   "tabular: threads, cells and the flow table; stack: the production stack, random runs only")
      ->check(CLI::IsMember({"tabular", "stack"}));
  litmus_app->add_option("--runs", litmus.runs, "so many random runs instead of every way (stack: 20000)");
  litmus_app->add_option("--seed", litmus.seed, "seed of the first random run (default 1)");
  litmus_app->add_option("--why", litmus.why, "how an outcome comes about, e.g. 'd0=0 d1=2'");
  litmus_app->footer(anygin::tools::kLitmusHelp);
  litmus_app->callback([&exit_code] { exit_code = anygin::tools::run_litmus(litmus); });
}
#endif

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"AnyGIN: GPU-initiated networking kernels anywhere"};
  app.footer(kFooter);
  app.require_subcommand(1);
  app.set_version_flag("--version", "anygin " ANYGIN_VERSION ", for programs of NCCL 2.30");
  int exit_code = 0;

  RunRequest request;
  CLI::App* const run_app = app.add_subcommand("run", "run a program's ranks as processes of this host");
  run_app->add_option("-n,--ranks", request.ranks, "how many ranks")->required()->check(CLI::Range(1, 4096));
  run_app->add_option("--nodes", request.nodes, "how many nodes they form (LSA reaches inside a node only)")
      ->check(CLI::Range(1, 4096));
  run_app->add_option("--timeout", request.timeout_s, "end the run after so many seconds (exit code 124)")
      ->check(anygin::tools::seconds());
  run_app->add_option("command", request.command, "the program and its arguments")->required();
  run_app->positionals_at_end();
  run_app->prefix_command(false);
  run_app->footer(
      "Each line of output is prefixed by its rank. When a rank fails, all end; the exit code is that of the first to "
      "fail\n"
      "(128 + signal if one ended it). Ctrl-C ends all. Ranks see RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE and "
      "find\n"
      "each other through NCCL_COMM_ID and ANYGIN_COMM_TOKEN.\n"
      "  anygin run -n 8 --nodes 2 -- ./prog --size 1024");
  run_app->callback([&] { exit_code = run(request); });

  add_perf_command(app, exit_code);
  add_conformance_command(app, exit_code);
#if !defined(ANYGIN_RANKS_SHARE_GPU)
  add_litmus_command(app, exit_code);
  anygin::tools::add_sim_commands(app, exit_code);
#endif
  app.add_subcommand("info", "what this machine offers, what it does not, and why")->callback([] {
    anygin::tools::print_info();
  });
  app.add_subcommand("env", "every environment variable, its default and meaning")->callback([] {
    anygin::tools::print_environment();
  });
  std::string cause;
  CLI::App* const errors_app = app.add_subcommand("errors", "the causes of errors, by the names in ncclGetLastError");
  errors_app->add_option("name", cause, "only this one, e.g. GIN_ERR_WINDOW_FULL");
  errors_app->callback([&] { exit_code = print_errors(cause); });
  std::string target = "cpu";
  CLI::App* const prefix_app = app.add_subcommand("prefix", "print the prefix: what CUDA_HOME and NCCL_HOME point at");
  prefix_app->add_option("target", target, "cpu, or cuda for one GPU");
  prefix_app->footer("  make CUDA_HOME=$(anygin prefix cpu) NCCL_HOME=$(anygin prefix cpu)");
  prefix_app->callback([&] { exit_code = anygin::tools::print_prefix(target); });

  const auto is_named = [&](CLI::App* command) { return command->get_name() == argv[1]; };
  if (argc > 1 && argv[1][0] != '-' && app.get_subcommands(is_named).empty()) {
    std::fprintf(stderr, "anygin: there is no command '%s'; anygin --help lists them\n", argv[1]);
    return kExitUsage;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (app.exit(error) == 0) return 0;
    const std::string hint = anygin::tools::usage_hint({argv + 1, argv + argc});
    if (!hint.empty()) std::fprintf(stderr, "%s\n", hint.c_str());
    return kExitUsage;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "anygin: %s\n", error.what());
    return anygin::tools::kExitEnvironment;
  }
  return exit_code;
}
