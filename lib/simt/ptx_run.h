// SPDX-License-Identifier: Apache-2.0
// One execution of a decoded assembly statement on a lane: registers, operands and what each instruction does. Orders
// map to the CPU's: every scope is the whole system. Loads that may be part of a spin count as ticks, so a lane that
// waits in assembly lets others run. Private to ptx*.cc.
#pragma once

#include <vector>

#include "anygin/simt/device_runtime.h"
#include "anygin/simt/ptx.h"
#include "anygin/simt/ptx_decode.h"

namespace anygin::simt {

// What a special register holds for the calling lane.
uint64_t special_register(const PtxOperand& operand);

class PtxRun {
 public:
  // `values`: the statement's operands, as many as the program names; read and written in place. `call_site`: where the
  // program has the statement, for reports.
  PtxRun(PtxValue* values, const void* call_site) : values_(values), call_site_(call_site) {}
  void all(const PtxProgram& program);

 private:
  static constexpr size_t kRegistersMax = 64;

  void one(const PtxInstruction& instruction);
  uint64_t input(const PtxOperand& operand) const;
  void result(const PtxInstruction& instruction, size_t at, uint64_t value);
  // Where an operand in brackets points.
  unsigned char* address(const PtxInstruction& instruction, size_t at) const;

  // Registers: ptx.cc.
  void math(const PtxInstruction& instruction);
  void set_predicate(const PtxInstruction& instruction);
  void pack(const PtxInstruction& instruction);

  // Warps and barriers: ptx_lanes.cc.
  uint32_t warp_word(WarpOpKind kind, const PtxOperand& mask, uint64_t operand, bool is_signed = false) const;
  void elect(const PtxInstruction& instruction);
  void shuffle(const PtxInstruction& instruction);
  void vote(const PtxInstruction& instruction);
  void match(const PtxInstruction& instruction);
  void reduce_lanes(const PtxInstruction& instruction);
  void barrier(const PtxInstruction& instruction) const;
  void warp_barrier(uint32_t mask) const;
  void memory_barrier(const PtxInstruction& instruction);

  // Memory: ptx_memory.cc.
  void load(const PtxInstruction& instruction);
  void store(const PtxInstruction& instruction);
  void copy(const PtxInstruction& instruction);
  void multimem(const PtxInstruction& instruction);
  void atomic(const PtxInstruction& instruction);
  template <typename Word>
  void atomic_word(const PtxInstruction& instruction);

  PtxValue* const values_;
  const void* const call_site_;
  uint64_t registers_[kRegistersMax];
};

}  // namespace anygin::simt
