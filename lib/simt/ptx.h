// SPDX-License-Identifier: Apache-2.0
// Inline PTX on the CPU. The rewriter turns `asm volatile("text" : outputs : inputs : clobbers)` in device code into
//   ::anygin::simt::ptx(<the program, decoded once>, ptx_operands(ptx_out("=r", x)), ptx_operands(ptx_in("l", p)))
// Text that cannot be decoded is an error of the rewriter. C++17; called on a lane.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace anygin::simt {

// One operand of an asm statement: an input's value, or an output's place and, for "+r", its value.
struct PtxValue {
  alignas(16) unsigned char bytes[16] = {};
  unsigned size = 0;
  void* place = nullptr;  // null for inputs

  template <typename T>
  T as() const {
    T value;
    std::memcpy(&value, bytes, sizeof(T));
    return value;
  }
  template <typename T>
  void set(T value) {
    std::memset(bytes, 0, sizeof bytes);
    std::memcpy(bytes, &value, sizeof(T));
  }
};

template <size_t kCount>
struct PtxOperands {
  PtxValue values[kCount > 0 ? kCount : 1];
};

template <typename... Values>
PtxOperands<sizeof...(Values)> ptx_operands(const Values&... values) {
  return {{values...}};
}

// Integers narrower than a register widen as in C.
template <typename T>
PtxValue ptx_in(const char*, T value) {
  static_assert(sizeof(T) <= 16 && std::is_trivially_copyable<T>::value, "an operand of asm is a number or a pointer");
  PtxValue operand;
  operand.size = sizeof(T) < 4 && std::is_integral<T>::value ? 4 : sizeof(T);
  if constexpr (std::is_integral<T>::value && sizeof(T) < 8) {
    operand.set(static_cast<int64_t>(value));
  } else {
    operand.set(value);
  }
  return operand;
}

// "=r": written only.
template <typename T>
PtxValue ptx_out(const char*, T& variable) {
  static_assert(sizeof(T) <= 16, "an operand of asm is a number or a pointer");
  PtxValue operand;
  operand.size = sizeof(T);
  operand.place = const_cast<std::remove_cv_t<T>*>(&variable);
  return operand;
}

// "+r": read first.
template <typename T>
PtxValue ptx_inout(const char* constraint, T& variable) {
  PtxValue operand = ptx_out(constraint, variable);
  std::memcpy(operand.bytes, operand.place, sizeof(T));
  return operand;
}

struct PtxProgram;  // ptx_decode.h

extern "C" {
// Decodes once; lives for ever. Text that cannot be decoded ends the grid when it is run.
const PtxProgram* anygin_ptx_program(const char* text);
// Runs it on `values`: the outputs, then the inputs.
void anygin_ptx_run(const PtxProgram* program, PtxValue* values, size_t count);
}

template <size_t kOutputs, size_t kInputs>
void ptx(const PtxProgram* program, PtxOperands<kOutputs> outputs, const PtxOperands<kInputs>& inputs) {
  PtxValue values[kOutputs + kInputs + 1];
  for (size_t i = 0; i < kOutputs; ++i) values[i] = outputs.values[i];
  for (size_t i = 0; i < kInputs; ++i) values[kOutputs + i] = inputs.values[i];
  anygin_ptx_run(program, values, kOutputs + kInputs);
  for (size_t i = 0; i < kOutputs; ++i) std::memcpy(values[i].place, values[i].bytes, values[i].size);
}

}  // namespace anygin::simt
