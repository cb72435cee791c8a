// SPDX-License-Identifier: Apache-2.0
// PTX by which lanes meet: votes, shuffles, barriers of warps and blocks, barriers in memory.
#include "anygin/simt/named_barrier.h"
#include "anygin/simt/ptx_barrier.h"
#include "anygin/simt/ptx_run.h"

namespace anygin::simt {

uint32_t PtxRun::warp_word(WarpOpKind kind, const PtxOperand& mask, uint64_t operand, bool is_signed) const {
  uint32_t word = 0;
  WarpOp op;
  op.kind = kind;
  op.mask = static_cast<uint32_t>(input(mask));
  op.bytes = sizeof word;
  op.result = &word;
  op.predicate = operand;
  op.is_signed = is_signed;
  op.call_site = call_site_;
  anygin_warp_op(&op);
  return word;
}

// elect.sync d|p, mask: the lowest lane of the mask that is there.
void PtxRun::elect(const PtxInstruction& instruction) {
  const uint32_t there = warp_word(WarpOpKind::kBallot, instruction.operands[2], 1);
  const auto leader = static_cast<unsigned>(__builtin_ctz(there));
  result(instruction, 0, leader);
  result(instruction, 1, anygin_linear_thread % 32 == leader);
}

// shfl.sync d|p, a, b, c, mask. c: the last lane of a group (bits 0..4) and which bits of a lane name the group
// (8..12).
void PtxRun::shuffle(const PtxInstruction& instruction) {
  const size_t at = instruction.operands.size() - 4;
  const auto operand = [&](size_t i) { return static_cast<uint32_t>(input(instruction.operands[at + i])); };
  const uint32_t lane = anygin_linear_thread % 32, value = operand(0), by = operand(1) & 31, bounds = operand(2);
  const uint32_t group = bounds >> 8 & 31, first = lane & group, last = first | (bounds & 31 & ~group);
  uint32_t source = first | (by & ~group);
  if (instruction.form == PtxForm::kUp) source = lane - by;
  if (instruction.form == PtxForm::kDown) source = lane + by;
  if (instruction.form == PtxForm::kButterfly) source = lane ^ by;
  const bool up = instruction.form == PtxForm::kUp;
  const bool inside = up ? static_cast<int>(source) >= static_cast<int>(last) : source <= last;
  uint32_t got = value;
  WarpOp op;
  op.kind = WarpOpKind::kShuffle;
  op.mask = operand(3);
  op.source_lane = static_cast<int>(inside ? source : lane);
  op.bytes = sizeof got;
  op.value = &value;
  op.result = &got;
  op.call_site = call_site_;
  anygin_warp_op(&op);
  result(instruction, 0, got);
  if (at == 2) result(instruction, 1, inside);
}

void PtxRun::vote(const PtxInstruction& instruction) {
  const PtxOperand& mask = instruction.operands[2];
  const bool mine = input(instruction.operands[1]) != 0;
  const uint32_t yes = warp_word(WarpOpKind::kBallot, mask, mine);
  if (instruction.form == PtxForm::kBallot) return result(instruction, 0, yes);
  if (instruction.form == PtxForm::kAny) return result(instruction, 0, yes != 0);
  const bool all = warp_word(WarpOpKind::kBallot, mask, !mine) == 0;
  result(instruction, 0, all || (instruction.form == PtxForm::kUniform && yes == 0));
}

void PtxRun::match(const PtxInstruction& instruction) {
  const size_t at = instruction.operands.size() - 2;
  const uint64_t value = input(instruction.operands[at]);
  const bool all = instruction.form == PtxForm::kAll;
  const uint32_t lanes = warp_word(all ? WarpOpKind::kMatchAll : WarpOpKind::kMatchAny, instruction.operands[at + 1],
                                   instruction.bytes == 4 ? static_cast<uint32_t>(value) : value);
  result(instruction, 0, lanes);
  if (at == 2) result(instruction, 1, lanes != 0);
}

void PtxRun::reduce_lanes(const PtxInstruction& instruction) {
  static constexpr WarpOpKind kKinds[] = {WarpOpKind::kSync,      WarpOpKind::kReduceAdd, WarpOpKind::kReduceMin,
                                          WarpOpKind::kReduceMax, WarpOpKind::kReduceAnd, WarpOpKind::kReduceOr,
                                          WarpOpKind::kReduceXor};
  const bool is_signed = instruction.type == PtxType::kSigned;
  const auto value = static_cast<uint32_t>(input(instruction.operands[1]));
  const uint64_t operand = is_signed ? static_cast<uint64_t>(static_cast<int32_t>(value)) : value;
  result(instruction, 0,
         warp_word(kKinds[static_cast<size_t>(instruction.atomic)], instruction.operands[2], operand, is_signed));
}

void PtxRun::barrier(const PtxInstruction& instruction) const {
  const int id = static_cast<int>(input(instruction.operands[0]));
  if (instruction.operands.size() == 1 && id == 0) return anygin_syncthreads();
  const Index3& block = anygin_block_dim;
  const int all = static_cast<int>((block.x * block.y * block.z + 31) / 32 * 32);
  anygin_named_barrier(id, instruction.operands.size() == 1 ? all : static_cast<int>(input(instruction.operands[1])));
}

void PtxRun::warp_barrier(uint32_t mask) const {
  WarpOp op;
  op.mask = mask;
  op.call_site = call_site_;
  anygin_warp_op(&op);
}

void PtxRun::memory_barrier(const PtxInstruction& instruction) {
  const std::vector<PtxOperand>& operands = instruction.operands;
  const size_t at = operands[0].address ? 0 : 1;
  auto& barrier = *reinterpret_cast<BarrierWord*>(address(instruction, at));
  const auto count = [&](size_t i) { return i < operands.size() ? static_cast<uint32_t>(input(operands[i])) : 1; };
  switch (instruction.op) {
    case PtxOp::kBarrierInit:
      if (count(1) == 0 || count(1) > BarrierWord::kCountMost) anygin_trap("mbarrier.init: the count is 1 to 1048575");
      return barrier.init(count(1));
    case PtxOp::kBarrierExpect:
      return barrier.expect(count(1));
    case PtxOp::kBarrierComplete:
      return barrier.complete(count(1));
    case PtxOp::kBarrierTest: {
      const uint64_t parity = instruction.form == PtxForm::kParity ? input(operands[2]) : input(operands[2]) >> 63;
      const bool passed = barrier.passed(parity);
      if (!passed) tick();
      return result(instruction, 0, passed);
    }
    default: {
      uint64_t before;
      std::memcpy(&before, &barrier, sizeof before);
      const bool expects = instruction.form == PtxForm::kExpect;
      if (expects) barrier.expect(count(at + 1));
      if (!barrier.arrive(expects ? 1 : count(at + 1)))
        anygin_trap("mbarrier.arrive: more arrivals than mbarrier.init named");
      if (at == 1) result(instruction, 0, before);
    }
  }
}

}  // namespace anygin::simt
