// SPDX-License-Identifier: Apache-2.0
// Floating point is done in double and rounded once, which is exact for one operation on 32 bits and less; what PTX
// calls approximate is as exact as libm.
#include "anygin/simt/ptx_math.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "anygin/simt/include/anygin_cuda/small_format.h"

namespace anygin::simt {
namespace {

using Half = Binary16;
using Brain = BrainFloat16;

uint64_t mask_of(unsigned bytes) {
  return bytes >= 8 ? ~uint64_t{0} : (uint64_t{1} << (8 * bytes)) - 1;
}

bool is_float(PtxType type) {
  return type == PtxType::kFloat || type == PtxType::kBrain;
}

double as_double(PtxType type, unsigned bytes, uint64_t bits) {
  if (type == PtxType::kBrain) return static_cast<double>(Brain::decode(static_cast<uint16_t>(bits)));
  if (bytes == 2) return static_cast<double>(Half::decode(static_cast<uint16_t>(bits)));
  if (bytes == 4) return static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  return std::bit_cast<double>(bits);
}

uint64_t as_bits(PtxType type, unsigned bytes, double value) {
  if (type == PtxType::kBrain) return Brain::encode(value);
  if (bytes == 2) return Half::encode(value);
  if (bytes == 4) return std::bit_cast<uint32_t>(static_cast<float>(value));
  return std::bit_cast<uint64_t>(value);
}

double float_result(PtxMath math, double a, double b, double c) {
  switch (math) {
    case PtxMath::kAdd:
      return a + b;
    case PtxMath::kSubtract:
      return a - b;
    case PtxMath::kMultiplyLow:
      return a * b;
    case PtxMath::kFusedMultiplyAdd:
      return std::fma(a, b, c);
    case PtxMath::kDivide:
      return a / b;
    case PtxMath::kMin:
      return std::fmin(a, b);
    case PtxMath::kMax:
      return std::fmax(a, b);
    case PtxMath::kNegate:
      return -a;
    case PtxMath::kAbsolute:
      return std::fabs(a);
    case PtxMath::kReciprocal:
      return 1 / a;
    case PtxMath::kSquareRoot:
      return std::sqrt(a);
    case PtxMath::kReciprocalRoot:
      return 1 / std::sqrt(a);
    case PtxMath::kExponential:
      return std::exp2(a);
    case PtxMath::kLogarithm:
      return std::log2(a);
    case PtxMath::kSine:
      return std::sin(a);
    case PtxMath::kCosine:
      return std::cos(a);
    case PtxMath::kTanh:
      return std::tanh(a);
    default:
      return std::numeric_limits<double>::quiet_NaN();
  }
}

// The product's upper half; both sides are extended already.
uint64_t high_product(bool is_signed, unsigned bytes, uint64_t a, uint64_t b) {
  if (bytes < 8) return (a * b) >> (8 * bytes);
  __extension__ using Wide = unsigned __int128;
  __extension__ using SignedWide = __int128;
  if (is_signed) {
    return static_cast<uint64_t>((SignedWide{static_cast<int64_t>(a)} * static_cast<int64_t>(b)) >> 64);
  }
  return static_cast<uint64_t>((Wide{a} * b) >> 64);
}

uint64_t shifted_right(bool is_signed, unsigned bytes, uint64_t value, uint64_t count) {
  if (count >= 8 * bytes) return is_signed && static_cast<int64_t>(value) < 0 ? ~uint64_t{0} : 0;
  return is_signed ? static_cast<uint64_t>(static_cast<int64_t>(value) >> count) : value >> count;
}

uint64_t quotient(bool is_signed, bool rest, uint64_t a, uint64_t b) {
  if (b == 0) return ~uint64_t{0};
  if (!is_signed) return rest ? a % b : a / b;
  if (static_cast<int64_t>(b) == -1) return rest ? 0 : 0 - a;
  const int64_t x = static_cast<int64_t>(a), y = static_cast<int64_t>(b);
  return static_cast<uint64_t>(rest ? x % y : x / y);
}

uint64_t reversed(uint64_t value, unsigned bytes) {
  uint64_t result = 0;
  for (unsigned bit = 0; bit < 8 * bytes; ++bit) result |= (value >> bit & 1) << (8 * bytes - 1 - bit);
  return result;
}

uint64_t integer_result(const PtxInstruction& instruction, uint64_t a, uint64_t b, uint64_t c) {
  const bool is_signed = instruction.type == PtxType::kSigned;
  const unsigned bytes = instruction.bytes;
  const bool less = is_signed ? static_cast<int64_t>(a) < static_cast<int64_t>(b) : a < b;
  switch (instruction.math) {
    case PtxMath::kAdd:
      return a + b;
    case PtxMath::kSubtract:
      return a - b;
    case PtxMath::kMultiplyLow:
    case PtxMath::kMultiplyWide:
      return a * b;
    case PtxMath::kMultiplyHigh:
      return high_product(is_signed, bytes, a, b);
    case PtxMath::kMultiplyAddLow:
    case PtxMath::kMultiplyAddWide:
      return a * b + c;
    case PtxMath::kDivide:
    case PtxMath::kRemainder:
      return quotient(is_signed, instruction.math == PtxMath::kRemainder, a, b);
    case PtxMath::kMin:
      return less ? a : b;
    case PtxMath::kMax:
      return less ? b : a;
    case PtxMath::kAnd:
      return a & b;
    case PtxMath::kOr:
      return a | b;
    case PtxMath::kXor:
      return a ^ b;
    case PtxMath::kNot:
      return instruction.type == PtxType::kPredicate ? !a : ~a;
    case PtxMath::kShiftLeft:
      return b >= 8 * bytes ? 0 : a << b;
    case PtxMath::kShiftRight:
      return shifted_right(is_signed, bytes, a, b);
    case PtxMath::kNegate:
      return 0 - a;
    case PtxMath::kAbsolute:
      return static_cast<int64_t>(a) < 0 ? 0 - a : a;
    case PtxMath::kPopulation:
      return static_cast<uint64_t>(std::popcount(a & mask_of(bytes)));
    case PtxMath::kLeadingZeros:
      return static_cast<uint64_t>(std::countl_zero(a & mask_of(bytes))) - (64 - 8 * bytes);
    case PtxMath::kReverse:
      return reversed(a, bytes);
    default:
      return 0;
  }
}

template <typename Number>
uint64_t clamped(double value) {
  if (std::isnan(value)) return 0;
  constexpr double kLow = static_cast<double>(std::numeric_limits<Number>::min());
  constexpr double kHigh = static_cast<double>(std::numeric_limits<Number>::max());
  if (value <= kLow) return static_cast<uint64_t>(std::numeric_limits<Number>::min());
  if (value >= kHigh) return static_cast<uint64_t>(std::numeric_limits<Number>::max());
  return static_cast<uint64_t>(static_cast<Number>(value));
}

uint64_t to_integer(const PtxInstruction& instruction, double value) {
  value = instruction.toward_zero ? std::trunc(value) : std::nearbyint(value);
  const bool is_signed = instruction.type == PtxType::kSigned;
  switch (instruction.bytes) {
    case 1:
      return is_signed ? clamped<int8_t>(value) : clamped<uint8_t>(value);
    case 2:
      return is_signed ? clamped<int16_t>(value) : clamped<uint16_t>(value);
    case 4:
      return is_signed ? clamped<int32_t>(value) : clamped<uint32_t>(value);
    default:
      return is_signed ? clamped<int64_t>(value) : clamped<uint64_t>(value);
  }
}

}  // namespace

uint64_t extended(PtxType type, unsigned bytes, uint64_t bits) {
  bits &= mask_of(bytes);
  const uint64_t sign = uint64_t{1} << (8 * std::min(bytes, 8u) - 1);
  return type == PtxType::kSigned && (bits & sign) != 0 ? bits | ~mask_of(bytes) : bits;
}

uint64_t compute(const PtxInstruction& instruction, uint64_t a, uint64_t b, uint64_t c) {
  const auto type = instruction.type;
  const unsigned bytes = instruction.bytes;
  if (instruction.packed == 2) {
    PtxInstruction one = instruction;
    one.packed = 1;
    one.bytes = 2;
    return (compute(one, a & 0xffff, b & 0xffff, c & 0xffff) & 0xffff) |
           (compute(one, a >> 16 & 0xffff, b >> 16 & 0xffff, c >> 16 & 0xffff) & 0xffff) << 16;
  }
  if (is_float(type)) {
    double result =
        float_result(instruction.math, as_double(type, bytes, a), as_double(type, bytes, b), as_double(type, bytes, c));
    if (instruction.saturate) result = std::isnan(result) ? 0 : std::clamp(result, 0.0, 1.0);
    return as_bits(type, bytes, result);
  }
  const bool shift = instruction.math == PtxMath::kShiftLeft || instruction.math == PtxMath::kShiftRight;
  const bool wide = instruction.math == PtxMath::kMultiplyAddWide;
  return integer_result(instruction, extended(type, bytes, a), shift ? b & 0xffffffff : extended(type, bytes, b),
                        wide ? c : extended(type, bytes, c));
}

uint64_t convert(const PtxInstruction& instruction, uint64_t bits) {
  const bool from_float = is_float(instruction.from_type), to_float = is_float(instruction.type);
  if (from_float) {
    double value = as_double(instruction.from_type, instruction.from_bytes, bits);
    if (!to_float) return to_integer(instruction, value);
    if (instruction.saturate) value = std::isnan(value) ? 0 : std::clamp(value, 0.0, 1.0);
    return as_bits(instruction.type, instruction.bytes, value);
  }
  const uint64_t number = extended(instruction.from_type, instruction.from_bytes, bits);
  if (!to_float) return number;
  if (instruction.bytes == 4) {  // one rounding
    const float value = instruction.from_type == PtxType::kSigned ? static_cast<float>(static_cast<int64_t>(number))
                                                                  : static_cast<float>(number);
    return std::bit_cast<uint32_t>(value);
  }
  const double value = instruction.from_type == PtxType::kSigned ? static_cast<double>(static_cast<int64_t>(number))
                                                                 : static_cast<double>(number);
  return as_bits(instruction.type, instruction.bytes, value);
}

template <typename T>
static bool holds(PtxCompare compare, T a, T b) {
  switch (compare) {
    case PtxCompare::kEqual:
      return !(a < b) && !(b < a) && a == a && b == b;
    case PtxCompare::kNotEqual:
      return a < b || b < a;
    case PtxCompare::kLess:
      return a < b;
    case PtxCompare::kLessEqual:
      return a <= b;
    case PtxCompare::kGreater:
      return a > b;
    default:
      return a >= b;
  }
}

bool compare(const PtxInstruction& instruction, uint64_t a, uint64_t b) {
  const auto type = instruction.type;
  const unsigned bytes = instruction.bytes;
  if (is_float(type)) return holds(instruction.compare, as_double(type, bytes, a), as_double(type, bytes, b));
  const uint64_t x = extended(type, bytes, a), y = extended(type, bytes, b);
  if (type == PtxType::kSigned) return holds(instruction.compare, static_cast<int64_t>(x), static_cast<int64_t>(y));
  return holds(instruction.compare, x, y);
}

uint64_t combine(const PtxInstruction& instruction, uint64_t a, uint64_t b) {
  PtxInstruction step = instruction;
  switch (instruction.atomic) {
    case PtxAtomic::kAdd:
      step.math = PtxMath::kAdd;
      break;
    case PtxAtomic::kMin:
      step.math = PtxMath::kMin;
      break;
    case PtxAtomic::kMax:
      step.math = PtxMath::kMax;
      break;
    case PtxAtomic::kAnd:
      step.math = PtxMath::kAnd;
      break;
    case PtxAtomic::kOr:
      step.math = PtxMath::kOr;
      break;
    case PtxAtomic::kXor:
      step.math = PtxMath::kXor;
      break;
    default:
      return b;
  }
  return compute(step, a, b, 0);
}

}  // namespace anygin::simt
