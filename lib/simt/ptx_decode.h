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
  kMath,
  kConvert,
  kCompare,  // setp
  kSelect,   // selp
  kPack,     // mov.b64 {a, b}, c and c, {a, b}
  kElect,
  kBranch,
  kConstant,  // a register that the cpu target has no use for: createpolicy
  kMultimemLoad,
  kMultimemStore,
  kMultimemReduce,
  kNamedArrive,
  kShuffle,
  kVote,
  kMatch,
  kReduceLanes,  // redux.sync
  kBarrierInit,  // mbarrier.init; the others of its kind follow
  kBarrierExpect,
  kBarrierComplete,
  kBarrierArrive,
  kBarrierTest,  // test_wait, try_wait
  kCopy,         // cp.async: done at once
  kNothing,      // hints: prefetch, griddepcontrol; groups of copies that are done
};

// Which of an instruction's forms.
enum class PtxForm : uint8_t {
  kPlain,
  kUp,
  kDown,
  kButterfly,
  kIndex,
  kAll,
  kAny,
  kUniform,
  kBallot,
  kParity,
  kExpect,
  kBulk
};

enum class PtxMath : uint8_t {
  kAdd,
  kSubtract,
  kMultiplyLow,
  kMultiplyHigh,
  kMultiplyWide,
  kMultiplyAddLow,
  kMultiplyAddWide,
  kFusedMultiplyAdd,
  kDivide,
  kRemainder,
  kMin,
  kMax,
  kAnd,
  kOr,
  kXor,
  kNot,
  kShiftLeft,
  kShiftRight,
  kNegate,
  kAbsolute,
  kReciprocal,
  kSquareRoot,
  kReciprocalRoot,
  kExponential,  // base 2
  kLogarithm,    // base 2
  kSine,
  kCosine,
  kTanh,
  kPopulation,
  kLeadingZeros,
  kReverse,
};

enum class PtxCompare : uint8_t { kEqual, kNotEqual, kLess, kLessEqual, kGreater, kGreaterEqual };

enum class PtxOrder : uint8_t { kWeak, kRelaxed, kAcquire, kRelease, kAcquireRelease };

enum class PtxAtomic : uint8_t { kNone, kAdd, kMin, kMax, kAnd, kOr, kXor, kExchange, kCompareAndSwap };

enum class PtxType : uint8_t { kUnsigned, kSigned, kBits, kFloat, kBrain, kPredicate };  // kBrain: bf16

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
  kZero,  // a cluster is one block
  kOne,
};

struct PtxOperand {
  // kRegister: declared by .reg; number -1 is `_`, which takes what nobody wants.
  enum class Kind : uint8_t { kNumbered, kImmediate, kSpecial, kRegister };
  Kind kind = Kind::kImmediate;
  bool address = false;   // in brackets
  uint8_t component = 0;  // of kSpecial
  PtxRegister special = PtxRegister::kNone;
  int number = 0;     // of kNumbered: %0, %1 ...; of kRegister
  int64_t value = 0;  // of kImmediate; of an address: the offset
};

struct PtxInstruction {
  PtxOp op = PtxOp::kNothing;
  PtxOrder order = PtxOrder::kWeak;
  PtxAtomic atomic = PtxAtomic::kNone;
  PtxType type = PtxType::kBits;
  uint8_t bytes = 4;        // of one element
  uint8_t vector = 1;       // elements: v2, v4, v8
  uint8_t packed = 1;       // numbers in an element: 2 of f16x2
  bool has_result = false;  // atom, not red
  PtxForm form = PtxForm::kPlain;
  PtxMath math = PtxMath::kAdd;
  PtxCompare compare = PtxCompare::kEqual;
  PtxType from_type = PtxType::kBits;  // of kConvert
  uint8_t from_bytes = 4;
  bool toward_zero = false;  // of kConvert from a float to an integer: .rzi; else nearest even
  bool saturate = false;
  bool unpacks = false;  // of kPack: the braces are what is written
  int guard = -1;        // the predicate register that says whether it runs; -1 none
  bool guard_not = false;
  int target = -1;                   // of kBranch: an index into the program's instructions
  std::vector<PtxOperand> operands;  // in the order written, braces flattened
};

struct PtxProgram {
  std::string text;
  std::string error;  // empty if it was decoded
  std::vector<PtxInstruction> instructions;
  int operand_count = 0;  // the highest number used, plus one
  int register_count = 0;
};

PtxProgram decode_ptx(std::string_view text);

}  // namespace anygin::simt
