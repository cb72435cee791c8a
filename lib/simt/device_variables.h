// SPDX-License-Identifier: Apache-2.0
// The engine's side of `__device__` variables: which there are, and each device's copies. Host threads; thread-safe.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "anygin/simt/device_variable.h"

namespace anygin::simt {

// Before a launch on `device`, and before a symbol of it is used: its copies exist. Returns a cudaError_t; then `why`
// says which variable is in the way and what to do.
int prepare_device_variables(int device, bool launch, std::string* why);
// Distance of `device`'s copies, for its lanes.
ptrdiff_t device_variable_distance(int device);
// All variables of `device` get their first values again.
void reset_device_variables(int device);

// The registered variable that `address` lies in, original or copy.
struct FoundVariable {
  char* base = nullptr;  // of the copy that the address lies in
  size_t bytes = 0;
  const char* name = "";
  DeviceVariableKind kind = DeviceVariableKind::kPerDevice;
  int device = -1;  // whose copy; -1 for those that all devices share
};
std::optional<FoundVariable> find_device_variable(const void* address);
// The copy that `device` uses of the variable whose original begins at `symbol`: what the symbol functions act on.
// Nothing if no variable begins there. prepare_device_variables() first.
std::optional<FoundVariable> device_variable_of_symbol(const void* symbol, int device);

}  // namespace anygin::simt
