// SPDX-License-Identifier: Apache-2.0
#include "anygin/sim/litmus/stack_runner.h"

#include <fmt/format.h>

#include <algorithm>

#include "anygin/base/assert.h"
#include "anygin/base/order.h"
#include "anygin/base/seq.h"
#include "anygin/proxy/proxy_device.h"

namespace anygin::litmus {
namespace {

constexpr WindowId kWindow(1);
constexpr uint64_t kWindowBytes = 4096;
constexpr uint32_t kSignals = kIdsMax + 2 * kRanksMax;  // named ones, and those of two barriers
constexpr uint32_t kDepth = 32;                         // more than a program posts
static_assert(kDepth > kWorksMax && kWindowBytes >= kCellsMax * sizeof(uint64_t));
constexpr size_t kStepsMax = 20'000;

}  // namespace

struct StackRunner::RankState final : BackendListener {
  void on_error(AbortCause, Rank peer, const Status& status) override {
    if (error.empty()) error = fmt::format("towards rank {}: {}", peer, status.message());
  }

  std::unique_ptr<Backend> backend;
  std::unique_ptr<ContextSet> contexts;
  char* memory = nullptr;
  uint32_t abort_word = 0;
  std::string error;
};

// --- Set-up ----------------------------------------------------------------------------------------------------------

Result<std::unique_ptr<StackRunner>> StackRunner::create(int ranks, Profile profile) {
  std::unique_ptr<StackRunner> runner(new StackRunner(ranks, profile));
  ANYGIN_TRY(runner->meeting_.run_on_all([&](Bootstrap& bootstrap) { return runner->set_up(bootstrap); }));
  return runner;
}

StackRunner::StackRunner(int ranks, Profile profile) : size_(ranks), world_(StackWorld::create()), meeting_(ranks) {
  options_.profile = profile;
  for (int rank = 0; rank < ranks; ++rank) ranks_.push_back(std::make_unique<RankState>());
}

StackRunner::~StackRunner() {
  for (auto& rank : ranks_) rank->contexts.reset();
  for (auto& rank : ranks_) {
    if (rank->backend && rank->memory) rank->backend->deregister_window(kWindow);
  }
  for (auto& rank : ranks_) rank->backend.reset();
}

Status StackRunner::set_up(Bootstrap& bootstrap) {
  RankState& mine = *ranks_[static_cast<size_t>(bootstrap.rank())];
  Result<std::unique_ptr<Backend>> backend = open_proxy_backend({bootstrap, mine, &mine.abort_word, options_});
  if (!backend.ok()) return backend.status();
  mine.backend = std::move(*backend);
  Result<char*> memory = world_->heap.allocate(kWindowBytes, 0);
  if (!memory.ok()) return memory.status();
  ANYGIN_TRY(mine.backend->register_window(kWindow, *memory, kWindowBytes, false));
  mine.memory = *memory;
  Result<std::unique_ptr<ContextSet>> contexts =
      mine.backend->create_contexts({kContextsMax, kSignals, kIdsMax, kDepth, 0});
  if (!contexts.ok()) return contexts.status();
  mine.contexts = std::move(*contexts);
  return {};
}

// --- Cells -----------------------------------------------------------------------------------------------------------

DeviceContext StackRunner::device(Rank rank, uint32_t context) const {
  RankState& state = *ranks_[static_cast<size_t>(rank)];
  return {rank, size_, state.contexts->handle(), context, &state.abort_word};
}

uint64_t* StackRunner::word(const Program& program, uint8_t index) const {
  const Cell& cell = program.cells[index];
  switch (cell.kind) {
    case CellKind::kMemory:
      return reinterpret_cast<uint64_t*>(ranks_[static_cast<size_t>(cell.rank)]->memory) + cell.id;
    case CellKind::kSignal:
      return proxy_signal_cell(device(cell.rank, cell.context), cell.id).cell;
    case CellKind::kCounter:
      return proxy_counter_cell(device(cell.rank, cell.context), cell.id).cell;
  }
  ANYGIN_ASSERT(false);
}

// Nothing resets cells here, so their bases are 0.
uint64_t StackRunner::value(const Program& program, const Micro& micro) const {
  const uint64_t raw = observe(word(program, micro.cell));
  return micro.bits == 64 ? raw : raw & ((uint64_t{1} << micro.bits) - 1);
}

void StackRunner::reset(const Program& program) {
  for (size_t i = 0; i < program.cells.size(); ++i) {
    store_relaxed(word(program, static_cast<uint8_t>(i)), program.cells[i].initial);
  }
  threads_.resize(program.threads.size());
  for (ThreadState& thread : threads_) thread = ThreadState{};
  asked_.clear();
  outcome_.assign(program.registers.size(), 0);
  why_.clear();
}

// --- Threads ---------------------------------------------------------------------------------------------------------

bool StackRunner::threads_done(const Program& program) const {
  for (size_t i = 0; i < threads_.size(); ++i) {
    if (threads_[i].next < program.threads[i].micros.size()) return false;
  }
  return true;
}

bool StackRunner::met(const Program& program, size_t thread, const Micro& micro) const {
  for (size_t other = 0; other < threads_.size(); ++other) {
    const Thread& theirs = program.threads[other];
    if (other == thread || theirs.rank != program.threads[thread].rank) continue;
    for (size_t i = threads_[other].next + 1; i < theirs.micros.size(); ++i) {
      if (theirs.micros[i].kind == MicroKind::kSync && theirs.micros[i].value == micro.value) return false;
    }
  }
  return true;
}

// Makes the requests when it is first asked, so that they cover what was posted before the flush.
bool StackRunner::flushed(const Program& program, size_t thread, const Micro& micro) {
  ThreadState& state = threads_[thread];
  const DeviceContext context = device(program.threads[thread].rank, micro.context);
  if (!state.asked) {
    state.asked = true;
    state.requests.clear();
    if (micro.value > 0) {
      state.requests = asked_[micro.value - 1];
    } else {
      for (Rank peer = 0; peer < size_; ++peer) {
        if (micro.peer >= 0 && micro.peer != peer) continue;
        proxy_flush_async(context, peer, &state.requests.emplace_back());
      }
    }
  }
  return std::all_of(state.requests.begin(), state.requests.end(), [&](const FlushRequest& request) {
    return proxy_wait(context, request, world_->clock.now()) == WaitOutcome::kSatisfied;
  });
}

bool StackRunner::enabled(const Program& program, size_t thread) {
  const Thread& one = program.threads[thread];
  if (threads_[thread].next >= one.micros.size()) return false;
  const Micro& micro = one.micros[threads_[thread].next];
  switch (micro.kind) {
    case MicroKind::kWait:
      return rolling_reached(micro.value, value(program, micro), micro.bits);
    case MicroKind::kFlush:
      return flushed(program, thread, micro);
    case MicroKind::kSync:
      return met(program, thread, micro);
    default:
      return true;
  }
}

void StackRunner::post(const Program& program, const Post& call) {
  const DeviceContext context = device(call.rank, call.context);
  const auto offset = [&](uint8_t cell) { return program.cells[cell].id * sizeof(uint64_t); };
  const uint64_t bytes = call.granules * sizeof(uint64_t);
  if (call.is_get) {
    GetRequest request;
    request.peer = call.peer;
    request.remote_window = request.local_window = kWindow;
    request.remote_offset = offset(call.remote);
    request.local_offset = offset(call.local);
    request.bytes = bytes;
    return proxy_get(context, request);
  }
  PutRequest request;
  request.peer = call.peer;
  request.destination_window = request.source_window = kWindow;
  request.bytes = bytes;
  if (bytes > 0) request.destination_offset = offset(call.remote);
  if (bytes > 0 && !call.by_value) request.source_offset = offset(call.local);
  request.is_inline = call.by_value;
  request.inline_value = call.value;
  if (call.signal >= 0) {
    request.signal.target = SignalTarget::kIndexed;
    request.signal.id = program.cells[static_cast<size_t>(call.signal)].id;
    request.signal.add = call.add;
    request.signal.strong = call.strong;
  }
  request.has_counter = call.counter >= 0;
  if (request.has_counter) request.counter = program.cells[static_cast<size_t>(call.counter)].id;
  proxy_put(context, request);
}

void StackRunner::step(const Program& program, size_t thread) {
  ThreadState& state = threads_[thread];
  const Micro& micro = program.threads[thread].micros[state.next];
  switch (micro.kind) {
    case MicroKind::kPost:
      post(program, program.posts[micro.post]);
      break;
    case MicroKind::kAsk:
      asked_.resize(std::max<size_t>(asked_.size(), micro.value));
      proxy_flush_async(device(program.threads[thread].rank, micro.context), micro.peer,
                        &asked_[micro.value - 1].emplace_back());
      break;
    case MicroKind::kRead:
    case MicroKind::kReadRelaxed:
    case MicroKind::kLoad:
      outcome_[micro.reg] = value(program, micro);
      break;
    case MicroKind::kStore:
      store_relaxed(word(program, micro.cell), micro.value);
      break;
    case MicroKind::kWait:
    case MicroKind::kFlush:
    case MicroKind::kSync:
      break;
  }
  ++state.next;
  state.asked = false;
}

// --- Runs ------------------------------------------------------------------------------------------------------------

// Lets threads (if `threads`), engines and time move, one step at a time, as the seed has it: until all threads are
// through, or without threads until nothing moves. False: nothing can move before that.
bool StackRunner::walk(const Program& program, bool threads) {
  StackExecutor& executor = world_->stack_executor();
  for (size_t steps = 0; steps < kStepsMax; ++steps) {
    if (threads && threads_done(program)) return true;
    executor.collect(ready_);
    options_now_.clear();
    for (size_t i = 0; i < ready_.size(); ++i) options_now_.push_back({i, {}, 0});
    for (size_t i = 0; threads && i < threads_.size(); ++i) {
      if (enabled(program, i)) options_now_.push_back({kStepsMax + i, {}, 0});
    }
    if (executor.time_may_pass()) options_now_.push_back({2 * kStepsMax, {}, 0});
    if (options_now_.empty()) return !threads;
    size_t chosen = 0;
    if (options_now_.size() > 1) chosen = world_->choices.pick(ChoiceKind::kEngineOrder, options_now_);
    if (chosen < ready_.size()) {
      executor.run(ready_[chosen]);
    } else if (const uint64_t name = options_now_[chosen].name; name < 2 * kStepsMax) {
      step(program, name - kStepsMax);
    } else {
      executor.pass_time();
    }
  }
  return false;
}

StackRunner::End StackRunner::run(const Program& program, uint64_t seed) {
  ANYGIN_ASSERT(program.ranks == size_);
  world_->stack_choices().seed(seed);
  reset(program);
  const bool finished = walk(program, true) && (program.finals.empty() || walk(program, false));
  const size_t first_final = outcome_.size() - program.finals.size();
  for (size_t i = 0; i < program.finals.size(); ++i) {
    outcome_[first_final + i] = load_relaxed(word(program, program.finals[i]));
  }
  if (!finished) why_ = describe_hang(program);
  if (!world_->stack_executor().drain()) why_ = "the stack does not come to rest:" + world_->stack_executor().pending();
  for (const auto& rank : ranks_) {
    if (rank->error.empty()) continue;
    why_ = rank->error;
    return End::kFailed;
  }
  return finished ? End::kFinished : End::kHangs;
}

std::string StackRunner::describe_hang(const Program& program) const {
  std::string text;
  for (size_t i = 0; i < threads_.size(); ++i) {
    const Thread& one = program.threads[i];
    if (threads_[i].next >= one.micros.size()) continue;
    text += fmt::format("{}thread {} of rank {} waits in '{}'", text.empty() ? "" : "; ", i, one.rank,
                        one.micros[threads_[i].next].text);
  }
  return text + world_->stack_executor().pending();
}

}  // namespace anygin::litmus
