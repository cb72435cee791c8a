// SPDX-License-Identifier: Apache-2.0
// Runs decoded PTX. Orders map to the CPU's: every scope is the whole system. Loads that may be part of a spin count as
// ticks, so a lane that waits in assembly lets others run.
#include "anygin/simt/ptx.h"

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "anygin/simt/device_runtime.h"
#include "anygin/simt/multimem.h"
#include "anygin/simt/named_barrier.h"
#include "anygin/simt/ptx_barrier.h"
#include "anygin/simt/ptx_decode.h"
#include "anygin/simt/ptx_math.h"

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
    case PtxRegister::kZero:
      return 0;
    case PtxRegister::kOne:
      return 1;
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

constexpr size_t kRegistersMax = 64;
// A block's shared memory is one area of this size at most, which the dynamic bytes begin.
constexpr uint32_t kSharedArea = 288 * 1024;

class Run {
 public:
  explicit Run(PtxValue* values) : values_(values) {}

  void all(const PtxProgram& program) {
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

 private:
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

  uint64_t input(const PtxOperand& operand) const {
    switch (operand.kind) {
      case PtxOperand::Kind::kSpecial:
        return special(operand);
      case PtxOperand::Kind::kImmediate:
        return static_cast<uint64_t>(operand.value);
      case PtxOperand::Kind::kRegister:
        return operand.number < 0 ? 0 : registers_[operand.number];
      default:
        return values_[operand.number].as<uint64_t>();
    }
  }

  void result(const PtxInstruction& instruction, size_t at, uint64_t value) {
    const PtxOperand& operand = instruction.operands[at];
    if (operand.kind == PtxOperand::Kind::kNumbered) {
      values_[operand.number].set(value);
    } else if (operand.number >= 0) {
      registers_[operand.number] = value;
    }
  }

  // --- Registers ---

  void math(const PtxInstruction& instruction) {
    const size_t count = instruction.operands.size();
    const uint64_t a = input(instruction.operands[1]);
    const uint64_t b = count > 2 ? input(instruction.operands[2]) : 0,
                   c = count > 3 ? input(instruction.operands[3]) : 0;
    result(instruction, 0, compute(instruction, a, b, c));
  }

  // `setp p|q, a, b`: q is the opposite.
  void set_predicate(const PtxInstruction& instruction) {
    const size_t results = instruction.operands.size() - 2;
    const bool holds =
        compare(instruction, input(instruction.operands[results]), input(instruction.operands[results + 1]));
    result(instruction, 0, holds);
    if (results == 2) result(instruction, 1, !holds);
  }

  // `mov.b64 %0, {a, b}` and `mov.b64 {a, b}, %0`: the first part is the lowest. The side that is read comes last, so
  // three operands are two parts whose side only their registers tell.
  void pack(const PtxInstruction& instruction) {
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

  // elect.sync d|p, mask: the lowest lane of the mask that is there.
  void elect(const PtxInstruction& instruction) {
    const uint32_t there = warp_word(WarpOpKind::kBallot, instruction.operands[2], 1);
    const auto leader = static_cast<unsigned>(__builtin_ctz(there));
    result(instruction, 0, leader);
    result(instruction, 1, anygin_linear_thread % 32 == leader);
  }

  // --- Warps ---

  uint32_t warp_word(WarpOpKind kind, const PtxOperand& mask, uint64_t operand, bool is_signed = false) const {
    uint32_t word = 0;
    WarpOp op;
    op.kind = kind;
    op.mask = static_cast<uint32_t>(input(mask));
    op.bytes = sizeof word;
    op.result = &word;
    op.predicate = operand;
    op.is_signed = is_signed;
    op.call_site = __builtin_return_address(0);
    anygin_warp_op(&op);
    return word;
  }

  // shfl.sync d|p, a, b, c, mask. c: the last lane of a group (bits 0..4) and which bits of a lane name the group
  // (8..12).
  void shuffle(const PtxInstruction& instruction) {
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
    op.call_site = __builtin_return_address(0);
    anygin_warp_op(&op);
    result(instruction, 0, got);
    if (at == 2) result(instruction, 1, inside);
  }

  void vote(const PtxInstruction& instruction) {
    const PtxOperand& mask = instruction.operands[2];
    const bool mine = input(instruction.operands[1]) != 0;
    const uint32_t yes = warp_word(WarpOpKind::kBallot, mask, mine);
    if (instruction.form == PtxForm::kBallot) return result(instruction, 0, yes);
    if (instruction.form == PtxForm::kAny) return result(instruction, 0, yes != 0);
    const bool all = warp_word(WarpOpKind::kBallot, mask, !mine) == 0;
    result(instruction, 0, all || (instruction.form == PtxForm::kUniform && yes == 0));
  }

  void match(const PtxInstruction& instruction) {
    const size_t at = instruction.operands.size() - 2;
    const uint64_t value = input(instruction.operands[at]);
    const bool all = instruction.form == PtxForm::kAll;
    const uint32_t lanes = warp_word(all ? WarpOpKind::kMatchAll : WarpOpKind::kMatchAny, instruction.operands[at + 1],
                                     instruction.bytes == 4 ? static_cast<uint32_t>(value) : value);
    result(instruction, 0, lanes);
    if (at == 2) result(instruction, 1, lanes != 0);
  }

  void reduce_lanes(const PtxInstruction& instruction) {
    static constexpr WarpOpKind kKinds[] = {WarpOpKind::kSync,      WarpOpKind::kReduceAdd, WarpOpKind::kReduceMin,
                                            WarpOpKind::kReduceMax, WarpOpKind::kReduceAnd, WarpOpKind::kReduceOr,
                                            WarpOpKind::kReduceXor};
    const bool is_signed = instruction.type == PtxType::kSigned;
    const auto value = static_cast<uint32_t>(input(instruction.operands[1]));
    const uint64_t operand = is_signed ? static_cast<uint64_t>(static_cast<int32_t>(value)) : value;
    result(instruction, 0,
           warp_word(kKinds[static_cast<size_t>(instruction.atomic)], instruction.operands[2], operand, is_signed));
  }

  // --- Barriers in memory, copies ---

  void memory_barrier(const PtxInstruction& instruction) {
    const std::vector<PtxOperand>& operands = instruction.operands;
    const size_t at = operands[0].address ? 0 : 1;
    auto& barrier = *reinterpret_cast<BarrierWord*>(address(instruction, at));
    const auto count = [&](size_t i) { return i < operands.size() ? static_cast<uint32_t>(input(operands[i])) : 1; };
    switch (instruction.op) {
      case PtxOp::kBarrierInit:
        if (count(1) == 0 || count(1) > BarrierWord::kCountMost)
          anygin_trap("mbarrier.init: the count is 1 to 1048575");
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

  // cp.async [to], [from], bytes{, bytes read}; cp.async.bulk [to], [from], bytes{, [barrier]}.
  void copy(const PtxInstruction& instruction) {
    unsigned char* const to = address(instruction, 0);
    const unsigned char* const from = address(instruction, 1);
    const auto bytes = static_cast<uint32_t>(input(instruction.operands[2]));
    const bool bulk = instruction.form == PtxForm::kBulk;
    const uint64_t unit = bulk ? 16 : bytes;
    if (!bulk && bytes != 4 && bytes != 8 && bytes != 16) anygin_trap("cp.async copies 4, 8 or 16 bytes");
    if (((reinterpret_cast<uint64_t>(to) | reinterpret_cast<uint64_t>(from) | bytes) & (unit - 1)) != 0)
      anygin_trap("cp.async: addresses and bytes must be multiples of the size, of 16 if bulk");
    const bool partly = !bulk && instruction.operands.size() > 3;
    const uint32_t read = partly ? static_cast<uint32_t>(input(instruction.operands[3])) : bytes;
    std::memcpy(to, from, read < bytes ? read : bytes);
    if (read < bytes) std::memset(to + read, 0, bytes - read);
    if (instruction.has_result) reinterpret_cast<BarrierWord*>(address(instruction, 3))->complete(bytes);
  }

  // --- Memory ---

  // Shared memory has ordinary addresses here. One that is 32 bits wide was cut: it lies in the block's area.
  unsigned char* address(const PtxInstruction& instruction, size_t at) const {
    const PtxOperand& operand = instruction.operands[at];
    uint64_t value = input(operand);
    if (operand.kind == PtxOperand::Kind::kNumbered && values_[operand.number].size < 8) {
      const auto area = anygin_lane_active() ? reinterpret_cast<uint64_t>(anygin_shared_dynamic()) : 0;
      const uint32_t offset = static_cast<uint32_t>(value) - static_cast<uint32_t>(area);
      if (area == 0 || offset >= kSharedArea) {
        anygin_trap(
            "assembly reads or writes through a 32-bit address outside shared memory; pass the pointer itself, as an "
            "\"l\" operand");
      }
      value = area + offset;
    }
    return reinterpret_cast<unsigned char*>(value + static_cast<uint64_t>(operand.value));
  }

  void load(const PtxInstruction& instruction) {
    const unsigned char* from = address(instruction, instruction.vector);
    if (instruction.order != PtxOrder::kWeak && anygin_lane_active()) tick();
    for (unsigned i = 0; i < instruction.vector; ++i, from += instruction.bytes) {
      const PtxOperand& operand = instruction.operands[i];
      if (instruction.bytes == 16 && operand.kind == PtxOperand::Kind::kNumbered) {
        std::memcpy(values_[operand.number].bytes, from, 16);
      } else {
        result(instruction, i, load_word(from, instruction));
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

  // multimem.ld_reduce: the same place of all replicas, in the order of ranks; st and red: to each of them.
  void multimem(const PtxInstruction& instruction) {
    const bool loads = instruction.op == PtxOp::kMultimemLoad;
    const unsigned char* at = address(instruction, loads ? instruction.vector : 0);
    const std::vector<char*> replicas = multimem_replicas(at, size_t{instruction.bytes} * instruction.vector);
    if (replicas.empty()) {
      anygin_trap(
          "a multimem instruction on an address that is no multimem address of this process, or leaves its range");
    }
    if (instruction.op == PtxOp::kMultimemReduce) __atomic_thread_fence(__ATOMIC_ACQ_REL);
    for (unsigned i = 0; i < instruction.vector; ++i) {
      const size_t offset = size_t{i} * instruction.bytes;
      if (loads) {
        result(instruction, i, reduced(instruction, replicas, offset));
        continue;
      }
      const uint64_t value = input(instruction.operands[i + 1]);
      for (char* replica : replicas) {
        auto* to = reinterpret_cast<unsigned char*>(replica) + offset;
        if (instruction.op == PtxOp::kMultimemStore) {
          store_word(to, value, instruction);
        } else {
          reduce_into(instruction, to, value);
        }
      }
    }
  }

  static uint64_t reduced(const PtxInstruction& instruction, const std::vector<char*>& replicas, size_t offset) {
    uint64_t sum = 0;
    for (size_t rank = 0; rank < replicas.size(); ++rank) {
      const uint64_t one = load_word(reinterpret_cast<unsigned char*>(replicas[rank]) + offset, instruction);
      sum = rank == 0 ? one : combine(instruction, sum, one);
    }
    return sum;
  }

  static void reduce_into(const PtxInstruction& instruction, unsigned char* to, uint64_t value) {
    const auto change = [&](auto* word) {
      using Word = std::remove_pointer_t<decltype(word)>;
      Word old = __atomic_load_n(word, __ATOMIC_RELAXED);
      while (!exchange_if(word, &old, static_cast<Word>(combine(instruction, old, value)),
                          builtin_order(instruction.order))) {
      }
    };
    switch (instruction.bytes) {
      case 2:
        return change(reinterpret_cast<uint16_t*>(to));
      case 4:
        return change(reinterpret_cast<uint32_t*>(to));
      default:
        return change(reinterpret_cast<uint64_t*>(to));
    }
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
      const Word next = swap ? replacement : static_cast<Word>(combine(instruction, old, operand));
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
  uint64_t registers_[kRegistersMax];
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
  Run(values).all(*program);
}

}  // namespace anygin::simt
