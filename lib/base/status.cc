// SPDX-License-Identifier: Apache-2.0
#include "anygin/base/status.h"

#include <fmt/format.h>

#include <iterator>

#include "anygin/base/mutant.h"

namespace anygin {
namespace {

constexpr CauseInfo kCauses[] = {
    {"", Code::kOk, "", ""},
#define ANYGIN_CAUSE(enumerator, name, code, what, remedy) {"GIN_ERR_" #name, Code::code, what, remedy},
#include "anygin/base/error_causes.def"
#undef ANYGIN_CAUSE
};
static_assert(std::size(kCauses) == static_cast<size_t>(Cause::kCount));

}  // namespace

const CauseInfo& info_of(Cause cause) {
  ANYGIN_ASSERT(cause < Cause::kCount);
  return kCauses[static_cast<size_t>(cause)];
}

Cause cause_of_number(uint8_t number) {
  return number < static_cast<uint8_t>(Cause::kCount) ? static_cast<Cause>(number) : Cause::kProtocol;
}

std::string Status::message() const {
  if (MUTANT(status_without_name)) return detail();
  return ok() ? "ok" : fmt::format("{}: {}", info_of(cause_).name, detail());
}

std::string Status::detail() const {
  return ok() ? "ok" : fmt::format("{}: {}", where_, text_);
}

}  // namespace anygin
