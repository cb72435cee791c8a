// SPDX-License-Identifier: Apache-2.0
// `asm volatile("text" : "=r"(x) : "l"(p) : "memory")` in device code becomes
// `::anygin::simt::ptx(<the text, decoded once>, ptx_operands(ptx_out("=r", (x))), ptx_operands(ptx_in("l", (p))))`.
#include <fmt/format.h>

#include "anygin/simt/ptx_decode.h"
#include "anygin/simt/rewriter/cu_passes.h"

namespace anygin::rewriter {
namespace {

bool is_asm(std::string_view text) {
  return text == "asm" || text == "__asm__" || text == "__asm";
}

// The characters that a string literal means.
std::string literal_value(std::string_view token) {
  const size_t quote = token.find('"');
  const size_t last = token.rfind('"');
  if (quote == std::string_view::npos || last <= quote) return "";
  std::string_view body = token.substr(quote + 1, last - quote - 1);
  if (quote > 0 && token[quote - 1] == 'R') {
    const size_t open = body.find('(');
    const size_t close = body.rfind(')');
    const bool whole = open != std::string_view::npos && close != std::string_view::npos && open < close;
    return whole ? std::string(body.substr(open + 1, close - open - 1)) : "";
  }
  std::string text;
  for (size_t i = 0; i < body.size(); ++i) {
    if (body[i] != '\\' || i + 1 == body.size()) {
      text += body[i];
      continue;
    }
    ++i;
    text += body[i] == 'n' ? '\n' : body[i] == 't' ? '\t' : body[i] == 'r' ? '\r' : body[i];
  }
  return text;
}

class AsmRewriter {
 public:
  AsmRewriter(Code& code, int word) : code_(code), word_(word), open_(word + 1) {
    while (code_.is(open_, "volatile") || code_.is(open_, "__volatile__") || code_.is(open_, "inline")) ++open_;
    close_ = code_.partner(open_);
  }

  void run() {
    if (code_.is(open_, "goto")) return code_.error(word_, "asm goto has no meaning in device code");
    if (!code_.is(open_, "(") || close_ == kNowhere) return;
    std::string text;
    int at = open_ + 1;
    for (; code_.at(at).kind == TokenKind::kString; ++at) text += literal_value(code_.at(at).text);
    if (text.find_first_not_of(" \t\r\n") == std::string::npos) return;  // a compiler barrier: the host's serves
    const simt::PtxProgram program = simt::decode_ptx(text);
    if (!program.error.empty()) return code_.error(word_, program.error);
    code_.replace(word_, "::anygin::simt::ptx");
    code_.drop_range(word_ + 1, open_);
    code_.insert_after(open_,
                       "[] { static const ::anygin::simt::PtxProgram* const anygin_program = "
                       "::anygin::simt::anygin_ptx_program(");
    sections(at);
    if (known_ && program.operand_count > operands_) {
      code_.error(word_,
                  fmt::format("this asm names operand %{} but is given {}", program.operand_count - 1, operands_));
    }
  }

 private:
  void sections(int at) {
    for (; at < close_; ++at) {
      const bool colon = code_.is(at, ":");
      if (colon || code_.is(at, "::")) {
        code_.drop(at);
        for (int i = 0; i < (colon ? 1 : 2); ++i) code_.insert_after(at, next_section());
      } else if (section_ >= 3) {
        code_.drop(at);
      } else if (code_.at(at).kind == TokenKind::kString && code_.is(at + 1, "(") && section_ > 0) {
        at = operand(at);
      } else if (!code_.is(at, ",")) {
        code_.error(at, fmt::format("`{}`: operands of asm are written \"constraint\"(expression)", code_.at(at).text));
        known_ = false;
        return;
      }
    }
    while (section_ < 3) code_.insert_before(close_, next_section());
  }

  std::string_view next_section() {
    switch (section_++) {
      case 0:
        return "); return anygin_program; }(), ::anygin::simt::ptx_operands(";
      case 1:
        return "), ::anygin::simt::ptx_operands(";
      case 2:
        return ")";
      default:
        return "";
    }
  }

  // Returns the last position of the operand.
  int operand(int constraint) {
    const int close = code_.partner(constraint + 1);
    if (close == kNowhere) return constraint;
    const bool both = code_.at(constraint).text.find('+') != std::string_view::npos;
    code_.insert_before(constraint, section_ == 2 ? "::anygin::simt::ptx_in("
                                    : both        ? "::anygin::simt::ptx_inout("
                                                  : "::anygin::simt::ptx_out(");
    code_.insert_after(constraint, ", ");
    code_.insert_after(close, ")");
    ++operands_;
    return close;
  }

  Code& code_;
  const int word_;
  int open_;
  int close_ = kNowhere;
  int section_ = 0;
  int operands_ = 0;
  bool known_ = true;
};

}  // namespace

void rewrite_asm(Code& code, const ScopeTable& scopes) {
  for (int i = 0; i < code.size(); ++i) {
    if (code.is_identifier(i) && is_asm(code.at(i).text) && scopes.in_device_code(i)) AsmRewriter(code, i).run();
  }
}

}  // namespace anygin::rewriter
