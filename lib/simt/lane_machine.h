// SPDX-License-Identifier: Apache-2.0
// Whatever runs this process's lanes: worker threads in production, a simulator's executor otherwise.
#pragma once

#include <vector>

#include "anygin/simt/lane_scheduler.h"

namespace anygin::simt {

class LaneMachine {
 public:
  virtual ~LaneMachine() = default;
  // Starts the grid: each scheduler gets its share. Any thread.
  virtual void place(Grid& grid) = 0;
  virtual const std::vector<LaneScheduler*>& schedulers() const = 0;
};

// The one in use; the first call starts the workers unless another was given. Never destroyed.
LaneMachine& lane_machine();
// Puts another in place (null: the workers again). Not while grids run.
void use_lane_machine(LaneMachine* machine);

}  // namespace anygin::simt
