// SPDX-License-Identifier: Apache-2.0
// Litmus programs through the production stack: the proxy's device half, its engine, the verbs transport, the software
// HCA with its flows, the direct fabric. Each run is a function of its seed: which thread or engine moves next, and
// everything that the flows ask of their ChoiceSource.
#pragma once

#include <memory>

#include "anygin/backends/backend.h"
#include "anygin/backends/device_backend.h"
#include "anygin/sim/litmus/litmus_program.h"
#include "anygin/sim/litmus/rank_meeting.h"
#include "anygin/sim/litmus/stack_world.h"

namespace anygin::litmus {

// The ranks of a program, connected; runs follow each other. One at a time.
class StackRunner {
 public:
  // For programs of so many ranks. Fails with the reason of the rank that could not be set up.
  static Result<std::unique_ptr<StackRunner>> create(int ranks, Profile profile);
  ~StackRunner();

  enum class End : uint8_t { kFinished, kHangs, kFailed };
  // `program` has the ranks that this was made for.
  End run(const Program& program, uint64_t seed);
  const Outcome& outcome() const { return outcome_; }
  // Of a run that did not finish: who waits for what, or the error.
  const std::string& why() const { return why_; }

 private:
  struct RankState;
  struct ThreadState {
    size_t next = 0;
    bool asked = false;                  // of the flush at `next`: the requests are made
    std::vector<FlushRequest> requests;  // of the flush at `next`
  };

  StackRunner(int ranks, Profile profile);
  Status set_up(Bootstrap& bootstrap);
  DeviceContext device(Rank rank, uint32_t context) const;
  uint64_t* word(const Program& program, uint8_t cell) const;
  uint64_t value(const Program& program, const Micro& micro) const;
  void reset(const Program& program);
  bool walk(const Program& program, bool threads);
  bool threads_done(const Program& program) const;
  bool enabled(const Program& program, size_t thread);
  bool met(const Program& program, size_t thread, const Micro& micro) const;
  bool flushed(const Program& program, size_t thread, const Micro& micro);
  void step(const Program& program, size_t thread);
  void post(const Program& program, const Post& call);
  std::string describe_hang(const Program& program) const;

  const int size_;
  Options options_;
  std::unique_ptr<StackWorld> world_;
  RankMeeting meeting_;  // backends ask it for their rank as long as they live
  std::vector<std::unique_ptr<RankState>> ranks_;
  std::vector<ThreadState> threads_;
  std::vector<std::vector<FlushRequest>> asked_;  // by request number
  Outcome outcome_;
  std::string why_;
  // Scratch of walk().
  std::vector<StackExecutor::Ready> ready_;
  std::vector<ChoiceOption> options_now_;
};

}  // namespace anygin::litmus
