// SPDX-License-Identifier: Apache-2.0
// Who runs engines, and how a thread waits. See docs/seams.md for which thread may call what.
#pragma once

#include <atomic>
#include <cstdint>

#include "anygin/base/engine.h"
#include "anygin/base/wait.h"

namespace anygin {

// A word that sleepers sleep on and everybody who may satisfy a wait rings. Lives in memory shared with the peers of
// this host: foreign processes ring it after they stored into our windows (docs/decisions/0004, 0005).
struct WakeWord {
  std::atomic<uint32_t> value{0};
  std::atomic<uint32_t> sleepers{0};
};

// Changes `word` and wakes its sleepers, if any: one atomic add, one load, seldom a system call. What the caller stored
// before is seen by whoever wakes. Any thread, any process.
void ring(WakeWord& word);
// Sleeps until `word` differs from `seen` or `timeout_ns` passes. Read `seen` before the last look at the condition.
void sleep_on(WakeWord& word, uint32_t seen, uint64_t timeout_ns);

// How a lane parks; the SIMT engine sets it on its workers while a lane runs.
class LaneHost {
 public:
  virtual ~LaneHost() = default;
  virtual WaitOutcome park(Waiter& waiter) = 0;
  virtual void yield() = 0;
  [[noreturn]] virtual void leave(AbortCause cause) = 0;
};

// The host of the lane that runs on this thread; null on a host thread. The SIMT engine sets it when it enters a lane
// and clears it when it leaves.
LaneHost* current_lane_host();
void set_current_lane_host(LaneHost* host);

class Executor;

// Rings all who may wait in this process: workers, helpers and blocked host threads.
void ring_everybody(Executor& executor);

class Executor {
 public:
  virtual ~Executor() = default;

  // The engine is stepped from now on, by whoever holds its owner token. Not owned. Any thread.
  virtual void add(Engine& engine) = 0;
  // On return nobody steps the engine any more. Not from an engine.
  virtual void remove(Engine& engine) = 0;
  // The engine may have work: somebody steps it soon. Any thread; cheap.
  virtual void kick(Engine& engine) = 0;
  // Steps every engine that has work and whose owner token is free; used by workers between blocks and by host
  // threads that wait. True if anything ran.
  virtual bool poll() = 0;
  // The same for a thread that calls it over and over: leaves an engine that another thread looks after to that thread,
  // most of the time. Call poll() before sleeping.
  virtual bool poll_nearby() { return poll(); }
  // Blocks the calling host thread until the waiter's test holds, its abort word is set or its deadline passes.
  virtual WaitOutcome block(Waiter& waiter) = 0;
  // The word that ring() must ring when something of this process may have become ready.
  virtual WakeWord& wake_word() = 0;
  // The word that blocked host threads sleep on while others step the engines: ring it too, after wake_word(), when
  // what only a host thread may wait for has come about (an operation of a stream, a message of a peer, an abort). The
  // work of engines does not ring it: it would call every blocked thread to a core that a worker needs.
  virtual WakeWord& host_word() { return wake_word(); }
  // From now on the process waits and is woken through `word` (in a page that its peers map). It outlives the executor.
  virtual void use_wake_word(WakeWord& word) = 0;
  // Counts everything that ran; unchanged over a period = no progress here. Any thread.
  virtual uint64_t progress() const = 0;
  // Runs `visit` with the owner token of each engine held, in id order. For reports.
  virtual void visit_engines(void (*visit)(Engine&, void*), void* argument) = 0;
};

}  // namespace anygin
