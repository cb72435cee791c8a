// SPDX-License-Identifier: Apache-2.0
// The C library's clocks and sleeps, and the ways out of a process, for programs that run in the simulated world. Only
// in libanygin_sim.so, which is preloaded.
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "anygin/base/env_real.h"
#include "anygin/sim/program_time.h"
#include "anygin/sim/real_calls.h"
#include "anygin/sim/simulation.h"

namespace {

using anygin::Time;
using anygin::sim::real_system_call;
using anygin::sim::Simulation;

// A loop that waits for time must let it pass: every so many looks others may go on.
constexpr uint32_t kLooksPerTurn = 16;

timespec look_at_clock() {
  static uint32_t looks = 0;
  Simulation& simulation = *Simulation::active();
  if (simulation.threads().on_program_thread()) {
    simulation.threads().note_clock_look();
    if (++looks % kLooksPerTurn == 0) simulation.threads().yield();
  }
  return anygin::sim::to_timespec(simulation.clock().now());
}

bool sleep_for(Time duration) {
  Simulation* simulation = Simulation::active();
  if (simulation == nullptr || !simulation->threads().on_program_thread()) return false;
  simulation->threads().sleep_until(simulation->clock().now() + duration);
  return true;
}

int real_result(long result) {
  if (result >= 0) return static_cast<int>(result);
  errno = static_cast<int>(-result);
  return -1;
}

// Loaded later, by the program itself, it stands behind the C library and interposes nothing.
__attribute__((constructor)) void begin() {
  const bool preloaded = anygin::environment_variable("LD_PRELOAD").find("libanygin_sim") != std::string::npos;
  if (preloaded && !anygin::environment_variable("ANYGIN_WORLD").empty()) Simulation::start();
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* out) noexcept {
  if (Simulation::active() == nullptr) {
    return real_result(real_system_call(SYS_clock_gettime, clock, reinterpret_cast<long>(out), 0, 0, 0, 0));
  }
  *out = look_at_clock();
  return 0;
}

int gettimeofday(timeval* out, void* zone) noexcept {
  if (Simulation::active() == nullptr) {
    return real_result(
        real_system_call(SYS_gettimeofday, reinterpret_cast<long>(out), reinterpret_cast<long>(zone), 0, 0, 0, 0));
  }
  const timespec now = look_at_clock();
  out->tv_sec = now.tv_sec;
  out->tv_usec = now.tv_nsec / 1000;
  return 0;
}

time_t time(time_t* out) noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  if (out != nullptr) *out = now.tv_sec;
  return now.tv_sec;
}

int clock_nanosleep(clockid_t clock, int flags, const timespec* request, timespec* left) {
  Simulation* simulation = Simulation::active();
  if (simulation == nullptr || !simulation->threads().on_program_thread()) {
    return static_cast<int>(-real_system_call(SYS_clock_nanosleep, clock, flags, reinterpret_cast<long>(request),
                                              reinterpret_cast<long>(left), 0, 0));
  }
  if (flags == TIMER_ABSTIME) {
    simulation->threads().sleep_until(anygin::sim::time_of(*request));
  } else {
    (void)sleep_for(anygin::sim::duration_of(*request));
  }
  return 0;
}

int nanosleep(const timespec* request, timespec* left) {
  if (sleep_for(anygin::sim::duration_of(*request))) return 0;
  return real_result(
      real_system_call(SYS_nanosleep, reinterpret_cast<long>(request), reinterpret_cast<long>(left), 0, 0, 0, 0));
}

int usleep(useconds_t microseconds) {
  const timespec request{static_cast<time_t>(microseconds / 1'000'000),
                         static_cast<long>(microseconds % 1'000'000) * 1000};
  return nanosleep(&request, nullptr);
}

unsigned sleep(unsigned seconds) {
  const timespec request{static_cast<time_t>(seconds), 0};
  nanosleep(&request, nullptr);
  return 0;
}

// The result must be written before.
void _exit(int code) {
  if (Simulation* simulation = Simulation::active()) simulation->finish();
  (void)real_system_call(SYS_exit_group, code, 0, 0, 0, 0, 0);
  __builtin_unreachable();
}
void _Exit(int code) noexcept {
  _exit(code);
}

}  // extern "C"
