// SPDX-License-Identifier: Apache-2.0
// Operating errors. A Status says why, by a cause with a stable name, where, and what would be right; lib/comm maps it
// to ncclResult_t and keeps the text for ncclGetLastError.
#pragma once

#include <cstdint>
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

// Why something failed: a row of error_causes.def, which gives the code and a name that never changes.
enum class Cause : uint8_t {
  kNone = 0,
#define ANYGIN_CAUSE(enumerator, name, code, what, remedy) enumerator,
#include "anygin/base/error_causes.def"
#undef ANYGIN_CAUSE
  kCount
};

struct CauseInfo {
  std::string_view name;  // "GIN_ERR_WINDOW_FULL"
  Code code;
  std::string_view what, remedy;  // a sentence each
};
// Of kNone: no name, kOk.
const CauseInfo& info_of(Cause cause);
// What a peer sent as a number; kProtocol if it is none.
Cause cause_of_number(uint8_t number);

class [[nodiscard]] Status {
 public:
  Status() = default;
  // `cause` is not kNone. `where` names the function or object the user knows; static storage.
  Status(Cause cause, std::string_view where, std::string text)
      : cause_(cause), where_(where), text_(std::move(text)) {}

  bool ok() const { return cause_ == Cause::kNone; }
  Cause cause() const { return cause_; }
  Code code() const { return info_of(cause_).code; }
  std::string_view where() const { return where_; }
  const std::string& text() const { return text_; }
  // "GIN_ERR_NAME: where: text", for people.
  std::string message() const;
  // "where: text", for the text of another status.
  std::string detail() const;

 private:
  Cause cause_ = Cause::kNone;
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
