// SPDX-License-Identifier: Apache-2.0
// SIGSEGV or SIGFPE on a lane: stderr says which lane it was and whether its stack overflowed; then the signal goes on
// to whoever handled it before. Lanes stand on small stacks, so the handler has one of its own on every thread that
// runs them.
#pragma once

namespace anygin::simt {

// Puts the handler in front of the process's present one; the first call does. A handler that the program installs
// later replaces it, as usual. Any thread.
void watch_lane_faults();

extern __thread bool has_signal_stack __attribute__((tls_model("initial-exec")));
void make_signal_stack();
// Before lanes run on this thread. A thread that has an alternate stack keeps it.
inline void ensure_signal_stack() {
  if (!has_signal_stack) [[unlikely]]
    make_signal_stack();
}

}  // namespace anygin::simt
