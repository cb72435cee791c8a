// SPDX-License-Identifier: Apache-2.0
#include "anygin/simt/ptx_operands.h"

#include <algorithm>

namespace anygin::simt {
namespace {

size_t math_operands(PtxMath math) {
  switch (math) {
    case PtxMath::kFusedMultiplyAdd:
    case PtxMath::kMultiplyAddLow:
    case PtxMath::kMultiplyAddWide:
      return 4;
    case PtxMath::kAdd:
    case PtxMath::kSubtract:
    case PtxMath::kMultiplyLow:
    case PtxMath::kMultiplyHigh:
    case PtxMath::kMultiplyWide:
    case PtxMath::kDivide:
    case PtxMath::kRemainder:
    case PtxMath::kMin:
    case PtxMath::kMax:
    case PtxMath::kAnd:
    case PtxMath::kOr:
    case PtxMath::kXor:
    case PtxMath::kShiftLeft:
    case PtxMath::kShiftRight:
      return 3;
    default:
      return 2;
  }
}

// Of shfl and match without a second result.
size_t least_of_warp(PtxOp op) {
  return op == PtxOp::kShuffle ? 5 : 3;
}

// The first operands, which are written.
size_t results(const PtxInstruction& of) {
  switch (of.op) {
    case PtxOp::kLoad:
    case PtxOp::kMultimemLoad:
      return of.vector;
    case PtxOp::kAtomic:
      return of.has_result ? 1 : 0;
    case PtxOp::kElect:
      return 2;
    case PtxOp::kShuffle:
    case PtxOp::kMatch:
      return of.operands.size() == least_of_warp(of.op) ? 1 : 2;
    case PtxOp::kPack:
      return of.unpacks ? std::max<size_t>(of.operands.size(), 1) - 1 : 1;
    case PtxOp::kMove:
    case PtxOp::kActiveMask:
    case PtxOp::kMath:
    case PtxOp::kConvert:
    case PtxOp::kCompare:
    case PtxOp::kSelect:
    case PtxOp::kConstant:
    case PtxOp::kVote:
    case PtxOp::kReduceLanes:
    case PtxOp::kBarrierTest:
      return 1;
    case PtxOp::kBarrierArrive:
      return of.operands.empty() || of.operands[0].address ? 0 : 1;
    default:
      return 0;
  }
}

// How many operands, and which of them is the address.
struct Operands {
  size_t least = 0, most = 0;
  size_t address = SIZE_MAX;
};

Operands operands_of(const PtxInstruction& of) {
  const size_t elements = of.vector;
  switch (of.op) {
    case PtxOp::kNanosleep:
    case PtxOp::kWarpBarrier:
    case PtxOp::kActiveMask:
      return {1, 1};
    case PtxOp::kBarrier:
      return {1, 2};
    case PtxOp::kConstant:
      return {1, 4};
    case PtxOp::kMove:
    case PtxOp::kConvert:
    case PtxOp::kNamedArrive:
      return {2, 2};
    case PtxOp::kElect:
    case PtxOp::kVote:
    case PtxOp::kReduceLanes:
      return {3, 3};
    case PtxOp::kCompare:
      return {3, 4};
    case PtxOp::kPack:
      return {3, 5};
    case PtxOp::kSelect:
      return {4, 4};
    case PtxOp::kMath:
      return {math_operands(of.math), math_operands(of.math)};
    case PtxOp::kShuffle:
    case PtxOp::kMatch:
      return {least_of_warp(of.op), least_of_warp(of.op) + 1};
    case PtxOp::kLoad:
    case PtxOp::kMultimemLoad:
      return {elements + 1, elements + 1, elements};
    case PtxOp::kStore:
    case PtxOp::kMultimemStore:
    case PtxOp::kMultimemReduce:
      return {elements + 1, elements + 1, 0};
    case PtxOp::kAtomic: {
      const size_t count = results(of) + (of.atomic == PtxAtomic::kCompareAndSwap ? 3 : 2);
      return {count, count, results(of)};
    }
    case PtxOp::kBarrierInit:
    case PtxOp::kBarrierExpect:
    case PtxOp::kBarrierComplete:
      return {2, 2, 0};
    case PtxOp::kBarrierArrive:
      return {results(of) + 1, results(of) + 2, results(of)};
    case PtxOp::kBarrierTest:
      return {3, 4, 1};
    default:
      return {};
  }
}

// [to], [from], bytes, then [barrier] or the bytes that are read, then perhaps a cache policy.
bool copy_fits(const PtxInstruction& copy) {
  const std::vector<PtxOperand>& given = copy.operands;
  const size_t least = copy.has_result ? 4 : 3;
  bool right = given.size() >= least && given.size() <= 5 && given[0].address && given[1].address && !given[2].address;
  for (size_t i = 3; right && i < given.size(); ++i) right = given[i].address == (i == 3 && copy.has_result);
  return right;
}

}  // namespace

bool ptx_operands_fit(const PtxInstruction& instruction) {
  if (instruction.op == PtxOp::kCopy) return copy_fits(instruction);
  const std::vector<PtxOperand>& given = instruction.operands;
  const Operands takes = operands_of(instruction);
  bool right = given.size() >= takes.least && given.size() <= takes.most;
  for (size_t i = 0; right && i < given.size(); ++i) right = given[i].address == (i == takes.address);
  for (size_t i = 0; right && i < results(instruction); ++i) {
    right = given[i].kind == PtxOperand::Kind::kNumbered || given[i].kind == PtxOperand::Kind::kRegister;
  }
  return right;
}

}  // namespace anygin::simt
