// SPDX-License-Identifier: Apache-2.0
// PTX that reads and writes memory: loads, stores, atomics, copies, multimem.
#include <cstring>
#include <type_traits>

#include "anygin/base/multimem.h"
#include "anygin/simt/ptx_barrier.h"
#include "anygin/simt/ptx_math.h"
#include "anygin/simt/ptx_run.h"

namespace anygin::simt {
namespace {

// A block's shared memory is one area of this size at most, which the dynamic bytes begin.
constexpr uint32_t kSharedArea = 288 * 1024;

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

uint64_t load_word(const unsigned char* from, const PtxInstruction& instruction) {
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

void store_word(unsigned char* to, uint64_t value, const PtxInstruction& instruction) {
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
bool exchange_if(Word* word, Word* old, Word next, int order) {
  if (order == __ATOMIC_RELAXED) {
    return __atomic_compare_exchange_n(word, old, next, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  }
  return __atomic_compare_exchange_n(word, old, next, true, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

uint64_t reduced(const PtxInstruction& instruction, const MultimemReplicas& replicas, size_t offset) {
  uint64_t sum = 0;
  for (int rank = 0; rank < replicas.count; ++rank) {
    const uint64_t one = load_word(reinterpret_cast<unsigned char*>(replicas.at(rank)) + offset, instruction);
    sum = rank == 0 ? one : combine(instruction, sum, one);
  }
  return sum;
}

void reduce_into(const PtxInstruction& instruction, unsigned char* to, uint64_t value) {
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

}  // namespace

// Shared memory has ordinary addresses here. One that is 32 bits wide was cut: it lies in the block's area.
unsigned char* PtxRun::address(const PtxInstruction& instruction, size_t at) const {
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

void PtxRun::load(const PtxInstruction& instruction) {
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

void PtxRun::store(const PtxInstruction& instruction) {
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

// cp.async [to], [from], bytes{, bytes read}; cp.async.bulk [to], [from], bytes{, [barrier]}.
void PtxRun::copy(const PtxInstruction& instruction) {
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

// multimem.ld_reduce: the same place of all replicas, in the order of ranks; st and red: to each of them.
void PtxRun::multimem(const PtxInstruction& instruction) {
  const bool loads = instruction.op == PtxOp::kMultimemLoad;
  const unsigned char* at = address(instruction, loads ? instruction.vector : 0);
  MultimemReplicas replicas;
  anygin_find_multimem(at, size_t{instruction.bytes} * instruction.vector, &replicas);
  if (replicas.count == 0) {
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
    for (int rank = 0; rank < replicas.count; ++rank) {
      auto* to = reinterpret_cast<unsigned char*>(replicas.at(rank)) + offset;
      if (instruction.op == PtxOp::kMultimemStore) {
        store_word(to, value, instruction);
      } else {
        reduce_into(instruction, to, value);
      }
    }
  }
}

template <typename Word>
void PtxRun::atomic_word(const PtxInstruction& instruction) {
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

void PtxRun::atomic(const PtxInstruction& instruction) {
  instruction.bytes == 4 ? atomic_word<uint32_t>(instruction) : atomic_word<uint64_t>(instruction);
}

}  // namespace anygin::simt
