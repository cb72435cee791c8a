// SPDX-License-Identifier: Apache-2.0
// Pending launches are a stack a thread, in the PendingLaunch objects themselves.
#include "anygin/simt/launch_syntax.h"

#include <exception>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "anygin/base/log.h"
#include "anygin/simt/device.h"

namespace anygin::simt {
namespace {

constexpr int kMissingConfiguration = 52;   // cudaErrorMissingConfiguration
constexpr int kInvalidDeviceFunction = 98;  // cudaErrorInvalidDeviceFunction

// Position after `text[at]`'s balanced part: the first ';' or ']' or ", " outside brackets.
size_t end_of_value(std::string_view text, size_t at) {
  int depth = 0;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '<' || c == '(' || c == '{' || c == '[') ++depth;
    if ((c == ';' || c == ']' || c == ',') && depth == 0) return at;
    if (c == '>' || c == ')' || c == '}' || c == ']') --depth;
  }
  return at;
}

}  // namespace
}  // namespace anygin::simt

// A place to point at, never looked into.
static char no_launch;
extern "C" {
__thread __attribute__((tls_model("initial-exec"))) anygin::simt::PendingLaunch* anygin_pending_launch =
    reinterpret_cast<anygin::simt::PendingLaunch*>(&no_launch);
}

namespace anygin::simt {

PendingLaunch* PendingLaunch::none() {
  return reinterpret_cast<PendingLaunch*>(&no_launch);
}

PendingLaunch::PendingLaunch(Extent grid, Extent block, size_t dynamic_shared_bytes, void* stream) {
  if (anygin_lane_active()) anygin_trap("a kernel launched a kernel: launches from device code are not supported");
  shape_.grid = grid;
  shape_.block = block;
  shape_.dynamic_shared_bytes = dynamic_shared_bytes;
  shape_.stream = stream;
  outer_ = anygin_pending_launch;
  anygin_pending_launch = this;
}

PendingLaunch::~PendingLaunch() {
  if (taken_) return;
  anygin_pending_launch = outer_;
  if (std::uncaught_exceptions() > 0) return;  // an argument threw: there was no launch
  log(LogLevel::kError,
      "a launch <<<...>>> called a function that is not a __global__ function with a body compiled "
      "by anygin-c++: nothing was launched");
  set_last_error(kInvalidDeviceFunction);
}

bool PendingLaunch::take(const char* name, LaunchShape* shape) {
  PendingLaunch* pending = anygin_pending_launch;
  if (pending == none()) {
    log(LogLevel::kError,
        "kernel {} was called like a function: a launch needs <<<grid, block>>> between its name and its arguments; "
        "nothing was launched",
        name);
    set_last_error(kMissingConfiguration);
    return false;
  }
  *shape = pending->shape_;
  pending->taken_ = true;
  anygin_pending_launch = pending->outer_;
  return true;
}

// gcc: "... [with Parameters = {int}; void (* kFunction)(Parameters ...) = ns::k<int>; int kMax... = 0]",
// clang: "... [kFunction = &ns::k, kMax... = 0]".
const char* kernel_name(const char* signature) {
  // Never destroyed: lanes may still run while the process exits.
  static std::mutex& mutex = *new std::mutex;
  static std::set<std::string>& names = *new std::set<std::string>;
  const std::string_view text = signature;
  size_t at = text.rfind("kFunction)(");
  at = text.find(" = ", at == std::string_view::npos ? text.find("[kFunction") : at);
  if (at == std::string_view::npos) return signature;
  at += 3;
  if (text[at] == '&') ++at;
  const std::lock_guard<std::mutex> guard(mutex);
  return names.emplace(text.substr(at, end_of_value(text, at) - at)).first->c_str();
}

}  // namespace anygin::simt
