// SPDX-License-Identifier: Apache-2.0
// The trace sink of the simulated world: every event goes into the digest and to the checkers, and into a file if one
// is wanted.
#pragma once

#include <memory>
#include <vector>

#include "anygin/base/trace.h"
#include "anygin/sim/digest.h"

namespace anygin::sim {

// Reads the event stream and says what is wrong.
class Checker {
 public:
  virtual ~Checker() = default;
  virtual void on_event(const TraceEvent& event) = 0;
  // The run is over and nothing is in flight that could still come.
  virtual void at_end() {}
};

class SimTrace final : public TraceSink {
 public:
  explicit SimTrace(std::unique_ptr<TraceSink> file) : file_(std::move(file)) { enabled_ = true; }

  void add(Checker& checker) { checkers_.push_back(&checker); }
  void record(const TraceEvent& event) override;
  void at_end();
  const Digest& digest() const { return digest_; }

 private:
  std::unique_ptr<TraceSink> file_;  // null: none
  std::vector<Checker*> checkers_;
  Digest digest_;
};

}  // namespace anygin::sim
