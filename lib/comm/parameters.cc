// SPDX-License-Identifier: Apache-2.0
#include "anygin/comm/parameters.h"

#include <memory>

namespace anygin::comm {
namespace {

// Not in the thread's static memory, of which a library that is loaded late gets little.
struct Kept {
  std::string text;
  std::vector<const char*> keys;
};
Kept& own() {
  thread_local const std::unique_ptr<Kept> kept = std::make_unique<Kept>();
  return *kept;
}

}  // namespace

bool parameter_is_listed(const OptionInfo& row) {
  return row.name.substr(0, 5) == "NCCL_" || options().nccl_param_dump_all;
}

const char* keep_parameter_text(std::string text) {
  own().text = std::move(text);
  return own().text.c_str();
}

std::vector<const char*>& keep_parameter_keys() {
  std::vector<const char*>& keys = own().keys;
  keys.clear();
  for (const OptionInfo& row : option_table()) {
    if (parameter_is_listed(row)) keys.push_back(row.name.data());
  }
  return keys;
}

}  // namespace anygin::comm
