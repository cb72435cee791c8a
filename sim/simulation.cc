// SPDX-License-Identifier: Apache-2.0
#include "anygin/sim/simulation.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "anygin/base/code_site.h"
#include "anygin/base/env_real.h"
#include "anygin/base/trace_file.h"
#include "anygin/base/whole_file.h"
#include "anygin/comm/hang.h"
#include "anygin/comm/process_state.h"
#include "anygin/sim/real_calls.h"
#include "anygin/simt/device.h"
#include "anygin/simt/device_runtime.h"

namespace anygin::sim {
namespace {

Simulation* simulation = nullptr;

constexpr int kExitHang = 4;
constexpr int kExitNotDeterministic = 5;

[[noreturn]] void refuse(const Status& why, int exit_code) {
  std::fprintf(stderr, "anygin: %s\n", why.message().c_str());
  std::_Exit(exit_code);
}

std::unique_ptr<TraceSink> open_trace_file(Clock& clock) {
  if (options().trace_file.empty()) return nullptr;
  Result<std::unique_ptr<TraceFile>> file = TraceFile::open(options().trace_file, clock);
  if (!file.ok()) refuse(file.status(), 3);
  return std::move(*file);
}

// A run that nobody reads any more ends: `anygin check` may be killed.
void end_with(int parent) {
  if (parent == 0) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(2);  // it went before the line above
}

std::string kernel_name(const void* function) {
  const simt::KernelRecord* const record = simt::anygin_find_kernel(function);
  return record != nullptr ? record->name : describe_site(function);
}

}  // namespace

Simulation* Simulation::active() {
  return simulation;
}

// options() is left alone: the program may still change variables before it first calls the library.
void Simulation::start() {
  const Result<Options> environment = parse_options(process_environment());
  if (!environment.ok()) refuse(environment.status(), 2);
  Result<SimSettings> settings = parse_sim_settings(environment->sim);
  if (!settings.ok()) refuse(settings.status(), 2);
  end_with(settings->parent);
  settings->seed = environment->seed;
  simulation = new Simulation(*settings);
  std::atexit([] { simulation->finish(); });
}

SimChoices Simulation::make_choices(const SimSettings& settings) {
  if (settings.replay_file.empty()) return SimChoices(make_strategy(settings.strategy, settings.seed));
  Result<std::string> text = read_file(settings.replay_file);
  if (!text.ok()) refuse(text.status(), 2);
  Result<ChoiceTrace> trace = from_text(*text);
  if (!trace.ok()) refuse(trace.status(), 2);
  return SimChoices(std::move(*trace), settings.replay_mode);
}

Simulation::Simulation(SimSettings settings)
    : settings_(std::move(settings)),
      choices_(make_choices(settings_)),
      scheduler_(clock_, choices_),
      threads_(clock_, [this] { drive(); }),
      checkers_([this](std::string what) { add_finding(RunVerdict::kFinding, std::move(what)); }),
      waits_(&kernel_name) {
  scheduler_.add(threads_);
  scheduler_.set_observer([this] { observe(); });
}

World& Simulation::world() {
  if (!world_) {
    world_ = std::make_unique<SimWorld>(SimWorld::Ingredients{clock_, scheduler_, choices_, &threads_, settings_.faults,
                                                              &checkers_, open_trace_file(clock_)});
    world_->sim_trace().add(waits_);
  }
  return *world_;
}

// --- The driver's thread ---------------------------------------------------------------------------------------------

void Simulation::drive() {
  while (true) {
    if (scheduler_.step() != Scheduler::Moved::kRan) judge_standstill();
  }
}

void Simulation::observe() {
  constexpr uint64_t kStallEvery = 64;  // steps between opportunities
  if (settings_.faults.any() && scheduler_.steps() % kStallEvery == 0 &&
      settings_.faults.happens(FaultKind::kStall, choices_)) {
    scheduler_.stall_one(choices_);
  }
  if (const Rank lost = settings_.faults.death_at(scheduler_.steps()); lost >= 0)
    faults_in_vain_ += world_ && world_->lose(lost) ? 0 : 1;
  if (!choices_.divergence()) return;
  result_.add(RunVerdict::kDiverged, scheduler_.steps(), *choices_.divergence());
  std::fprintf(stderr, "anygin: replay: %s (%s)\n", choices_.divergence()->c_str(), scheduler_.last_action().c_str());
  end_process(kExitNotDeterministic);
}

// Nothing can move, and no time will help: exact, as nothing runs outside. The communicators are ended once, so that
// the program can say what it sees; if that moves nothing either, the process ends.
void Simulation::judge_standstill() {
  const uint64_t step = scheduler_.steps();
  const std::string title = fmt::format("hang: nothing can ever move again (step {} of the simulation)", step);
  if (!judged_) {
    for (const simt::BlockedLane& lane : simt::blocked_lanes(8)) {
      result_.add(RunVerdict::kHang, step,
                  fmt::format("hang: device {} kernel {} block ({},{},{}) thread ({},{},{}): {}", lane.device,
                              lane.kernel, lane.block[0], lane.block[1], lane.block[2], lane.thread[0], lane.thread[1],
                              lane.thread[2], lane.what));
    }
    for (const std::string& line : threads_.describe_waits()) result_.add(RunVerdict::kHang, step, "hang: " + line);
    const std::string circle = waits_.describe().circle;
    if (!circle.empty()) result_.add(RunVerdict::kHang, step, "hang: " + circle);
  }
  const bool first = !std::exchange(judged_, true) || step > judged_at_step_ + 1000;
  if (first) {
    judged_at_step_ = step;
    comm::ProcessState::get().hang_monitor().judge(title, "hang: nothing could ever move again (simulated world)");
    for (const std::string& line : threads_.describe_waits()) std::fprintf(stderr, "anygin:   host %s\n", line.c_str());
    print_graph();
    return;
  }
  end_process(kExitHang);
}

void Simulation::print_graph() const {
  const WaitGraph::Report graph = waits_.describe();
  std::vector<std::string> lines = graph.edges;
  for (const std::string& line : simt::unplaced_blocks()) lines.push_back(line);
  if (!graph.circle.empty()) lines.push_back(graph.circle);
  if (!lines.empty()) std::fprintf(stderr, "anygin: who waits for whom:\n");
  for (const std::string& line : lines) std::fprintf(stderr, "anygin:   %s\n", line.c_str());
}

// --- The end ---------------------------------------------------------------------------------------------------------

void Simulation::add_finding(RunVerdict verdict, std::string text) {
  result_.add(verdict, scheduler_.steps(), std::move(text));
}

void Simulation::finish() {
  if (std::exchange(finished_, true)) return;
  scheduler_.stop();
  if (world_) world_->sim_trace().at_end();
  Digest all;
  all.add(scheduler_.digest().value());
  all.add(choices_.digest().value());
  if (world_) all.add(world_->sim_trace().digest().value());
  result_.digest = all.value();
  result_.choices_digest = choices_.digest().value();
  result_.steps = scheduler_.steps();
  result_.faults = settings_.faults.happened() - faults_in_vain_;
  result_.actors = scheduler_.actors();
  result_.choices = choices_.chosen().size();
  result_.deviations = choices_.deviations();
  result_.time = clock_.now();
  Status written;
  if (!settings_.choices_file.empty()) {
    const std::string about = fmt::format("seed {} profile {}", settings_.seed, name_of(options().profile));
    written = write_file(settings_.choices_file, to_text({about, choices_.chosen()}));
  }
  if (written.ok() && !settings_.result_file.empty()) written = write_file(settings_.result_file, to_text(result_));
  if (!written.ok()) std::fprintf(stderr, "anygin: %s\n", written.message().c_str());
}

void Simulation::end_process(int exit_code) {
  finish();
  std::fflush(nullptr);
  (void)real_system_call(SYS_exit_group, exit_code, 0, 0, 0, 0, 0);
  std::abort();
}

}  // namespace anygin::sim

extern "C" anygin::World* anygin_create_world() {
  using anygin::sim::Simulation;
  if (Simulation::active() == nullptr) {
    std::fprintf(stderr,
                 "anygin: the simulated world has to be loaded before the program starts: use anygin check or anygin "
                 "replay, or name this library in LD_PRELOAD too\n");
    return nullptr;
  }
  ::unsetenv("LD_PRELOAD");  // what the program starts is not simulated
  return &Simulation::active()->world();
}
