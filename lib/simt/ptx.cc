// SPDX-License-Identifier: Apache-2.0
// Programs decoded once, and what they do instruction by instruction.
#include "anygin/simt/ptx.h"

#include <map>
#include <mutex>
#include <string>

#include "anygin/simt/named_barrier.h"
#include "anygin/simt/ptx_math.h"
#include "anygin/simt/ptx_run.h"

namespace anygin::simt {

void PtxRun::all(const PtxProgram& program) {
  std::memset(registers_, 0, sizeof(uint64_t) * static_cast<size_t>(program.register_count));
  for (size_t at = 0; at < program.instructions.size(); ++at) {
    const PtxInstruction& now = program.instructions[at];
    if (now.guard >= 0 && (registers_[now.guard] != 0) == now.guard_not) continue;
    if (now.op != PtxOp::kBranch) {
      one(now);
      continue;
    }
    if (now.target <= static_cast<int>(at) && anygin_lane_active()) tick();
    at = static_cast<size_t>(now.target) - 1;
  }
}

void PtxRun::one(const PtxInstruction& instruction) {
  switch (instruction.op) {
    case PtxOp::kMove:
      return result(instruction, 0, input(instruction.operands[1]));
    case PtxOp::kLoad:
      return load(instruction);
    case PtxOp::kStore:
      return store(instruction);
    case PtxOp::kAtomic:
      return atomic(instruction);
    case PtxOp::kFence:
      return __atomic_thread_fence(__ATOMIC_SEQ_CST);
    case PtxOp::kNanosleep:
      return anygin_nanosleep(static_cast<unsigned>(input(instruction.operands[0])));
    case PtxOp::kBarrier:
      return barrier(instruction);
    case PtxOp::kWarpBarrier:
      return warp_barrier(static_cast<uint32_t>(input(instruction.operands[0])));
    case PtxOp::kActiveMask:
      return result(instruction, 0, anygin_activemask());
    case PtxOp::kMath:
      return math(instruction);
    case PtxOp::kConvert:
      return result(instruction, 0, convert(instruction, input(instruction.operands[1])));
    case PtxOp::kCompare:
      return set_predicate(instruction);
    case PtxOp::kSelect:
      return result(instruction, 0, input(instruction.operands[input(instruction.operands[3]) != 0 ? 1 : 2]));
    case PtxOp::kPack:
      return pack(instruction);
    case PtxOp::kElect:
      return elect(instruction);
    case PtxOp::kConstant:
      return result(instruction, 0, 0);
    case PtxOp::kNamedArrive:
      return arrive_at_named_barrier(static_cast<int>(input(instruction.operands[0])),
                                     static_cast<int>(input(instruction.operands[1])));
    case PtxOp::kShuffle:
      return shuffle(instruction);
    case PtxOp::kVote:
      return vote(instruction);
    case PtxOp::kMatch:
      return match(instruction);
    case PtxOp::kReduceLanes:
      return reduce_lanes(instruction);
    case PtxOp::kBarrierInit:
    case PtxOp::kBarrierExpect:
    case PtxOp::kBarrierComplete:
    case PtxOp::kBarrierArrive:
    case PtxOp::kBarrierTest:
      return memory_barrier(instruction);
    case PtxOp::kCopy:
      return copy(instruction);
    case PtxOp::kMultimemLoad:
    case PtxOp::kMultimemStore:
    case PtxOp::kMultimemReduce:
      return multimem(instruction);
    case PtxOp::kExit:
      anygin_lane_exit();
    case PtxOp::kTrap:
      anygin_trap("trap instruction");
    case PtxOp::kBranch:
    case PtxOp::kNothing:
      return;
  }
}

uint64_t PtxRun::input(const PtxOperand& operand) const {
  switch (operand.kind) {
    case PtxOperand::Kind::kSpecial:
      return special_register(operand);
    case PtxOperand::Kind::kImmediate:
      return static_cast<uint64_t>(operand.value);
    case PtxOperand::Kind::kRegister:
      return operand.number < 0 ? 0 : registers_[operand.number];
    default:
      return values_[operand.number].as<uint64_t>();
  }
}

void PtxRun::result(const PtxInstruction& instruction, size_t at, uint64_t value) {
  const PtxOperand& operand = instruction.operands[at];
  if (operand.kind == PtxOperand::Kind::kNumbered) {
    values_[operand.number].set(value);
  } else if (operand.number >= 0) {
    registers_[operand.number] = value;
  }
}

void PtxRun::math(const PtxInstruction& instruction) {
  const size_t count = instruction.operands.size();
  const uint64_t a = input(instruction.operands[1]);
  const uint64_t b = count > 2 ? input(instruction.operands[2]) : 0, c = count > 3 ? input(instruction.operands[3]) : 0;
  result(instruction, 0, compute(instruction, a, b, c));
}

// `setp p|q, a, b`: q is the opposite.
void PtxRun::set_predicate(const PtxInstruction& instruction) {
  const size_t results = instruction.operands.size() - 2;
  const bool holds =
      compare(instruction, input(instruction.operands[results]), input(instruction.operands[results + 1]));
  result(instruction, 0, holds);
  if (results == 2) result(instruction, 1, !holds);
}

// `mov.b64 %0, {a, b}` and `mov.b64 {a, b}, %0`: the first part is the lowest. The side that is read comes last, so
// three operands are two parts whose side only their registers tell.
void PtxRun::pack(const PtxInstruction& instruction) {
  const size_t parts = instruction.operands.size() - 1;
  const unsigned bits = 8u * instruction.bytes / static_cast<unsigned>(parts);
  const uint64_t mask = (uint64_t{1} << bits) - 1;
  if (instruction.unpacks) {
    const uint64_t whole = input(instruction.operands[parts]);
    for (size_t i = 0; i < parts; ++i) result(instruction, i, whole >> (bits * i) & mask);
    return;
  }
  uint64_t whole = 0;
  for (size_t i = 0; i < parts; ++i) whole |= (input(instruction.operands[i + 1]) & mask) << (bits * i);
  result(instruction, 0, whole);
}

const PtxProgram* anygin_ptx_program(const char* text) {
  // Never destroyed: lanes may still run while the process exits.
  static std::mutex& mutex = *new std::mutex;
  static std::map<std::string, PtxProgram>& programs = *new std::map<std::string, PtxProgram>;
  const std::lock_guard<std::mutex> guard(mutex);
  const auto [place, fresh] = programs.try_emplace(text);
  if (fresh) place->second = decode_ptx(text);
  return &place->second;
}

void anygin_ptx_run(const PtxProgram* program, PtxValue* values, size_t count) {
  if (!program->error.empty()) anygin_trap(program->error.c_str());
  if (program->operand_count > static_cast<int>(count)) anygin_trap("assembly names an operand that it was not given");
  PtxRun(values, __builtin_return_address(0)).all(*program);
}

}  // namespace anygin::simt
