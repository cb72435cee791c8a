// SPDX-License-Identifier: Apache-2.0
// Copies and fills: the checks and the pieces.
#include "transfer.h"

#include <algorithm>
#include <cstring>

#include "anygin/simt/device.h"
#include "anygin/simt/stream.h"
#include "memory_place.h"

namespace anygin::simt::face {
namespace {

// A piece takes some 50 µs.
constexpr size_t kPieceBytes = size_t{1} << 20;

struct Piece {
  size_t row, offset, bytes, rows;
};

// Calls `visit(piece)` until one fails: whole rows together while they fit, or parts of a long row.
template <typename Visit>
int for_each_piece(const Rows& rows, const Visit& visit) {
  if (rows.extent() == 0) return cudaSuccess;
  if (rows.width <= kPieceBytes) {
    const size_t together = std::max<size_t>(1, kPieceBytes / rows.width);
    for (size_t row = 0; row < rows.height; row += together) {
      const int error = visit(Piece{row, 0, rows.width, std::min(together, rows.height - row)});
      if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
  }
  for (size_t row = 0; row < rows.height; ++row) {
    for (size_t offset = 0; offset < rows.width; offset += kPieceBytes) {
      const int error = visit(Piece{row, offset, std::min(kPieceBytes, rows.width - offset), 1});
      if (error != cudaSuccess) return error;
    }
  }
  return cudaSuccess;
}

char* at(const Rows& rows, const Piece& piece, size_t row) {
  return rows.base + (piece.row + row) * rows.pitch + piece.offset;
}

// Source and destination may overlap.
void copy_piece(const Rows& destination, const Rows& source, const Piece& piece) {
  if (piece.bytes == 0) return;  // then either side may be null
  for (size_t row = 0; row < piece.rows; ++row) {
    std::memmove(at(destination, piece, row), at(source, piece, row), piece.bytes);
  }
}

void fill_piece(const Rows& destination, int value, const Piece& piece) {
  if (piece.bytes == 0) return;
  for (size_t row = 0; row < piece.rows; ++row) std::memset(at(destination, piece, row), value, piece.bytes);
}

bool from_host(cudaMemcpyKind kind) {
  return kind == cudaMemcpyHostToHost || kind == cudaMemcpyHostToDevice;
}
bool to_host(cudaMemcpyKind kind) {
  return kind == cudaMemcpyHostToHost || kind == cudaMemcpyDeviceToHost;
}

bool is_side(const Rows& rows, bool host, bool any) {
  if (any) return is_range(rows.base, rows.extent());
  return host ? is_host_range(rows.base, rows.extent()) : is_device_range(rows.base, rows.extent());
}

}  // namespace

void copy_rows(const Rows& destination, const Rows& source) {
  copy_piece(destination, source, Piece{0, 0, destination.width, destination.height});
}

int check_copy(const Rows& destination, const Rows& source, cudaMemcpyKind kind) {
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
  if (destination.width > destination.pitch || source.width > source.pitch) return cudaErrorInvalidPitchValue;
  if (destination.extent() == 0) return cudaSuccess;
  const bool any = kind == cudaMemcpyDefault;
  const bool right = is_side(destination, to_host(kind), any) && is_side(source, from_host(kind), any);
  return right ? cudaSuccess : cudaErrorInvalidValue;
}

int check_fill(const Rows& destination) {
  if (destination.width > destination.pitch) return cudaErrorInvalidPitchValue;
  if (destination.extent() == 0) return cudaSuccess;
  return is_device_range(destination.base, destination.extent()) ? cudaSuccess : cudaErrorInvalidValue;
}

int enqueue_copy(Stream* stream, const Rows& destination, const Rows& source) {
  return for_each_piece(destination, [&](const Piece& piece) {
    return enqueue_host_work(stream, [destination, source, piece]() -> int {
      copy_piece(destination, source, piece);
      return cudaSuccess;
    });
  });
}

static int enqueue_fill(Stream* stream, const Rows& destination, int value) {
  return for_each_piece(destination, [&](const Piece& piece) {
    return enqueue_host_work(stream, [destination, value, piece]() -> int {
      fill_piece(destination, value, piece);
      return cudaSuccess;
    });
  });
}

int wait_for_stream(Stream* stream) {
  Event* fence = create_event(false);
  int error = record_event(fence, stream);
  if (error == cudaSuccess) error = synchronize_event(fence);
  destroy_event(fence);
  return error != cudaSuccess ? error : device_error(stream_device(stream));
}

bool is_idle(Stream* stream) {
  Event* fence = create_event(false);
  const bool idle = record_event(fence, stream) == cudaSuccess && query_event(fence) == cudaSuccess;
  destroy_event(fence);
  return idle;
}

int copy_now(Stream* stream, const Rows& destination, const Rows& source) {
  const int error = wait_for_stream(stream);
  if (error != cudaSuccess) return error;
  copy_piece(destination, source, Piece{0, 0, destination.width, destination.height});
  return cudaSuccess;
}

int fill(Stream* stream, const Rows& destination, int value) {
  if (stream->capture() || !is_idle(stream)) return enqueue_fill(stream, destination, value);
  fill_piece(destination, value, Piece{0, 0, destination.width, destination.height});
  return cudaSuccess;
}

}  // namespace anygin::simt::face
