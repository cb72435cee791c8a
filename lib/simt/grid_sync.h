// SPDX-License-Identifier: Apache-2.0
// The barrier of a whole grid, for cooperative groups. C++17. Called on a lane.
#pragma once

namespace anygin::simt {

extern "C" {
// 1 if the grid was launched cooperatively: all its blocks are resident, so they can wait for each other.
int anygin_grid_is_cooperative();
// Every lane of the grid calls it; returns when all have. What they wrote before is seen after it. In a grid that was
// not launched cooperatively it ends the grid.
void anygin_grid_sync();
}

}  // namespace anygin::simt
