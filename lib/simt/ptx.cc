// SPDX-License-Identifier: Apache-2.0
// Runs decoded PTX. Orders map to the CPU's: every scope is the whole system. Loads that may be part of a spin count as
// ticks, so a lane that waits in assembly lets others run.
#include "anygin/simt/ptx.h"

#include <map>
#include <mutex>
#include <string>

#include "anygin/simt/device_runtime.h"
#include "anygin/simt/ptx_decode.h"

namespace anygin::simt {
namespace {

constexpr unsigned kMultiprocessors = 16;

uint64_t lane_mask(PtxRegister which) {
  const unsigned lane = anygin_linear_thread % 32;
  const uint32_t equal = 1u << lane;
  switch (which) {
    case PtxRegister::kLaneMaskEqual:
      return equal;
    case PtxRegister::kLaneMaskLess:
      return equal - 1;
    case PtxRegister::kLaneMaskLessEqual:
      return equal | (equal - 1);
    case PtxRegister::kLaneMaskGreater:
      return ~(equal | (equal - 1));
    default:
      return ~(equal - 1);
  }
}

unsigned component(const Index3& index, unsigned which) {
  return which == 0 ? index.x : which == 1 ? index.y : index.z;
}

uint64_t special(const PtxOperand& operand) {
  const Index3& block = anygin_block_dim;
  switch (operand.special) {
    case PtxRegister::kThread:
      return component(anygin_thread_idx, operand.component);
    case PtxRegister::kBlockSize:
      return component(anygin_block_dim, operand.component);
    case PtxRegister::kBlock:
      return component(anygin_block_idx, operand.component);
    case PtxRegister::kGridSize:
      return component(anygin_grid_dim, operand.component);
    case PtxRegister::kLane:
      return anygin_linear_thread % 32;
    case PtxRegister::kWarp:
      return anygin_linear_thread / 32;
    case PtxRegister::kWarpCount:
      return (block.x * block.y * block.z + 31) / 32;
    case PtxRegister::kMultiprocessor:
      return (anygin_block_idx.x + anygin_grid_dim.x * (anygin_block_idx.y + anygin_grid_dim.y * anygin_block_idx.z)) %
             kMultiprocessors;
    case PtxRegister::kMultiprocessorCount:
      return kMultiprocessors;
    case PtxRegister::kNanoseconds:
      return anygin_clock_ns();
    case PtxRegister::kNanosecondsHigh:
      return anygin_clock_ns() >> 32;
    case PtxRegister::kDynamicSharedBytes:
      return anygin_shared_dynamic_bytes();
    default:
      return lane_mask(operand.special);
  }
}

int builtin_order(PtxOrder order) {
  switch (order) {
    case PtxOrder::kAcquire:
      return __ATOMIC_ACQUIRE;
    case PtxOrder::kRelease:
      return __ATOMIC_RELEASE;
    case PtxOrder::kAcquireRelease:
      return __ATOMIC_ACQ_REL;
    default:
      return __ATOMIC_RELAXED;
  }
}

class Run {
 public:
  explicit Run(PtxValue* values) : values_(values) {}

  void one(const PtxInstruction& instruction) {
    switch (instruction.op) {
      case PtxOp::kMove:
        return result(instruction, 0, input(instruction.operands[1]));
      case PtxOp::kLoad:
        return load(instruction);
      case PtxOp::kStore:
        return store(instruction);
      case PtxOp::kAtomic:
        return instruction.bytes == 4 ? atomic<uint32_t>(instruction) : atomic<uint64_t>(instruction);
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
      case PtxOp::kExit:
        anygin_lane_exit();
      case PtxOp::kTrap:
        anygin_trap("trap instruction");
      case PtxOp::kNothing:
        return;
    }
  }

 private:
  uint64_t input(const PtxOperand& operand) const {
    if (operand.kind == PtxOperand::Kind::kSpecial) return special(operand);
    if (operand.kind == PtxOperand::Kind::kImmediate) return static_cast<uint64_t>(operand.value);
    return values_[operand.number].as<uint64_t>();
  }

  void result(const PtxInstruction& instruction, size_t at, uint64_t value) {
    values_[instruction.operands[at].number].set(value);
  }

  // Shared memory has ordinary addresses here: one that is 32 bits wide was cut.
  unsigned char* address(const PtxInstruction& instruction, size_t at) const {
    const PtxOperand& operand = instruction.operands[at];
    if (values_[operand.number].size < 8) {
      anygin_trap("assembly reads or writes through a 32-bit address; pass the pointer itself, as an \"l\" operand");
    }
    return reinterpret_cast<unsigned char*>(values_[operand.number].as<uint64_t>() +
                                            static_cast<uint64_t>(operand.value));
  }

  void load(const PtxInstruction& instruction) {
    const unsigned char* from = address(instruction, instruction.vector);
    if (instruction.order != PtxOrder::kWeak && anygin_lane_active()) tick();
    for (unsigned i = 0; i < instruction.vector; ++i, from += instruction.bytes) {
      PtxValue& value = values_[instruction.operands[i].number];
      if (instruction.bytes == 16) {
        std::memcpy(value.bytes, from, 16);
      } else {
        value.set(load_word(from, instruction));
      }
    }
  }

