// SPDX-License-Identifier: Apache-2.0
// Where kernels of the cuda target say what they wait for, and what they did wrong: a communicator's abort word is the
// first word of one, in memory that host and kernels share. The cpu target parks its waits and leaves the rest empty.
// C++17, host and device; plain words.
#pragma once

#include "anygin/base/wait.h"

namespace anygin {

// One lane that has waited for long. The lane that claims an entry writes it alone, until it clears `taken`.
struct WaitEntry {
  uint32_t taken;     // kernels only: 0 free
  uint32_t complete;  // published last, cleared first; nonzero: what follows is readable
  uint32_t block[3];
  uint32_t thread[3];
  WaitReason reason;
};

struct WaitBoard {
  static constexpr uint32_t kEntries = 256;

  uint32_t abort_word;                       // an AbortCause; the host or a kernel sets it, once
  alignas(kCacheLine) uint32_t waits_noted;  // kernels only add: changes when one of them got to a wait
  alignas(kCacheLine) WaitEntry entries[kEntries];
};

}  // namespace anygin
