// SPDX-License-Identifier: Apache-2.0
// The hang verdict in real time (docs/decisions/0011): nobody can make progress in any process of a communicator for
// ANYGIN_HANG_TIMEOUT. It prints what each waits for, and ends the communicators.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "anygin/base/time.h"
#include "anygin/simt/device.h"

namespace anygin::comm {

class ControlLoop;
class ProcessState;

// What one look at the world saw.
struct Observation {
  bool someone_waits = false;  // a lane or a host thread
  bool idle = false;           // here: no lane can run, engines idle, nothing in flight
  bool all_inside = false;     // here: every host thread that ever called us waits inside, or for another thread
  bool peers_idle = true;      // every other process said so, and runs
  bool peers_inside = true;    // and said the same of its host threads
  uint64_t progress = 0;       // changes with anything that ran, here or there
};

enum class Verdict : uint8_t { kNone, kWarn, kHang };

// The rule, without the world: fed with observations, says when it is time.
class HangRule {
 public:
  explicit HangRule(uint64_t timeout_ns) : timeout_ns_(timeout_ns) {}
  // kHang once per hang, kWarn once per standstill with threads outside, or kernels that compute.
  Verdict look(const Observation& seen, uint64_t now_ns);
  uint64_t still_since_ns() const { return since_ns_; }

 private:
  const uint64_t timeout_ns_;
  uint64_t since_ns_ = 0;
  uint64_t inside_since_ns_ = 0;  // not before since_ns_
  uint64_t progress_ = 0;
  bool started_ = false;
  bool warned_ = false, judged_ = false;
};

class HangMonitor {
 public:
  explicit HangMonitor(ProcessState& process);
  // Looks from now on, on the control loop.
  void start(ControlLoop& loop);
  // Prints this process's report, once per standstill. Control loop.
  void report();
  // Nobody can make progress, says who knows: prints the report under `title` and ends all communicators. On the
  // thread that runs the control loop.
  void judge(const std::string& title, const std::string& cause);

 private:
  void beat();
  void end_all(const std::string& cause);
  Observation observe();
  bool lanes_compute();
  bool peers_idle(uint64_t* progress);
  std::string name_of_process(uint32_t pid) const;
  std::vector<std::string> describe(const std::string& title) const;
  void print(const std::vector<std::string>& lines) const;

  ProcessState& process_;
  const uint64_t timeout_ns_;
  const uint64_t period_ns_;
  HangRule rule_;
  uint64_t last_progress_ = 0;
  simt::LaneWatch lane_watch_;
  uint64_t computed_until_ns_ = 0;
  struct PeerBeat {
    uint64_t nonce = 0, beats = 0;
    unsigned missed = 0;
  };
  std::vector<PeerBeat> peer_beats_;
  std::vector<uint32_t> peers_outside_;  // processes that are idle but have host threads outside
  uint64_t reported_at_ = ~uint64_t{0};  // progress when the report was printed
  bool judged_for_us_ = false;           // by judge(): the report is out
};

}  // namespace anygin::comm
