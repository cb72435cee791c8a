// SPDX-License-Identifier: Apache-2.0
// The promises about queues, counters and credits, checked on every event of every run, from what the engine says it
// does and what the words hold that kernels read:
//
//   queue      each descriptor is taken once and in order, none is skipped (P33); operations of a ring become locally
//              complete in that order, each once, and what completes is what was taken
//   counters   a counter changes only by one, with the local completion of a put that names it (P12)
//   credits    the word that gives slots back counts local completions: no slot comes back early, late or twice
//   quiet      a communicator that ends in peace has nothing in its queues
//
// Works for engines that name their words in events (docs/trace.md: decode, post, local_done).
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <optional>
#include <string>
#include <utility>

#include "anygin/base/world.h"
#include "anygin/sim/sim_fabric.h"
#include "anygin/sim/sim_trace.h"

namespace anygin::sim {

class QueueChecker final : public Checker {
 public:
  using Report = std::function<void(std::string)>;
  // Reads a word by its name; null where it is not mapped.
  using Words = std::function<const uint64_t*(MemName)>;
  explicit QueueChecker(Report report) : report_(std::move(report)) {}
  void set_words(Words words) { words_ = std::move(words); }

  void on_event(const TraceEvent& event) override;
  void on_port_opened(Rank rank);
  // Every port of the process with that rank is closed in peace when its communicator ends. Where a rank of that number
  // had several at a time (children, communicators side by side) it is not known whose queues end: they are not judged.
  void on_port_closed(Rank rank);

 private:
  using Name = std::pair<uint32_t, uint64_t>;  // of a word: (heap, offset)
  struct Operation {
    uint32_t number = 0;
    std::optional<Name> counter;
  };
  struct Ring {
    Rank rank = -1, peer = -1;
    uint32_t context = 0;
    std::deque<Operation> taken;   // not yet locally complete
    std::optional<uint32_t> last;  // operation that was taken last,
    uint32_t pieces = 0;           // and of how many descriptors it was
    uint32_t credit = 0;           // what its word must hold
  };

  void take_decode(const TraceEvent& event);
  void take_post(const TraceEvent& event);
  void take_done(const TraceEvent& event);
  Ring& ring_of(const TraceEvent& event);
  void forget_idle_counters();
  void check_sequence(Ring& ring, uint32_t number);
  void check_credit(const Ring& ring, Name name, const char* when);
  void check_counter(const Ring& ring, Name name, const char* when);
  const uint64_t* word(Name name) const;
  void complain(const Ring& ring, const std::string& what);

  const Report report_;
  Words words_;
  std::map<Name, Ring> rings_;         // by the word of their credit
  std::map<Name, uint64_t> counters_;  // what each must hold
  std::map<Rank, int> open_;           // ports
  std::set<Rank> shared_;              // had several since all were closed
  Ring* decoding_ = nullptr;           // its post comes next
};

}  // namespace anygin::sim
