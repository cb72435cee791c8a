// SPDX-License-Identifier: Apache-2.0
#include "anygin/simt/ptx_decode.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

namespace anygin::simt {
namespace {

using Parts = std::vector<std::string_view>;

constexpr std::string_view kKnown =
    "mov, cvta, ld, st, atom, red, fence, membar, nanosleep, bar.sync, bar.warp.sync, activemask, exit, trap, "
    "prefetch, "
    "griddepcontrol";

std::string_view trim(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

Parts split(std::string_view text, char separator) {
  Parts parts;
  for (size_t begin = 0;;) {
    const size_t end = text.find(separator, begin);
    parts.push_back(trim(text.substr(begin, end - begin)));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

std::optional<int64_t> number_in(std::string_view text) {
  const bool negative = !text.empty() && text[0] == '-';
  if (negative) text.remove_prefix(1);
  int base = 10;
  if (text.substr(0, 2) == "0x" || text.substr(0, 2) == "0X") {
    base = 16;
    text.remove_prefix(2);
  }
  while (!text.empty() && (text.back() == 'U' || text.back() == 'u')) text.remove_suffix(1);
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return static_cast<int64_t>(negative ? 0 - value : value);
}

std::optional<PtxRegister> plain_register(std::string_view name) {
  static const std::map<std::string_view, PtxRegister> kNames = {
      {"laneid", PtxRegister::kLane},
      {"warpid", PtxRegister::kWarp},
      {"nwarpid", PtxRegister::kWarpCount},
      {"smid", PtxRegister::kMultiprocessor},
      {"nsmid", PtxRegister::kMultiprocessorCount},
      {"clock", PtxRegister::kNanoseconds},
      {"clock64", PtxRegister::kNanoseconds},
      {"globaltimer", PtxRegister::kNanoseconds},
      {"globaltimer_lo", PtxRegister::kNanoseconds},
      {"globaltimer_hi", PtxRegister::kNanosecondsHigh},
      {"clock_hi", PtxRegister::kNanosecondsHigh},
      {"lanemask_eq", PtxRegister::kLaneMaskEqual},
      {"lanemask_lt", PtxRegister::kLaneMaskLess},
      {"lanemask_le", PtxRegister::kLaneMaskLessEqual},
      {"lanemask_gt", PtxRegister::kLaneMaskGreater},
      {"lanemask_ge", PtxRegister::kLaneMaskGreaterEqual},
      {"dynamic_smem_size", PtxRegister::kDynamicSharedBytes}};
  const auto found = kNames.find(name);
  return found == kNames.end() ? std::nullopt : std::optional(found->second);
}

// `tid.x`, `laneid`.
bool special_register(std::string_view name, PtxOperand* operand) {
  static const std::map<std::string_view, PtxRegister> kVectors = {{"tid", PtxRegister::kThread},
                                                                   {"ntid", PtxRegister::kBlockSize},
                                                                   {"ctaid", PtxRegister::kBlock},
                                                                   {"nctaid", PtxRegister::kGridSize}};
  operand->kind = PtxOperand::Kind::kSpecial;
  const size_t dot = name.find('.');
  if (dot == std::string_view::npos) {
    const auto plain = plain_register(name);
    if (plain) operand->special = *plain;
    return plain.has_value();
  }
  const auto found = kVectors.find(name.substr(0, dot));
  const std::string_view component = name.substr(dot + 1);
  if (found == kVectors.end() || component.size() != 1 || component[0] < 'x' || component[0] > 'z') return false;
  operand->special = found->second;
  operand->component = static_cast<uint8_t>(component[0] - 'x');
  return true;
}

class Decoder {
 public:
  explicit Decoder(std::string_view text) { program_.text = text; }

  PtxProgram run() {
    for (std::string_view line : split(without_comments(), ';')) {
      if (line.empty()) continue;
      instruction(line);
      if (!program_.error.empty()) break;
    }
    return std::move(program_);
  }

 private:
  void fail(std::string text) {
    if (program_.error.empty()) program_.error = std::move(text);
  }

  std::string_view without_comments() {
    clean_ = program_.text;
    for (size_t at; (at = clean_.find("//")) != std::string::npos;) {
      clean_.erase(at, std::min(clean_.find('\n', at), clean_.size()) - at);
    }
    return clean_;
  }

  void instruction(std::string_view line) {
    if (line[0] == '{' || line[0] == '}' || line[0] == '.' || line[0] == '@' ||
        line.find(':') < line.find_first_of(" .")) {
      return fail(fmt::format("`{}`: blocks, registers, predicates and labels of PTX are not supported", line));
    }
    const size_t space = line.find_first_of(" \t\n[");
    const Parts parts = split(line.substr(0, space), '.');
    now_ = PtxInstruction();
    if (!opcode(parts)) {
      return fail(fmt::format("PTX instruction `{}` is not known; known are {}", line.substr(0, space), kKnown));
    }
    if (space != std::string_view::npos) operands(line.substr(space));
    if (now_.op == PtxOp::kNothing) now_.operands.clear();
    check_count(line);
    for (const PtxOperand& given : now_.operands) {
      if (given.kind == PtxOperand::Kind::kNumbered) {
        program_.operand_count = std::max(program_.operand_count, given.number + 1);
      }
    }
    program_.instructions.push_back(now_);
  }

  bool opcode(const Parts& parts) {
    const std::string_view base = parts[0];
    if (base == "ld" || base == "st") return memory(parts);
    if (base == "atom" || base == "red") return atomic(parts);
    if (base == "mov" || base == "cvta") return simple(PtxOp::kMove, parts);
    if (base == "nanosleep") return simple(PtxOp::kNanosleep, parts);
    if (base == "fence" || base == "membar") return simple(PtxOp::kFence, {});
    if (base == "exit") return simple(PtxOp::kExit, {});
    if (base == "trap") return simple(PtxOp::kTrap, {});
    if (base == "activemask") return simple(PtxOp::kActiveMask, parts);
    if (base == "prefetch" || base == "prefetchu" || base == "griddepcontrol") return simple(PtxOp::kNothing, {});
    if ((base == "bar" || base == "barrier") && parts.size() > 1) {
      if (parts[1] == "warp") return simple(PtxOp::kWarpBarrier, {});
      return (parts[1] == "sync" || parts[1] == "cta") && simple(PtxOp::kBarrier, {});
    }
    return false;
  }

  // The type is the last part, if parts are given.
  bool simple(PtxOp op, const Parts& parts) {
    now_.op = op;
    return parts.empty() || type(parts.back());
  }

  bool type(std::string_view text) {
    static const std::map<char, PtxType> kTypes = {
        {'u', PtxType::kUnsigned}, {'s', PtxType::kSigned}, {'b', PtxType::kBits}, {'f', PtxType::kFloat}};
    const auto found = text.empty() ? kTypes.end() : kTypes.find(text[0]);
    const auto bits = number_in(text.substr(std::min<size_t>(1, text.size())));
    if (found == kTypes.end() || !bits) return false;
    if (*bits != 8 && *bits != 16 && *bits != 32 && *bits != 64 && *bits != 128) return false;
    now_.type = found->second;
    now_.bytes = static_cast<uint8_t>(*bits / 8);
    return true;
  }

  static bool is_qualifier(std::string_view part) {
    static constexpr std::string_view kWords[] = {
        "cta", "cluster", "gpu", "sys", "global", "shared", "shared::cta", "local", "const", "param",  "weak",
        "ca",  "cg",      "cs",  "lu",  "cv",     "nc",     "wb",          "wt",    "noftz", "unified"};
    return std::find(std::begin(kWords), std::end(kWords), part) != std::end(kWords) ||
           (part.substr(0, 4) == "L1::" && part != "L1::cache_hint") ||
           (part.substr(0, 4) == "L2::" && part != "L2::cache_hint");
  }

  bool order(std::string_view part) {
    static const std::map<std::string_view, PtxOrder> kOrders = {
        {"relaxed", PtxOrder::kRelaxed}, {"volatile", PtxOrder::kRelaxed}, {"mmio", PtxOrder::kRelaxed},
        {"acquire", PtxOrder::kAcquire}, {"release", PtxOrder::kRelease},  {"acq_rel", PtxOrder::kAcquireRelease}};
    const auto found = kOrders.find(part);
    if (found != kOrders.end()) now_.order = found->second;
    return found != kOrders.end();
  }

  bool memory(const Parts& parts) {
    now_.op = parts[0] == "ld" ? PtxOp::kLoad : PtxOp::kStore;
    for (size_t i = 1; i + 1 < parts.size(); ++i) {
      if (parts[i] == "v2" || parts[i] == "v4") {
        now_.vector = static_cast<uint8_t>(parts[i][1] - '0');
      } else if (!is_qualifier(parts[i]) && !order(parts[i])) {
        return false;
      }
    }
    const bool fits = now_.order == PtxOrder::kWeak || now_.order == PtxOrder::kRelaxed ||
                      (now_.order == PtxOrder::kAcquire) == (now_.op == PtxOp::kLoad);
    return parts.size() > 1 && fits && type(parts.back());
  }

  bool atomic(const Parts& parts) {
    static const std::map<std::string_view, PtxAtomic> kAtomics = {
        {"add", PtxAtomic::kAdd},       {"min", PtxAtomic::kMin},
        {"max", PtxAtomic::kMax},       {"and", PtxAtomic::kAnd},
        {"or", PtxAtomic::kOr},         {"xor", PtxAtomic::kXor},
        {"exch", PtxAtomic::kExchange}, {"cas", PtxAtomic::kCompareAndSwap}};
    now_.op = PtxOp::kAtomic;
    now_.order = PtxOrder::kRelaxed;
    now_.has_result = parts[0] == "atom";
    for (size_t i = 1; i + 1 < parts.size(); ++i) {
      const auto found = kAtomics.find(parts[i]);
      if (found != kAtomics.end()) {
        now_.atomic = found->second;
      } else if (!is_qualifier(parts[i]) && !order(parts[i])) {
        return false;
      }
    }
    if (now_.atomic == PtxAtomic::kNone || !type(parts.back())) return false;
    return now_.bytes == 4 || now_.bytes == 8;
  }

  void operands(std::string_view text) {
    std::string flat;
    for (char c : text) flat += c == '{' || c == '}' ? ' ' : c;
    for (std::string_view part : split(flat, ',')) {
      if (!part.empty()) operand(part);
    }
  }

  void operand(std::string_view text) {
    PtxOperand found;
    const std::string_view whole = text;
    if (text[0] == '[' && text.back() == ']') {
      found.address = true;
      text = trim(text.substr(1, text.size() - 2));
      const size_t plus = text.find_first_of("+-", 1);
      if (plus != std::string_view::npos) {
        std::string_view offset = trim(text.substr(plus + 1));
        const auto value = number_in(offset);
        if (!value) return fail(fmt::format("PTX operand `{}`: the offset must be a number", whole));
        found.value = text[plus] == '-' ? -*value : *value;
        text = trim(text.substr(0, plus));
      }
    }
    if (!place(text, &found)) return fail(fmt::format("PTX operand `{}` is not known", whole));
    now_.operands.push_back(found);
  }

  static bool place(std::string_view text, PtxOperand* found) {
    if (text.empty()) return false;
    if (text[0] != '%') {
      const auto value = number_in(text);
      if (!value || found->address) return false;
      found->value = *value;
      return true;
    }
    while (!text.empty() && text[0] == '%') text.remove_prefix(1);
    if (!text.empty() && text[0] >= '0' && text[0] <= '9') {
      const auto number = number_in(text);
      found->kind = PtxOperand::Kind::kNumbered;
      found->number = static_cast<int>(number.value_or(0));
      return number && *number < 30;
    }
    return !found->address && special_register(text, found);
  }

  // How many operands each instruction takes, and which are addresses and results.
  void check_count(std::string_view line) {
    size_t least = 0, most = 0;
    size_t address = SIZE_MAX;
    switch (now_.op) {
      case PtxOp::kMove:
        least = most = 2;
        break;
      case PtxOp::kLoad:
        least = most = now_.vector + size_t{1};
        address = now_.vector;
        break;
      case PtxOp::kStore:
        least = most = now_.vector + size_t{1};
        address = 0;
        break;
      case PtxOp::kAtomic:
        address = now_.has_result ? 1 : 0;
        least = most = address + (now_.atomic == PtxAtomic::kCompareAndSwap ? 3 : 2);
        break;
      case PtxOp::kBarrier:
        least = 1;
        most = 2;
        break;
      case PtxOp::kNanosleep:
      case PtxOp::kWarpBarrier:
      case PtxOp::kActiveMask:
        least = most = 1;
        break;
      default:
        break;
    }
    const std::vector<PtxOperand>& given = now_.operands;
    bool right = given.size() >= least && given.size() <= most;
    for (size_t i = 0; right && i < given.size(); ++i) right = given[i].address == (i == address);
    const bool writes = now_.op == PtxOp::kMove || now_.op == PtxOp::kLoad || now_.op == PtxOp::kActiveMask ||
                        (now_.op == PtxOp::kAtomic && now_.has_result);
    const size_t results = now_.op == PtxOp::kLoad ? now_.vector : writes ? 1 : 0;
    for (size_t i = 0; right && i < results; ++i) right = given[i].kind == PtxOperand::Kind::kNumbered;
    if (!right) fail(fmt::format("`{}`: the operands do not fit the instruction", line));
  }

  PtxProgram program_;
  PtxInstruction now_;
  std::string clean_;
};

}  // namespace

PtxProgram decode_ptx(std::string_view text) {
  return Decoder(text).run();
}

}  // namespace anygin::simt
