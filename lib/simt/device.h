// SPDX-License-Identifier: Apache-2.0
// Devices, streams and events of the cpu target: what the CUDA face and lib/comm call. Host threads only.
// A stream is a FIFO of operations; each runs when the one before it is complete. Errors are cudaError_t values.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "anygin/base/wait.h"

namespace anygin::simt {

class Stream;
class Event;

struct DeviceProperties {
  int multiprocessors = 16;
  int threads_per_multiprocessor = 2048;
  int threads_per_block = 1024;
  size_t shared_bytes_per_block = 48 * 1024;
  size_t shared_bytes_optin = 227 * 1024;
  size_t memory_bytes = 0;
};
int device_count();
DeviceProperties device_properties(int device);
// The calling thread's current device (thread-local, 0 at first).
int current_device();
int set_current_device(int device);  // cudaError_t

// --- Streams ---------------------------------------------------------------------------------------------------------
// `handle` is a cudaStream_t: null, cudaStreamLegacy (1) and cudaStreamPerThread (2) name the current device's own
// ones. Returns null for a handle that is not a live stream.
Stream* resolve_stream(void* handle);
Stream* create_stream(int device, bool non_blocking);
int destroy_stream(Stream* stream);  // the work queued on it still completes
int stream_device(const Stream* stream);
// Runs `work` on an engine-polling thread when the stream reaches it; a non-zero result is the stream's error.
// Small, does not block, calls no CUDA function.
int enqueue_host_work(Stream* stream, std::function<int()> work);
// Holds the stream until `ready()`; evaluated by workers like a parked wait, with `what` for reports.
int enqueue_wait(Stream* stream, std::function<bool()> ready, std::string what);
int synchronize_stream(Stream* stream);  // blocks; returns the device's sticky error if there is one
int query_stream(Stream* stream);        // 0, cudaErrorNotReady or the error
int synchronize_device(int device);

// --- Events ----------------------------------------------------------------------------------------------------------
// `handle` is a cudaEvent_t. Null if it is not a live event.
Event* resolve_event(void* handle);
Event* create_event(bool timing);
void destroy_event(Event* event);
int record_event(Event* event, Stream* stream);
int query_event(Event* event);
int synchronize_event(Event* event);
int stream_wait_event(Stream* stream, Event* event);
int event_elapsed_ns(Event* start, Event* stop, uint64_t* ns);

// --- Errors ----------------------------------------------------------------------------------------------------------
int last_error(bool reset);     // the calling thread's, as cudaGetLastError / cudaPeekAtLastError
int set_last_error(int error);  // returns `error`
// The device is lost: every later call on it returns `error` (cudaErrorLaunchFailure after a lane left, decision 8).
// `cause`: kMisuse for whatever is not the end of a communicator.
void poison_device(int device, int error, const std::string& why, AbortCause cause = AbortCause::kMisuse);
int device_error(int device);
void reset_device(int device);
// A device that is lost because a communicator ended works again; memory and streams are as they were. Waits until what
// is queued on it was dropped. Does nothing if it was lost by anything else. Host threads.
void recover_device(int device);
// A communicator of the device has ended with `why`. Kernels that have one of `handles` among their arguments, and
// those launched until now that only poll memory, fail soon (lib/simt/ended_use.h); waits see the abort word at once.
// Any thread but lanes.
void end_kernels(int device, std::vector<const void*> handles, const std::string& why);

// Has a kernel on a stream of `device` that is not complete one of `handles` among its arguments? Host threads; the
// cuda target does not know and says no.
bool kernels_hold(int device, const std::vector<const void*>& handles);
// The newest kernel launched so far in this process, and whether any of a device's kernels up to it is not complete.
uint64_t newest_kernel();
bool kernels_left(int device, uint64_t newest);

// --- Reports ---------------------------------------------------------------------------------------------------------
struct BlockedLane {
  int device = -1;
  std::string kernel;
  uint64_t grid = 0;
  unsigned block[3]{}, thread[3]{};
  std::string what;  // "waitSignal ctx 0 signal 3: want 4, is 3 (call site ...)"
};
// Every lane parked now, in (device, grid, block, thread) order; at most `limit`.
std::vector<BlockedLane> blocked_lanes(size_t limit);
// Why blocks that were launched are not running, one line a grid: "kernel k (grid 3): 32 blocks wait for room ...".
std::vector<std::string> unplaced_blocks();
// For the hang verdict. Runnable: lanes of resident blocks that have not started. Parked: lanes that wait for
// something, or only poll in a loop. lane_progress() changes whenever a lane got further than its next poll.
uint64_t runnable_lanes();
uint64_t parked_lanes();
uint64_t lane_progress();
// Between two looks: did a lane run all the time, or read the clock? It may go on by itself, without lane_progress().
class LaneWatch {
 public:
  // True if so since the last call. One thread.
  bool look();

 private:
  struct Worker {
    uint64_t visits = 0, clock_reads = 0;
  };
  std::vector<Worker> seen_;
};

}  // namespace anygin::simt