  static uint64_t load_word(const unsigned char* from, const PtxInstruction& instruction) {
    const int order = instruction.order == PtxOrder::kAcquire ? __ATOMIC_ACQUIRE : __ATOMIC_RELAXED;
    const bool is_signed = instruction.type == PtxType::kSigned;
    const auto read = [&](auto word) -> uint64_t {
      using Word = decltype(word);
      const Word value = order == __ATOMIC_ACQUIRE
                             ? __atomic_load_n(reinterpret_cast<const Word*>(from), __ATOMIC_ACQUIRE)
                             : __atomic_load_n(reinterpret_cast<const Word*>(from), __ATOMIC_RELAXED);
      return is_signed ? static_cast<uint64_t>(static_cast<std::make_signed_t<Word>>(value)) : value;
    };
    switch (instruction.bytes) {
      case 1:
        return read(uint8_t{});
      case 2:
        return read(uint16_t{});
      case 4:
        return read(uint32_t{});
      default:
        return read(uint64_t{});
    }
  }

  void store(const PtxInstruction& instruction) {
    unsigned char* to = address(instruction, 0);
    for (unsigned i = 0; i < instruction.vector; ++i, to += instruction.bytes) {
      const PtxOperand& operand = instruction.operands[i + 1];
      if (instruction.bytes == 16) {
        std::memcpy(to, values_[operand.number].bytes, 16);
      } else {
        store_word(to, input(operand), instruction);
      }
    }
  }

  static void store_word(unsigned char* to, uint64_t value, const PtxInstruction& instruction) {
    const bool release = instruction.order == PtxOrder::kRelease;
    const auto write = [&](auto word) {
      using Word = decltype(word);
      if (release) {
        __atomic_store_n(reinterpret_cast<Word*>(to), static_cast<Word>(value), __ATOMIC_RELEASE);
      } else {
        __atomic_store_n(reinterpret_cast<Word*>(to), static_cast<Word>(value), __ATOMIC_RELAXED);
      }
    };
    switch (instruction.bytes) {
      case 1:
        return write(uint8_t{});
      case 2:
        return write(uint16_t{});
      case 4:
        return write(uint32_t{});
      default:
        return write(uint64_t{});
    }
  }

  template <typename Word>
  static Word combined(const PtxInstruction& instruction, Word old, Word operand) {
    using Signed = std::make_signed_t<Word>;
    const bool is_signed = instruction.type == PtxType::kSigned;
    switch (instruction.atomic) {
      case PtxAtomic::kAdd:
        return instruction.type == PtxType::kFloat ? float_sum(old, operand) : old + operand;
      case PtxAtomic::kAnd:
        return old & operand;
      case PtxAtomic::kOr:
        return old | operand;
      case PtxAtomic::kXor:
        return old ^ operand;
      case PtxAtomic::kMin:
        if (is_signed) return static_cast<Signed>(old) < static_cast<Signed>(operand) ? old : operand;
        return old < operand ? old : operand;
      case PtxAtomic::kMax:
        if (is_signed) return static_cast<Signed>(old) > static_cast<Signed>(operand) ? old : operand;
        return old > operand ? old : operand;
      default:
        return operand;  // exchange
    }
  }

  template <typename Word>
  static Word float_sum(Word a, Word b) {
    using Float = std::conditional_t<sizeof(Word) == 4, float, double>;
    Float x, y;
    std::memcpy(&x, &a, sizeof x);
    std::memcpy(&y, &b, sizeof y);
    x += y;
    std::memcpy(&a, &x, sizeof x);
    return a;
  }

  template <typename Word>
  void atomic(const PtxInstruction& instruction) {
    const size_t at = instruction.has_result ? 1 : 0;
    Word* const word = reinterpret_cast<Word*>(address(instruction, at));
    if (anygin_lane_active()) tick();
    const Word operand = static_cast<Word>(input(instruction.operands[at + 1]));
    const bool swap = instruction.atomic == PtxAtomic::kCompareAndSwap;
    const Word replacement = swap ? static_cast<Word>(input(instruction.operands[at + 2])) : Word{0};
    Word old = __atomic_load_n(word, __ATOMIC_RELAXED);
    for (;;) {
      if (swap && old != operand) {
        if (instruction.order != PtxOrder::kRelaxed) __atomic_thread_fence(__ATOMIC_ACQUIRE);
        break;
      }
      const Word next = swap ? replacement : combined(instruction, old, operand);
      if (exchange_if(word, &old, next, builtin_order(instruction.order))) break;
    }
    if (instruction.has_result) result(instruction, 0, old);
  }

  template <typename Word>
  static bool exchange_if(Word* word, Word* old, Word next, int order) {
    if (order == __ATOMIC_RELAXED) {
      return __atomic_compare_exchange_n(word, old, next, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    }
    return __atomic_compare_exchange_n(word, old, next, true, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
  }

  void barrier(const PtxInstruction& instruction) const {
    const int id = static_cast<int>(input(instruction.operands[0]));
    if (instruction.operands.size() == 1 && id == 0) return anygin_syncthreads();
    const Index3& block = anygin_block_dim;
    const int all = static_cast<int>((block.x * block.y * block.z + 31) / 32 * 32);
    anygin_named_barrier(id, instruction.operands.size() == 1 ? all : static_cast<int>(input(instruction.operands[1])));
  }

  static void warp_barrier(uint32_t mask) {
    WarpOp op;
    op.mask = mask;
    op.call_site = __builtin_return_address(0);
    anygin_warp_op(&op);
  }

  PtxValue* const values_;
};

}  // namespace

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
  Run run(values);
  for (const PtxInstruction& instruction : program->instructions) run.one(instruction);
}

}  // namespace anygin::simt
