// SPDX-License-Identifier: Apache-2.0
#include "anygin/simt/ptx_decode.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "anygin/simt/ptx_opcode.h"
#include "anygin/simt/ptx_operands.h"

namespace anygin::simt {
namespace {

using Parts = std::vector<std::string_view>;

constexpr std::string_view kKnown =
    "mov, cvta, ld, st, atom, red, multimem, fence, membar, nanosleep, bar.sync, bar.warp.sync, activemask, "
    "bar.arrive, shfl, vote, match, redux, mbarrier, cp.async, elect.sync, setp, selp, bra, cvt, integer and "
    "floating-point arithmetic, exit, trap, prefetch, griddepcontrol";

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
      {"dynamic_smem_size", PtxRegister::kDynamicSharedBytes},
      {"cluster_ctarank", PtxRegister::kZero},
      {"cluster_nctarank", PtxRegister::kOne}};
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
      statement(line);
      if (!program_.error.empty()) break;
    }
    for (const auto& [instruction, label] : jumps_) {
      const auto found = labels_.find(label);
      if (found == labels_.end()) fail(fmt::format("PTX label `{}` is not there", label));
      if (found != labels_.end()) program_.instructions[instruction].target = found->second;
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
    for (size_t at; (at = clean_.find("/*")) != std::string::npos;) {
      const size_t end = clean_.find("*/", at + 2);
      clean_.replace(at, std::min(end == std::string::npos ? end : end + 2 - at, clean_.size() - at), " ");
    }
    return clean_;
  }

  // Blocks only bound the life of names, labels stand before instructions, `@p` guards one.
  void statement(std::string_view line) {
    while (!line.empty() && (line[0] == '{' || line[0] == '}')) line = trim(line.substr(1));
    if (line.empty()) return;
    const size_t colon = line.find(':');
    if (colon < line.find_first_of(" \t\n.[") && colon + 1 < line.size() + 1 && line.substr(colon, 2) != "::") {
      labels_[std::string(line.substr(0, colon))] = static_cast<int>(program_.instructions.size());
      return statement(trim(line.substr(colon + 1)));
    }
    if (line.substr(0, 4) == ".reg") return declare(line.substr(4));
    if (line[0] == '.') return fail(fmt::format("`{}`: this directive of PTX is not supported", line));
    now_ = PtxInstruction();
    if (line[0] == '@') {
      line = trim(line.substr(1));
      now_.guard_not = !line.empty() && line[0] == '!';
      if (now_.guard_not) line = trim(line.substr(1));
      const size_t end = std::min(line.find_first_of(" \t\n"), line.size());
      const int* found = find_register(line.substr(0, end));
      if (found == nullptr) return fail(fmt::format("PTX predicate `{}` is not declared", line.substr(0, end)));
      now_.guard = *found;
      line = trim(line.substr(end));
      if (line.empty()) return fail("a PTX predicate must guard an instruction");
    }
    instruction(line);
  }

  // `.pred p, q` or `.b32 r<4>`
  void declare(std::string_view text) {
    text = trim(text);
    const size_t space = text.find_first_of(" \t\n");
    if (text.empty() || text[0] != '.' || space == std::string_view::npos) {
      return fail(fmt::format("`.reg {}`: right is `.reg .type name`", text));
    }
    for (std::string_view name : split(text.substr(space), ',')) {
      while (!name.empty() && name[0] == '%') name.remove_prefix(1);
      const size_t many = name.find('<');
      if (many == std::string_view::npos) {
        add_register(std::string(name));
        continue;
      }
      const auto count = ptx_number(trim(name.substr(many + 1, name.find('>') - many - 1)));
      if (!count || *count < 1 || *count > 64) return fail(fmt::format("`.reg {}`: at most 64 registers", text));
      for (int64_t i = 0; i < *count; ++i) add_register(fmt::format("{}{}", name.substr(0, many), i));
    }
  }

  void add_register(const std::string& name) {
    if (program_.register_count >= 64) return fail("a PTX text may declare at most 64 registers");
    registers_[name] = program_.register_count++;
  }

  const int* find_register(std::string_view name) const {
    while (!name.empty() && name[0] == '%') name.remove_prefix(1);
    const auto found = registers_.find(name);
    return found == registers_.end() ? nullptr : &found->second;
  }

  void instruction(std::string_view line) {
    const size_t space = line.find_first_of(" \t\n[");
    if (!decode_ptx_opcode(split(line.substr(0, space), '.'), &now_)) {
      return fail(fmt::format("PTX instruction `{}` is not known; known are {}", line.substr(0, space), kKnown));
    }
    const std::string_view rest = space == std::string_view::npos ? std::string_view() : line.substr(space);
    if (now_.op == PtxOp::kBranch) {
      jumps_.emplace_back(program_.instructions.size(), std::string(trim(rest)));
    } else if (!rest.empty()) {
      if (now_.op == PtxOp::kMove && rest.find('{') != std::string_view::npos) {
        now_.op = PtxOp::kPack;
        now_.unpacks = trim(rest)[0] == '{';
      }
      operands(rest);
    }
    if (now_.op == PtxOp::kNothing) now_.operands.clear();
    if (!ptx_operands_fit(now_)) fail(fmt::format("`{}`: the operands do not fit the instruction", line));
    for (const PtxOperand& given : now_.operands) {
      if (given.kind == PtxOperand::Kind::kNumbered) {
        program_.operand_count = std::max(program_.operand_count, given.number + 1);
      }
    }
    program_.instructions.push_back(now_);
  }

  void operands(std::string_view text) {
    std::string flat;
    for (char c : text) flat += c == '{' || c == '}' ? ' ' : c;
    for (std::string_view part : split(flat, ',')) {
      if (part.empty()) continue;
      const size_t bar = part.find('|');  // two results: `p|q`
      if (bar != std::string_view::npos) {
        operand(trim(part.substr(0, bar)));
        part = trim(part.substr(bar + 1));
      }
      operand(part);
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
        const auto value = ptx_number(offset);
        if (!value) return fail(fmt::format("PTX operand `{}`: the offset must be a number", whole));
        found.value = text[plus] == '-' ? -*value : *value;
        text = trim(text.substr(0, plus));
      }
    }
    if (!register_operand(text, &found) && !place(text, &found))
      return fail(fmt::format("PTX operand `{}` is not known", whole));
    now_.operands.push_back(found);
  }

  // Declared names come before special registers: a text may declare `%p1`.
  bool register_operand(std::string_view text, PtxOperand* found) const {
    const bool unwanted = text == "_";
    const int* known = unwanted ? nullptr : find_register(text);
    if (!unwanted && known == nullptr) return false;
    found->kind = PtxOperand::Kind::kRegister;
    found->number = unwanted ? -1 : *known;
    return true;
  }

  static bool place(std::string_view text, PtxOperand* found) {
    if (text.empty()) return false;
    if (text[0] != '%') {
      const auto value = ptx_number(text);
      if (!value || found->address) return false;
      found->value = *value;
      return true;
    }
    while (!text.empty() && text[0] == '%') text.remove_prefix(1);
    if (!text.empty() && text[0] >= '0' && text[0] <= '9') {
      const auto number = ptx_number(text);
      found->kind = PtxOperand::Kind::kNumbered;
      found->number = static_cast<int>(number.value_or(0));
      return number && *number < 30;
    }
    return !found->address && special_register(text, found);
  }

  PtxProgram program_;
  PtxInstruction now_;
  std::string clean_;
  std::map<std::string, int, std::less<>> registers_;
  std::map<std::string, int, std::less<>> labels_;  // the instruction that follows
  std::vector<std::pair<size_t, std::string>> jumps_;
};

}  // namespace

PtxProgram decode_ptx(std::string_view text) {
  return Decoder(text).run();
}

}  // namespace anygin::simt
