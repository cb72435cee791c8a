// SPDX-License-Identifier: Apache-2.0
// Names and texts of cudaError_t, which CUresult shares number by number.
#pragma once

namespace anygin::simt::face {

struct ErrorText {
  int code;
  const char* name;  // "cudaErrorInvalidValue"
  const char* text;
};
// Null for a number that is no error. Static storage; any thread.
const ErrorText* error_text(int code);

}  // namespace anygin::simt::face
