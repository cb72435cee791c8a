// SPDX-License-Identifier: Apache-2.0
#include "anygin/comm/last_error.h"

#include <memory>
#include <string>

#include "anygin/base/log.h"

namespace anygin::comm {
namespace {

// Stays where it is: programs keep the pointer. Longer messages are cut. Not in the thread's static memory, of which a
// library that is loaded late gets little.
struct Text {
  char bytes[2048] = {};
};
Text& own_text() {
  thread_local const std::unique_ptr<Text> text = std::make_unique<Text>();
  return *text;
}

}  // namespace

void keep_last_error(const Status& status) {
  if (status.ok()) return;
  const std::string message = status.message();
  Text& text = own_text();
  text.bytes[message.copy(text.bytes, sizeof text.bytes - 1)] = '\0';
  log(LogLevel::kInfo, "{}", message);
}

const char* last_error_text() {
  return own_text().bytes;
}

}  // namespace anygin::comm
