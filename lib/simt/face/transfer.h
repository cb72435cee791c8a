// SPDX-License-Identifier: Apache-2.0
// Copies and fills, as the copy calls of the runtime API see them: checked when called, done in stream order.
#pragma once

#include <cstddef>

#include "driver_types.h"

namespace anygin::simt {
class Stream;
}

namespace anygin::simt::face {

// `height` rows of `width` bytes; rows start `pitch` bytes apart. Linear memory is one row.
struct Rows {
  char* base = nullptr;
  size_t pitch = 0;
  size_t width = 0;
  size_t height = 1;

  // From the first byte to the last one.
  size_t extent() const { return width == 0 || height == 0 ? 0 : pitch * (height - 1) + width; }
};
inline Rows line(const void* base, size_t bytes) {
  return Rows{static_cast<char*>(const_cast<void*>(base)), bytes, bytes, 1};
}

// cudaSuccess, or why the copy cannot be: pitch, direction, a pointer on the wrong side, a range that leaves its
// allocation. `destination` and `source` have the same width and height.
int check_copy(const Rows& destination, const Rows& source, cudaMemcpyKind kind);
// As check_copy, for device memory that is filled.
int check_fill(const Rows& destination);

// Returns when everything queued before on the stream is done, and what the legacy stream waits for.
int wait_for_stream(Stream* stream);

// At once, on the calling thread; checked before.
void copy_rows(const Rows& destination, const Rows& source);
// Queued in pieces small enough for a thread that also runs engines.
int enqueue_copy(Stream* stream, const Rows& destination, const Rows& source);
// Waits for the stream, then copies on the calling thread.
int copy_now(Stream* stream, const Rows& destination, const Rows& source);
// At once if nothing comes before it, else queued.
int fill(Stream* stream, const Rows& destination, int value);

}  // namespace anygin::simt::face
