// SPDX-License-Identifier: Apache-2.0
// A lane ends its grid with an error of its own. C++17. Called on a lane.
#pragma once

namespace anygin::simt {

extern "C" {
// The device is lost with `cuda_error` (a cudaError_t); stderr says `what` and where.
[[noreturn]] void anygin_fail_grid(int cuda_error, const char* what);
}

}  // namespace anygin::simt
