// SPDX-License-Identifier: Apache-2.0
// PTX text to instructions. Used when programs run, and by the rewriter to refuse what is not known. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace anygin::simt {

enum class PtxOp : uint8_t {
  kMove,
  kLoad,
  kStore,
  kAtomic,  // atom and red
  kFence,
  kNanosleep,
  kBarrier,
  kWarpBarrier,
  kActiveMask,
  kExit,
  kTrap,
  kNothing,  // hints: prefetch, griddepcontrol
};

enum class PtxOrder : uint8_t { kWeak, kRelaxed, kAcquire, kRelease, kAcquireRelease };

enum class PtxAtomic : uint8_t { kNone, kAdd, kMin, kMax, kAnd, kOr, kXor, kExchange, kCompareAndSwap };

enum class PtxType : uint8_t { kUnsigned, kSigned, kBits, kFloat };

enum class PtxRegister : uint8_t {
  kNone,
  kThread,  // component 0, 1, 2 = x, y, z
  kBlockSize,
  kBlock,
  kGridSize,
  kLane,
  kWarp,
  kWarpCount,
  kMultiprocessor,
  kMultiprocessorCount,
  kNanoseconds,
  kNanosecondsHigh,
  kLaneMaskEqual,
  kLaneMaskLess,
  kLaneMaskLessEqual,
  kLaneMaskGreater,
  kLaneMaskGreaterEqual,
  kDynamicSharedBytes,
};

struct PtxOperand {
  enum class Kind : uint8_t { kNumbered, kImmediate, kSpecial };
  Kind kind = Kind::kImmediate;
  bool address = false;   // in brackets
  uint8_t component = 0;  // of kSpecial
  PtxRegister special = PtxRegister::kNone;
  int number = 0;     // of kNumbered: %0, %1 ...
  int64_t value = 0;  // of kImmediate; of an address: the offset
};

struct PtxInstruction {
  PtxOp op = PtxOp::kNothing;
  PtxOrder order = PtxOrder::kWeak;
  PtxAtomic atomic = PtxAtomic::kNone;
  PtxType type = PtxType::kBits;
  uint8_t bytes = 4;                 // of one element
  uint8_t vector = 1;                // elements: v2, v4
  bool has_result = false;           // atom, not red
  std::vector<PtxOperand> operands;  // in the order written, braces flattened
};

struct PtxProgram {
  std::string text;
  std::string error;  // empty if it was decoded
  std::vector<PtxInstruction> instructions;
  int operand_count = 0;  // the highest number used, plus one
};

PtxProgram decode_ptx(std::string_view text);

}  // namespace anygin::simt
