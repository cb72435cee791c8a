// SPDX-License-Identifier: Apache-2.0
// What a wait does depends on who waits: a lane parks with its host, a host thread blocks on the executor.
#include <cstdio>
#include <cstdlib>

#include "anygin/base/executor.h"
#include "anygin/base/world.h"

namespace anygin {
namespace {

thread_local LaneHost* lane_host __attribute__((tls_model("initial-exec"))) = nullptr;

}  // namespace

LaneHost* current_lane_host() {
  return lane_host;
}
void set_current_lane_host(LaneHost* host) {
  lane_host = host;
}

extern "C" WaitOutcome anygin_wait(Waiter* waiter) {
  if (lane_host) return lane_host->park(*waiter);
  return world().executor.block(*waiter);
}

extern "C" void anygin_yield() {
  if (lane_host) {
    lane_host->yield();
  } else {
    world().executor.poll();
  }
}

extern "C" void anygin_ring_engine(void* engine) {
  world().executor.kick(*static_cast<Engine*>(engine));
}

extern "C" void anygin_leave_kernel(AbortCause cause) {
  if (lane_host) lane_host->leave(cause);
  std::fprintf(stderr,
               "anygin: device code called on a host thread has no kernel to leave (abort cause %u): it waits for "
               "something that cannot happen any more\n",
               static_cast<unsigned>(cause));
  std::abort();
}

}  // namespace anygin
