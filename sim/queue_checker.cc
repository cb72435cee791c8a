// SPDX-License-Identifier: Apache-2.0
#include "anygin/sim/queue_checker.h"

#include <fmt/format.h>

#include <set>

namespace anygin::sim {
namespace {

std::pair<uint32_t, uint64_t> name_of(const TraceEvent& event) {
  return {event.at.heap.value, event.at.offset};
}
bool is_named(const TraceEvent& event) {
  return event.at.heap.value != 0 || event.at.offset != 0;
}

}  // namespace

void QueueChecker::complain(const Ring& ring, const std::string& what) {
  report_(fmt::format("promise broken: queue of rank {} to rank {}, context {}: {}", ring.rank, ring.peer, ring.context,
                      what));
}

const uint64_t* QueueChecker::word(Name name) const {
  return words_ ? words_({HeapId(name.first), name.second}) : nullptr;
}

void QueueChecker::on_event(const TraceEvent& event) {
  if (event.kind == TraceKind::kDecode && is_named(event)) return take_decode(event);
  if (event.kind == TraceKind::kPost) return take_post(event);
  if (event.kind == TraceKind::kLocalDone && is_named(event)) return take_done(event);
}

void QueueChecker::on_port_opened(Rank rank) {
  if (++open_[rank] > 1) shared_.insert(rank);
}

void QueueChecker::on_port_closed(Rank rank) {
  const bool whose_is_known = shared_.count(rank) == 0;
  if (--open_[rank] <= 0) {
    open_.erase(rank);
    shared_.erase(rank);
  }
  if (!whose_is_known) return;
  for (const auto& [name, ring] : rings_) {
    if (ring.rank == rank && !ring.taken.empty()) {
      complain(ring, fmt::format("{} operations were not complete when the communicator ended", ring.taken.size()));
    }
  }
  std::erase_if(rings_, [&](const auto& one) { return one.second.rank == rank; });
  forget_idle_counters();
  decoding_ = nullptr;
}

// Their memory may be given out again.
void QueueChecker::forget_idle_counters() {
  std::set<Name> in_use;
  for (const auto& [name, ring] : rings_) {
    for (const Operation& operation : ring.taken) {
      if (operation.counter) in_use.insert(*operation.counter);
    }
  }
  std::erase_if(counters_, [&](const auto& one) { return in_use.count(one.first) == 0; });
}

// A ring that is idle and whose word does not go on from where it was is a new one in the memory of an old one.
QueueChecker::Ring& QueueChecker::ring_of(const TraceEvent& event) {
  const Name name = name_of(event);
  const uint64_t* const credit = word(name);
  Ring& ring = rings_[name];
  const bool other = ring.rank != event.rank || ring.peer != event.peer || ring.context != event.context;
  const bool restarted = ring.taken.empty() && credit != nullptr && static_cast<uint32_t>(*credit) != ring.credit;
  if (other || restarted) {
    forget_idle_counters();
    ring = Ring{event.rank, event.peer, event.context, {}, {}, 0, 0};
    if (credit != nullptr) ring.credit = static_cast<uint32_t>(*credit);
  }
  return ring;
}

void QueueChecker::take_decode(const TraceEvent& event) {
  Ring& ring = ring_of(event);
  const auto number = static_cast<uint32_t>(event.operation);
  check_sequence(ring, number);
  check_credit(ring, name_of(event), "when a descriptor is taken");
  ring.taken.push_back({number, {}});
  decoding_ = &ring;
}

// A call of several descriptors numbers all of them by the first.
void QueueChecker::check_sequence(Ring& ring, uint32_t number) {
  const uint32_t expected = ring.last ? *ring.last + ring.pieces : ring.credit;
  if (ring.last && number == *ring.last) {
    ++ring.pieces;
    return;
  }
  if (number != expected) complain(ring, fmt::format("operation {:#x} is taken, {:#x} is next", number, expected));
  ring.last = number;
  ring.pieces = 1;
}

void QueueChecker::take_post(const TraceEvent& event) {
  Ring* const ring = std::exchange(decoding_, nullptr);
  if (ring == nullptr || !is_named(event)) return;
  const Name counter = name_of(event);
  ring->taken.back().counter = counter;
  const uint64_t* const now = word(counter);
  if (now == nullptr) return;
  counters_.emplace(counter, *now);
  check_counter(*ring, counter, "when a put that names it is posted");
}

void QueueChecker::take_done(const TraceEvent& event) {
  const auto found = rings_.find(name_of(event));
  if (found == rings_.end()) return;
  Ring& ring = found->second;
  const auto number = static_cast<uint32_t>(event.operation);
  if (ring.taken.empty()) return complain(ring, fmt::format("operation {:#x} completes and is not there", number));
  const Operation done = ring.taken.front();
  ring.taken.pop_front();
  if (done.number != number) {
    complain(ring, fmt::format("operation {:#x} completes, {:#x} is the oldest", number, done.number));
  }
  if (done.counter && counters_.count(*done.counter) != 0) {
    ++counters_[*done.counter];
    check_counter(ring, *done.counter, "after a put that names it completed");
  }
  check_credit(ring, name_of(event), "when an operation completes");
  ++ring.credit;  // given back right after this event
}

void QueueChecker::check_credit(const Ring& ring, Name name, const char* when) {
  const uint64_t* const now = word(name);
  if (now == nullptr || static_cast<uint32_t>(*now) == ring.credit) return;
  complain(ring, fmt::format("credit is given back to {:#x} {}, operations are complete to {:#x}",
                             static_cast<uint32_t>(*now), when, ring.credit));
}

void QueueChecker::check_counter(const Ring& ring, Name name, const char* when) {
  const uint64_t* const now = word(name);
  uint64_t& expected = counters_[name];
  if (now == nullptr || *now == expected) return;
  complain(ring, fmt::format("a counter is {} {}, and must be {}", *now, when, expected));
  expected = *now;  // told once
}

}  // namespace anygin::sim
