// SPDX-License-Identifier: Apache-2.0
#include "anygin/comm/last_error.h"

#include <string>

#include "anygin/base/log.h"

namespace anygin::comm {
namespace {

std::string& own_text() {
  thread_local std::string text;
  return text;
}

}  // namespace

void keep_last_error(const Status& status) {
  if (status.ok()) return;
  own_text() = status.message();
  log(LogLevel::kInfo, "{}", own_text());
}

const char* last_error_text() {
  return own_text().c_str();
}

}  // namespace anygin::comm
