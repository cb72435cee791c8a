// SPDX-License-Identifier: Apache-2.0
// What a process shows its peers on this host (docs/decisions/0004): a control page, and areas in which a peer writes
// only its own side of a single-producer ring. No process takes a lock in, or changes other control state of, another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "anygin/base/executor.h"
#include "anygin/base/memory_map.h"
#include "anygin/base/status.h"

namespace anygin {

inline constexpr uint64_t kProcessPageMagic = 0x00314e4947594e41;  // "ANYGIN1"
inline constexpr uint32_t kProcessPageVersion = 1;

struct ControlPage {
  // Fixed after creation.
  uint64_t magic = 0;
  uint32_t version = 0;
  uint32_t pid = 0;
  uint64_t start_time = 0;  // of the process, from the kernel: tells a reused pid apart
  // Anybody rings.
  alignas(kCacheLine) WakeWord wake;
  // This process writes, peers read: the inputs of the hang verdict (docs/decisions/0011).
  alignas(kCacheLine) std::atomic<uint64_t> progress{0};
  std::atomic<uint64_t> beats{0};  // grows while the process runs: one that is stopped is not hopeless
  // kHopeless: all lanes parked, engines idle, nothing in flight, no host thread outside. kIdle: the same, but some
  // host thread is outside the library and may still do what the others wait for.
  std::atomic<uint32_t> hopeless{0};
  static constexpr uint32_t kHopeless = 1, kIdle = 2;
};

// This process's page and areas. Thread-safe. Created with the world.
class ProcessPage {
 public:
  ProcessPage();
  ~ProcessPage();

  ControlPage& control();
  // Zero-filled, cache-line aligned, never freed before the process ends; reusable through `release`.
  uint64_t allocate(size_t bytes);              // offset within the page's file
  void release(uint64_t offset, size_t bytes);  // zero-fills for the next user
  char* at(uint64_t offset);
  int fd() const;
  size_t bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// A peer's page, mapped. Checks magic and version.
class PeerPage {
 public:
  // Takes ownership of `fd`. A page of this very process (the same file as world().page) is used in place.
  static Result<PeerPage> map(int fd, size_t bytes);

  ControlPage& control() const;
  char* at(uint64_t offset, size_t bytes) const;  // asserts that the range lies inside the file

 private:
  SharedMapping mapping_;  // empty if the page is our own
  char* base_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace anygin
