// SPDX-License-Identifier: Apache-2.0
// An engine is a state machine that offers actions and runs them: no thread, clock or randomness of its own.
// Production steps all that is ready in canonical order; the simulator picks single actions (docs/decisions/0001).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "anygin/base/ids.h"
#include "anygin/base/time.h"

namespace anygin {

enum class Access : uint8_t { kRead, kWrite, kAdd };  // adds commute with adds

// What an action touches: memory by name; signal and counter cells and queue heads are memory too.
struct Touch {
  MemName at;
  uint64_t bytes = 0;
  Access access = Access::kRead;
};

struct Action {
  EngineId engine;
  uint16_t kind = 0;             // the engine's own enumeration
  uint64_t name = 0;             // stable within the engine: which queue, which operation
  bool only_polls = false;       // a lane in a loop of its own, which has only looked since anything moved
  std::vector<Touch> footprint;  // filled only if the list wants footprints
};

// One look at engines: their ready actions, in each engine's canonical order, and when to look again.
class ActionList {
 public:
  explicit ActionList(Time now, bool wants_footprints = false) : now_(now), wants_footprints_(wants_footprints) {}

  Time now() const { return now_; }
  bool wants_footprints() const { return wants_footprints_; }
  Action& add(EngineId engine, uint16_t kind, uint64_t name) {
    actions_.push_back(Action{engine, kind, name, false, {}});
    return actions_.back();
  }
  // Something becomes ready at `due` without outside help. The earliest counts.
  void wake_at(Time due) {
    if (due < next_wake_) next_wake_ = due;
  }
  Time next_wake() const { return next_wake_; }
  void clear() {
    actions_.clear();
    next_wake_ = kNever;
  }
  // For the next look.
  void begin(Time now) {
    clear();
    now_ = now;
  }
  bool empty() const { return actions_.empty(); }
  size_t size() const { return actions_.size(); }
  const Action& operator[](size_t i) const { return actions_[i]; }

 private:
  Time now_;
  bool wants_footprints_;
  Time next_wake_ = kNever;
  std::vector<Action> actions_;
};

class Engine {
 public:
  virtual ~Engine() = default;

  virtual EngineId id() const = 0;
  virtual std::string_view name() const = 0;
  // Cheap, may be called by any thread without the owner token: could ready() be non-empty, or name another wake-up
  // than it last did? False negatives are errors; false positives cost time.
  virtual bool has_work() const = 0;
  // Appends the actions that can run at out.now(), in canonical order, and names the next wake-up, if it has one: each
  // look tells the whole truth, so that none is lost when one comes to nothing. Owner token held.
  virtual void ready(ActionList& out) = 0;
  // Runs one action that ready() offered since the last run(): bounded work. Owner token held.
  virtual void run(const Action& action, Time now) = 0;
  // One line a thing in flight, for the hang report. Owner token held.
  virtual void describe_pending(std::vector<std::string>& out) const { (void)out; }
};

struct StepResult {
  size_t ran = 0;           // actions run
  Time next_wake = kNever;  // what the last look named
};

// Runs ready actions in canonical order, round and round, until none is left or `budget` ran. `place` (may be null) is
// where in the order it begins; it is moved on, so that the next step begins where this one stopped. Owner token held.
StepResult step(Engine& engine, Time now, size_t budget, size_t* place = nullptr);

}  // namespace anygin
