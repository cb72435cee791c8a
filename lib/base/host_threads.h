// SPDX-License-Identifier: Apache-2.0
// The host threads that ever called into the library, and which of them wait inside it. The hang verdict asks
// (docs/decisions/0011): a thread outside may still do what everybody waits for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace anygin {

// While one lives, the calling thread is inside the call `name` (static storage). Nests; the innermost name counts.
class ApiCall {
 public:
  explicit ApiCall(const char* name);
  ~ApiCall();
  ApiCall(const ApiCall&) = delete;
  ApiCall& operator=(const ApiCall&) = delete;

 private:
  const char* outer_;
};

// While one lives, the calling thread waits inside the library for something that others do.
class BlockingCall {
 public:
  BlockingCall();
  ~BlockingCall();
  BlockingCall(const BlockingCall&) = delete;
  BlockingCall& operator=(const BlockingCall&) = delete;
};

struct HostThread {
  uint32_t id = 0;
  std::string call;     // where it is or was last; empty if it never named a call
  bool inside = false;  // of that call
  bool waits = false;
};

// Every thread that called and has not ended. Any thread.
std::vector<HostThread> host_threads();

}  // namespace anygin
