// SPDX-License-Identifier: Apache-2.0
// The place where kernels run, as far as memory and threads of this library depend on it. One definition a prefix,
// chosen when libanygin is linked: kernel_side_mapped.cc (cpu, verbs) or lib/gpu/kernel_side_cuda.cc.
#pragma once

#include <cstddef>

#include "anygin/base/status.h"

namespace anygin {

class KernelSide {
 public:
  virtual ~KernelSide() = default;

  // Is device code compiled C++ of this process, which rings engines, tells listeners and parks? If not, engines are
  // polled and kernels leave what they have to say in memory.
  virtual bool calls_us() const = 0;

  // Do kernels reach memory only after reach()? Its pages stay where they are until release().
  virtual bool pins_memory() const = 0;
  // From now on kernels read and write [base, base + bytes), whole pages, at the same addresses. Reaching what is
  // already reached is fine. Host threads; may wait for running kernels where the platform does.
  virtual Status reach(char* base, size_t bytes) = 0;
  virtual void release(char* base) = 0;

  // Where kernels do not call us: zero-filled memory beside them, which the host writes with write_near(). Host
  // threads; no kernel is waited for.
  virtual Result<char*> allocate_near(size_t bytes) = 0;
  virtual void free_near(char* piece) = 0;
  virtual Status write_near(char* to, const void* from, size_t bytes) = 0;
};

// This prefix's. Any thread.
KernelSide& kernel_side();

}  // namespace anygin
