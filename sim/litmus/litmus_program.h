// SPDX-License-Identifier: Apache-2.0
// A litmus program as both forms run it: cells of 8 bytes, operations with their ordering class, and threads of micro
// operations. The parser makes it (litmus_parser.h, docs/litmus.md); it does not change afterwards.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "anygin/base/ids.h"
#include "anygin/base/options.h"
#include "anygin/emulated/profile.h"

namespace anygin::litmus {

inline constexpr int kProfiles = 4;
inline constexpr int kRanksMax = 4;
inline constexpr int kContextsMax = 4;
inline constexpr int kThreadsMax = 6;
inline constexpr int kCellsMax = 48;
inline constexpr int kWorksMax = 24;
inline constexpr int kRegistersMax = 12;
inline constexpr int kMicrosMax = 24;   // of a thread
inline constexpr int kGranulesMax = 4;  // of a put or get
inline constexpr int kCapturesMax = 16;
inline constexpr int kIdsMax = 8;  // signals and counters of a context, and barriers
inline constexpr int kCounterBits = 56;

// An 8-byte granule of a rank's memory, a signal or a counter.
enum class CellKind : uint8_t { kMemory, kSignal, kCounter };
struct Cell {
  CellKind kind = CellKind::kMemory;
  Rank rank = 0;
  uint32_t context = 0;  // of signals and counters
  uint32_t id = 0;       // of signals and counters; of memory: the granule's number in the rank's window
  uint64_t initial = 0;  // raw
  std::string name;      // "1:d[0]", "1:s0 on c1"
};

// (source rank, context, destination rank): what the NIC orders.
struct Flow {
  Rank from = 0;
  uint32_t context = 0;
  Rank to = 0;
  friend bool operator==(const Flow&, const Flow&) = default;
};

// What a NIC does of its own: payload of a put, one signal, one get.
struct Work {
  emulated::OrderClass order = emulated::OrderClass::kPut;
  uint8_t flow = 0;
  uint8_t granules = 0;  // of a put or get
  uint8_t remote = 0;    // first cell at the peer; of a signal, its cell
  uint8_t local = 0;     // first cell at the initiator, unless by value
  bool by_value = false;
  uint64_t value = 0;     // by_value: the granule; of a signal: what it adds
  int payload = -1;       // of a signal: the work it belongs to
  int counter = -1;       // cell that counts when this is locally complete
  bool stable = true;     // of a put: nothing ever changes its source, so that it makes no difference when it is read
  uint8_t capture = 0;    // place of what was read, unless stable
  bool observed = false;  // its flow's local completions can be told from outside: by a flush or a counter
};

// One call of the device API, as the production stack takes it.
struct Post {
  Rank rank = 0, peer = 0;
  uint32_t context = 0;
  bool is_get = false;
  bool by_value = false;
  uint64_t value = 0;
  uint8_t granules = 0;
  uint8_t remote = 0, local = 0;  // first cells
  int signal = -1;                // cell
  bool strong = false;
  uint64_t add = 0;
  int counter = -1;    // cell
  uint32_t works = 0;  // a bit a work
};

// One step of a thread.
enum class MicroKind : uint8_t {
  kPost,         // `post`
  kWait,         // until cell >= value, rolling in `bits`; acquires
  kRead,         // cell -> reg; acquires
  kReadRelaxed,  // cell -> reg; later loads may be done before it
  kLoad,         // cell -> reg
  kStore,        // value -> cell
  kAsk,          // makes flush request number `value`
  kFlush,        // until `works` are locally complete; of request number `value`, unless that is 0
  kSync,         // the `value`th meeting of all threads of the rank
};
struct Micro {
  MicroKind kind = MicroKind::kPost;
  uint8_t cell = 0;
  uint8_t reg = 0;
  uint8_t post = 0;  // index into Program::posts
  int bits = 64;
  uint64_t value = 0;
  uint32_t works = 0;
  uint32_t context = 0;  // of a flush or request
  int peer = -1;         // of a flush or request: one peer, or -1: all
  std::string text;      // as the file has it
};
struct Thread {
  Rank rank = 0;
  std::vector<Micro> micros;
};

// What the file says of outcomes.
struct Field {
  uint8_t reg = 0;
  std::vector<uint64_t> values;  // any of them
};
using Pattern = std::vector<Field>;     // all of them; empty: any outcome
using Outcome = std::vector<uint64_t>;  // a value a register
enum class Verdict : uint8_t { kExactly, kAllowed, kForbidden };
struct Statement {
  Verdict verdict = Verdict::kExactly;
  bool profiles[kProfiles] = {};
  Pattern pattern;
  int line = 0;
};

struct Program {
  std::string file, name;
  std::string row;   // the line of the semantics that it shows
  std::string race;  // not empty: why the race checker must report it
  int ranks = 0;
  int contexts = 1;
  std::vector<Cell> cells;
  std::vector<Flow> flows;
  std::vector<Work> works;
  std::vector<Post> posts;
  std::vector<Thread> threads;
  std::vector<std::string> registers;
  std::vector<uint8_t> finals;  // cells; their registers come last, in this order
  std::vector<Statement> statements;
};

std::string describe(const Program& program, const Outcome& outcome);
bool matches(const Pattern& pattern, const Outcome& outcome);

// What the file's statements say about this set of outcomes of a profile; empty: they agree. One line a disagreement,
// with file and line. `complete`: the set holds all outcomes that are possible, so that what is missing counts.
std::vector<std::string> disagreements(const Program& program, Profile profile, const std::set<Outcome>& outcomes,
                                       bool complete);

}  // namespace anygin::litmus
