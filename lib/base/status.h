// SPDX-License-Identifier: Apache-2.0
// Operating errors. A Status says what went wrong, where, and what would be right; lib/comm maps it to
// ncclResult_t and keeps the text for ncclGetLastError.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "anygin/base/assert.h"

namespace anygin {

// The values are those of ncclResult_t (contract 2.1), so that the mapping cannot drift.
enum class Code : int {
  kOk = 0,
  kCudaError = 1,
  kSystemError = 2,
  kInternalError = 3,
  kInvalidArgument = 4,
  kInvalidUsage = 5,
  kRemoteError = 6,
  kInProgress = 7,
  kTimeout = 8,
};

class [[nodiscard]] Status {
 public:
  Status() = default;
  // `where` names the function or object the user knows; static storage.
  Status(Code code, std::string_view where, std::string text) : code_(code), where_(where), text_(std::move(text)) {}

  bool ok() const { return code_ == Code::kOk; }
  Code code() const { return code_; }
  std::string_view where() const { return where_; }
  const std::string& text() const { return text_; }
  // "where: text"
  std::string message() const;

 private:
  Code code_ = Code::kOk;
  std::string_view where_;
  std::string text_;
};

// A value, or the Status that says why there is none.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}
  Result(Status status) : status_(std::move(status)) { ANYGIN_ASSERT(!status_.ok()); }

  bool ok() const { return status_.ok(); }
  const Status& status() const { return status_; }
  // The value must be there.
  T& operator*() { return const_cast<T&>(*checked()); }
  const T& operator*() const { return *checked(); }
  T* operator->() { return &**this; }
  const T* operator->() const { return checked(); }

 private:
  const T* checked() const {
    ANYGIN_ASSERT(value_.has_value());
    return &*value_;
  }

  Status status_;
  std::optional<T> value_;
};

}  // namespace anygin

// Returns from the enclosing function when `expression` is a failed Status.
#define ANYGIN_TRY(expression)                               \
  do {                                                       \
    ::anygin::Status anygin_try_status_ = (expression);      \
    if (!anygin_try_status_.ok()) return anygin_try_status_; \
  } while (false)
