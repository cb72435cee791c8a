// SPDX-License-Identifier: Apache-2.0
#include "anygin/base/status.h"

#include <fmt/format.h>

namespace anygin {

std::string Status::message() const {
  return ok() ? "ok" : fmt::format("{}: {}", where_, text_);
}

}  // namespace anygin
