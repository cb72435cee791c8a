// SPDX-License-Identifier: Apache-2.0
#include "anygin/sim/litmus/program_builder.h"

#include <fmt/format.h>

#include <algorithm>

namespace anygin::litmus {
namespace {

// Signals of barriers follow the named ones: one a rank and barrier.
uint32_t barrier_signal(const Program& program, uint32_t barrier, Rank from) {
  return kIdsMax + barrier * static_cast<uint32_t>(program.ranks) + static_cast<uint32_t>(from);
}

[[noreturn]] void too_many(const char* what, int most) {
  throw BuildError(fmt::format("too many {}: a litmus program has at most {}", what, most));
}

template <typename T>
uint8_t position(const std::vector<T>& all) {
  return static_cast<uint8_t>(all.size());
}

}  // namespace

// --- Cells -----------------------------------------------------------------------------------------------------------

uint8_t ProgramBuilder::add_cell(Cell cell) {
  if (program.cells.size() == kCellsMax) too_many("granules, signals and counters together", kCellsMax);
  program.cells.push_back(std::move(cell));
  return static_cast<uint8_t>(program.cells.size() - 1);
}

void ProgramBuilder::add_memory(Rank rank, const std::string& name, const std::vector<uint64_t>& values) {
  if (memory_.count({rank, name}) != 0) {
    throw BuildError(fmt::format("rank {} already has a buffer '{}'; give this one another name", rank, name));
  }
  const Range range{position(program.cells), static_cast<uint8_t>(values.size())};
  for (size_t i = 0; i < values.size(); ++i) {
    add_cell({CellKind::kMemory, rank, 0, granules_[rank]++, values[i], fmt::format("{}:{}[{}]", rank, name, i)});
  }
  memory_[{rank, name}] = range;
}

Range ProgramBuilder::range(Rank rank, const std::string& name, std::optional<Slice> slice) const {
  const auto found = memory_.find({rank, name});
  if (found == memory_.end()) {
    throw BuildError(fmt::format("rank {} has no buffer '{}'; declare it: 'memory {}: {}[2]'", rank, name, rank, name));
  }
  Range range = found->second;
  if (!slice) return range;
  if (slice->first + slice->count > range.count) {
    throw BuildError(fmt::format("'{}' of rank {} has the granules 0 to {}", name, rank, range.count - 1));
  }
  return {static_cast<uint8_t>(range.first + slice->first), static_cast<uint8_t>(slice->count)};
}

uint8_t ProgramBuilder::signal_cell(Rank rank, uint32_t context, uint32_t id) {
  const auto [it, fresh] = cells_.emplace(std::tuple{rank, CellKind::kSignal, context, id}, uint8_t{0});
  if (fresh) {
    it->second = add_cell({CellKind::kSignal, rank, context, id, 0, fmt::format("{}:s{} on c{}", rank, id, context)});
  }
  return it->second;
}

uint8_t ProgramBuilder::counter_cell(Rank rank, uint32_t context, uint32_t id) {
  const auto [it, fresh] = cells_.emplace(std::tuple{rank, CellKind::kCounter, context, id}, uint8_t{0});
  if (fresh) {
    it->second = add_cell({CellKind::kCounter, rank, context, id, 0, fmt::format("{}:k{} on c{}", rank, id, context)});
  }
  return it->second;
}

uint8_t ProgramBuilder::new_register(const std::string& name) {
  if (std::find(program.registers.begin(), program.registers.end(), name) != program.registers.end()) {
    throw BuildError(fmt::format("register '{}' is written twice; names are unique in the file", name));
  }
  if (program.registers.size() == kRegistersMax) too_many("registers", kRegistersMax);
  program.registers.push_back(name);
  return static_cast<uint8_t>(program.registers.size() - 1);
}

uint8_t ProgramBuilder::find_register(const std::string& name) const {
  const auto found = std::find(program.registers.begin(), program.registers.end(), name);
  if (found == program.registers.end()) {
    throw BuildError(
        fmt::format("nothing writes register '{}'; there are: {}", name, fmt::join(program.registers, " ")));
  }
  return static_cast<uint8_t>(found - program.registers.begin());
}

// --- Threads ---------------------------------------------------------------------------------------------------------

const Thread& ProgramBuilder::thread() const {
  if (program.threads.empty()) throw BuildError("a statement outside a thread; begin one: 'thread 0'");
  return program.threads.back();
}

void ProgramBuilder::begin_thread(Rank rank) {
  if (program.threads.size() == kThreadsMax) too_many("threads", kThreadsMax);
  program.threads.push_back({rank, {}});
}

void ProgramBuilder::append(Micro micro) {
  (void)thread();
  std::vector<Micro>& micros = program.threads.back().micros;
  if (micros.size() == kMicrosMax) too_many("steps of one thread (a barrier is one a peer and direction)", kMicrosMax);
  micros.push_back(std::move(micro));
}

uint8_t ProgramBuilder::flow(Rank peer, uint32_t context) {
  const Flow wanted{rank(), context, peer};
  const auto found = std::find(program.flows.begin(), program.flows.end(), wanted);
  if (found != program.flows.end()) return static_cast<uint8_t>(found - program.flows.begin());
  program.flows.push_back(wanted);
  return static_cast<uint8_t>(program.flows.size() - 1);
}

int ProgramBuilder::add_work(const Work& work) {
  if (program.works.size() == kWorksMax) too_many("operations (a put with a signal is two)", kWorksMax);
  program.works.push_back(work);
  return static_cast<int>(program.works.size() - 1);
}

void ProgramBuilder::post(Post post, const std::string& text) {
  post.rank = rank();
  const uint8_t place = flow(post.peer, post.context);
  int payload = -1;
  if (post.granules > 0 || post.counter >= 0) {
    Work work;
    work.order = post.is_get ? emulated::OrderClass::kGet : emulated::OrderClass::kPut;
    work.flow = place;
    work.granules = post.granules;
    work.remote = post.remote;
    work.local = post.local;
    work.by_value = post.by_value;
    work.value = post.value;
    work.counter = post.counter;
    payload = add_work(work);
    post.works |= 1u << payload;
  }
  if (post.signal >= 0) {
    Work work;
    work.order = post.strong ? emulated::OrderClass::kStrong : emulated::OrderClass::kWeak;
    work.flow = place;
    work.remote = static_cast<uint8_t>(post.signal);
    work.value = post.add;
    work.payload = payload;
    post.works |= 1u << add_work(work);
  }
  Micro micro;
  micro.kind = MicroKind::kPost;
  micro.post = position(program.posts);
  micro.text = text;
  program.posts.push_back(post);
  append(std::move(micro));
}

namespace {

Post with_actions(ProgramBuilder& builder, Rank peer, const Actions& actions) {
  Post post;
  post.peer = peer;
  post.context = actions.context;
  if (actions.signal) {
    post.signal = builder.signal_cell(peer, actions.context, *actions.signal);
    post.strong = actions.strong;
    post.add = actions.add;
  }
  if (actions.counter) {
    post.counter = builder.counter_cell(builder.rank(), actions.context, *actions.counter);
  }
  return post;
}

void check_lengths(Range to, Range from) {
  if (to.count != from.count) {
    throw BuildError(fmt::format("{} granules from {}: both sides need as many; name a part with [first:count]",
                                 to.count, from.count));
  }
  if (to.count > kGranulesMax) too_many("granules of one put or get", kGranulesMax);
}

}  // namespace

void ProgramBuilder::put(Rank peer, Range to, Range from, const Actions& actions, const std::string& text) {
  check_lengths(to, from);
  Post call = with_actions(*this, peer, actions);
  call.granules = to.count;
  call.remote = to.first;
  call.local = from.first;
  post(call, text);
}

void ProgramBuilder::put_value(Rank peer, Range to, uint64_t value, const Actions& actions, const std::string& text) {
  if (to.count != 1) throw BuildError("putvalue writes one granule; name it: 'putvalue 1:d[0] <- 7'");
  Post call = with_actions(*this, peer, actions);
  call.granules = 1;
  call.remote = to.first;
  call.by_value = true;
  call.value = value;
  post(call, text);
}

void ProgramBuilder::put_nothing(Rank peer, const Actions& actions, const std::string& text) {
  if (!actions.signal && !actions.counter) throw BuildError("a put of nothing needs an action: 'strong inc s0'");
  post(with_actions(*this, peer, actions), text);
}

void ProgramBuilder::get(Range to, Rank peer, Range from, uint32_t context, const std::string& text) {
  check_lengths(to, from);
  Post call;
  call.peer = peer;
  call.context = context;
  call.is_get = true;
  call.granules = to.count;
  call.remote = from.first;
  call.local = to.first;
  post(call, text);
}

// --- Completion ------------------------------------------------------------------------------------------------------

// What the first `micros` steps of a thread posted on a context; to one peer, or to all (-1).
uint32_t ProgramBuilder::posted_by_thread(size_t thread, size_t micros, Rank peer, uint32_t context) const {
  uint32_t works = 0;
  for (size_t i = 0; i < micros; ++i) {
    const Micro& micro = program.threads[thread].micros[i];
    if (micro.kind != MicroKind::kPost) continue;
    const Post& call = program.posts[micro.post];
    if (call.context == context && (peer < 0 || call.peer == peer)) works |= call.works;
  }
  return works;
}

void ProgramBuilder::add_flush(std::optional<Rank> peer, uint32_t context, uint32_t works, const std::string& text) {
  Micro micro;
  micro.kind = MicroKind::kFlush;
  micro.works = works;
  micro.context = context;
  micro.peer = peer ? *peer : -1;
  micro.text = text;
  append(std::move(micro));
}

void ProgramBuilder::flush(std::optional<Rank> peer, uint32_t context, const std::string& text) {
  const size_t here = thread().micros.size();
  const uint32_t works = posted_by_thread(program.threads.size() - 1, here, peer ? *peer : -1, context);
  add_flush(peer, context, works, text);
}

void ProgramBuilder::ask(const std::string& request, Rank peer, uint32_t context, const std::string& text) {
  const size_t here = thread().micros.size();
  const uint32_t works = posted_by_thread(program.threads.size() - 1, here, peer, context);
  const uint64_t number = asked_.size() + 1;
  if (!asked_.emplace(request, Asked{number, works, peer, context}).second) {
    throw BuildError(fmt::format("request '{}' is asked for twice; names are unique in the file", request));
  }
  Micro micro;
  micro.kind = MicroKind::kAsk;
  micro.value = number;
  micro.context = context;
  micro.peer = peer;
  micro.text = text;
  append(std::move(micro));
}

void ProgramBuilder::await(const std::string& request, const std::string& text) {
  const auto found = asked_.find(request);
  if (found == asked_.end()) {
    throw BuildError(fmt::format("no request '{}'; make it before: 'ask 1 -> {}'", request, request));
  }
  add_flush(found->second.peer, found->second.context, found->second.works, text);
  program.threads.back().micros.back().value = found->second.number;
}

// What other threads posted before a meeting with this one is ordered before the flush, too.
void ProgramBuilder::widen_flush(size_t thread, size_t at) {
  std::vector<Micro>& micros = program.threads[thread].micros;
  uint64_t meetings = 0;
  for (size_t i = 0; i < at; ++i) meetings += micros[i].kind == MicroKind::kSync ? 1 : 0;
  if (meetings == 0) return;
  for (size_t other = 0; other < program.threads.size(); ++other) {
    const Thread& theirs = program.threads[other];
    if (other == thread || theirs.rank != program.threads[thread].rank) continue;
    const auto met = std::find_if(theirs.micros.begin(), theirs.micros.end(), [&](const Micro& micro) {
      return micro.kind == MicroKind::kSync && micro.value == meetings;
    });
    if (met == theirs.micros.end()) continue;
    micros[at].works |=
        posted_by_thread(other, static_cast<size_t>(met - theirs.micros.begin()), micros[at].peer, micros[at].context);
  }
}

// --- Meetings --------------------------------------------------------------------------------------------------------

void ProgramBuilder::signal_peer(Rank peer, uint32_t context, uint32_t id, bool strong, const std::string& text) {
  Post call;
  call.peer = peer;
  call.context = context;
  call.signal = signal_cell(peer, context, id);
  call.strong = strong;
  call.add = 1;
  post(call, text);
}

// As our device API does it: one signal to each other rank, strong and also to oneself with the Put fence; then a wait
// for theirs; with the Get fence a flush.
void ProgramBuilder::barrier(const Barrier& barrier, const std::string& text) {
  const uint32_t first = barrier.all_contexts ? 0 : barrier.context;
  const uint32_t contexts = barrier.all_contexts ? static_cast<uint32_t>(program.contexts) : 1;
  const Rank peers = barrier.put ? program.ranks : program.ranks - 1;
  const Rank me = rank();
  for (uint32_t context = first; context < first + contexts; ++context) {
    for (Rank i = 1; i <= peers; ++i) {
      const Rank peer = (me + i) % program.ranks;
      signal_peer(peer, context, barrier_signal(program, barrier.index, me), barrier.put, text);
    }
  }
  for (uint32_t context = first; context < first + contexts; ++context) {
    const uint32_t epoch = ++epochs_[{me, context, barrier.index}];
    for (Rank i = 1; i <= peers; ++i) {
      const Rank peer = (me + i) % program.ranks;
      Micro micro;
      micro.kind = MicroKind::kWait;
      micro.cell = signal_cell(me, context, barrier_signal(program, barrier.index, peer));
      micro.bits = 32;
      micro.value = epoch;
      micro.text = text;
      append(std::move(micro));
    }
  }
  if (!barrier.get) return;
  for (uint32_t context = first; context < first + contexts; ++context) flush(std::nullopt, context, text);
}

void ProgramBuilder::sync(const std::string& text) {
  Micro micro;
  micro.kind = MicroKind::kSync;
  micro.text = text;
  micro.value = 1;
  for (const Micro& before : thread().micros) micro.value += before.kind == MicroKind::kSync ? 1 : 0;
  append(std::move(micro));
}

// --- The whole -------------------------------------------------------------------------------------------------------

// Does anything write to these cells of memory?
bool ProgramBuilder::changes(uint8_t first, uint8_t count) const {
  const auto overlaps = [&](uint8_t other, uint8_t length) { return other < first + count && first < other + length; };
  for (const Thread& one : program.threads) {
    for (const Micro& micro : one.micros) {
      if (micro.kind == MicroKind::kStore && overlaps(micro.cell, 1)) return true;
    }
  }
  return std::any_of(program.works.begin(), program.works.end(), [&](const Work& work) {
    if (work.order == emulated::OrderClass::kGet) return overlaps(work.local, work.granules);
    return work.order == emulated::OrderClass::kPut && overlaps(work.remote, work.granules);
  });
}

void ProgramBuilder::finish() {
  for (size_t t = 0; t < program.threads.size(); ++t) {
    for (size_t i = 0; i < program.threads[t].micros.size(); ++i) {
      if (program.threads[t].micros[i].kind == MicroKind::kFlush) widen_flush(t, i);
    }
  }
  uint32_t waited_for = 0;
  for (const Thread& one : program.threads) {
    for (const Micro& micro : one.micros) waited_for |= micro.kind == MicroKind::kFlush ? micro.works : 0;
  }
  uint32_t observed_flows = 0;
  for (size_t w = 0; w < program.works.size(); ++w) {
    const Work& work = program.works[w];
    if (work.counter >= 0 || (waited_for >> w & 1) != 0) observed_flows |= 1u << work.flow;
  }
  uint32_t captures = 0;
  for (Work& work : program.works) {
    work.observed = (observed_flows >> work.flow & 1) != 0;
    if (work.granules == 0 || work.by_value) continue;
    const bool get = work.order == emulated::OrderClass::kGet;
    work.stable = !get && !changes(work.local, work.granules);
    if (work.stable) continue;
    work.capture = static_cast<uint8_t>(captures);
    captures += work.granules;
    if (captures > kCapturesMax) too_many("granules of gets, and of puts whose source something writes", kCapturesMax);
  }
}

}  // namespace anygin::litmus
