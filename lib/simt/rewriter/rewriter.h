// SPDX-License-Identifier: Apache-2.0
// CUDA C++ to C++: works on the output of the preprocessor, and touches only what does not belong to system headers,
// unless those are written in CUDA.
// Not part of libanygin.so: the compiler driver links it. Pure functions, no state.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "anygin/simt/rewriter/cu_token.h"

namespace anygin::rewriter {

// Which loops count down a tick budget, so that a lane that spins on memory lets others run.
enum class Ticks {
  kNone,
  kAuto,  // loops that mention something volatile, assembly or std::atomic, or call a function of the same file that
          // does; loops without a body; loops without an end condition; loops made of goto. What is a yield point
          // itself needs none
  kAll,
};

struct RewriteOptions {
  Ticks ticks = Ticks::kAuto;
};

struct RewriteResult {
  std::string text;  // preprocessed C++ with linemarkers: every token on the line it had
  std::vector<Diagnostic> errors;
  bool ok() const { return errors.empty(); }
};

RewriteResult rewrite(std::string_view preprocessed, const RewriteOptions& options = {});

}  // namespace anygin::rewriter
