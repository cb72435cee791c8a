// SPDX-License-Identifier: Apache-2.0
// `__device__` and `__constant__` variables, once a device. The variable in the program's image is device 0's copy; the
// copy of device d lies at the same distance for all variables, so that its lanes find it by one addition. The rewriter
// registers every variable behind its definition and turns each use in device code into on_device(name). C++17.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "anygin/simt/device_runtime.h"

namespace anygin::simt {

// Where an image's variables lie. One an image: two libraries that define a variable of one name share neither.
struct DeviceVariableSpan {
  uintptr_t low = UINTPTR_MAX;
  uintptr_t high = 0;
};
inline __attribute__((visibility("hidden"))) DeviceVariableSpan device_variable_span;

enum class DeviceVariableKind : int {
  kPerDevice,
  kConstant,  // never written: all devices read the one
  kManaged,   // one for all devices and the host
  kUnclear,   // a class that must be destroyed: copying its bytes may be wrong
};

struct DeviceVariable {
  void* address;
  size_t bytes;
  const char* name;  // static storage
  DeviceVariableKind kind;
  DeviceVariableSpan* span;
};

extern "C" {
// From a device's copies to device 0's, in bytes: of the running lane's device; 0 on host threads.
ANYGIN_LANE_TLS ptrdiff_t anygin_device_distance;
// Its present bytes are what every device begins with. Any thread, before the first use of the variable.
void anygin_register_device_variable(const DeviceVariable* variable);
// 0 unless the address lies in a variable that devices have copies of.
ptrdiff_t anygin_device_distance_of(const void* address);
}

// What on_device() says of a name's type: its variable has copies.
template <typename T>
constexpr DeviceVariableKind device_variable_kind() {
  using Element = std::remove_all_extents_t<T>;
  if (std::is_const<Element>::value) return DeviceVariableKind::kConstant;
  return std::is_trivially_destructible<Element>::value ? DeviceVariableKind::kPerDevice : DeviceVariableKind::kUnclear;
}

template <typename T>
bool register_device_variable(T& variable, const char* name, bool managed = false) {
  const DeviceVariable one{const_cast<void*>(static_cast<const volatile void*>(std::addressof(variable))), sizeof(T),
                           name, managed ? DeviceVariableKind::kManaged : device_variable_kind<T>(),
                           &device_variable_span};
  anygin_register_device_variable(&one);
  return true;
}

// The running lane's copy. Anything else that a name may mean (a member or a local variable that hides the device
// variable, a value) is handed back as it is.
template <typename T>
__attribute__((always_inline)) inline T&& on_device(T&& named) {
  if constexpr (!std::is_lvalue_reference_v<T>) {
    return static_cast<T&&>(named);
  } else if constexpr (device_variable_kind<std::remove_reference_t<T>>() != DeviceVariableKind::kPerDevice) {
    return named;
  } else {
    ptrdiff_t distance = anygin_device_distance;
    if (__builtin_expect(distance == 0, 1)) return named;
    const auto at = reinterpret_cast<uintptr_t>(std::addressof(named));
    if (at < device_variable_span.low || at >= device_variable_span.high) {
      distance = anygin_device_distance_of(reinterpret_cast<const void*>(at));
    }
    return *reinterpret_cast<std::remove_reference_t<T>*>(at + static_cast<uintptr_t>(distance));
  }
}

// A variable template's instantiation registers itself where it is used.
template <auto& kVariable>
struct DeviceVariableInstance {
  static auto& here() {
    static_cast<void>(&kRegistered);
    return on_device(kVariable);
  }

 private:
  static bool register_it() { return register_device_variable(kVariable, __PRETTY_FUNCTION__); }
  static const bool kRegistered;
};
template <auto& kVariable>
const bool DeviceVariableInstance<kVariable>::kRegistered = DeviceVariableInstance::register_it();

}  // namespace anygin::simt
