// SPDX-License-Identifier: Apache-2.0
// Keeps count of the line that the output is at and corrects it before every token that is not on it.
#include "anygin/simt/rewriter/cu_emitter.h"

#include <fmt/format.h>

#include <algorithm>

namespace anygin::rewriter {
namespace {

std::string quoted(std::string_view name) {
  std::string text;
  for (char c : name) {
    if (c == '\\' || c == '"') text += '\\';
    text += c;
  }
  return text;
}

class Emitter {
 public:
  explicit Emitter(const Code& code) : code_(code) {}

  std::string run() {
    range(0, static_cast<int>(tokens().size()));
    return std::move(out_);
  }

 private:
  const std::vector<Token>& tokens() const { return code_.stream().tokens; }

  // Tokens [from, to) of the whole stream.
  void range(int from, int to) {
    for (int i = from; i < to; ++i) {
      const auto launch =
          std::lower_bound(code_.launches().begin(), code_.launches().end(), i,
                           [this](const auto& entry, int token) { return code_.token_of(entry.first) < token; });
      if (launch != code_.launches().end() && code_.token_of(launch->first) == i && !inside_callee_) {
        i = emit_launch(launch->second);
      } else {
        inside_callee_ = false;
        one(i);
      }
    }
  }

  // Returns the last token of the launch.
  int emit_launch(const Launch& launch) {
    const int end = code_.token_of(launch.end);
    out_ += "(::anygin::simt::PendingLaunch(";
    range(code_.token_of(launch.open + 2) + 1, code_.token_of(launch.close));
    out_ += "), ";
    inside_callee_ = true;
    range(code_.token_of(launch.callee), code_.token_of(launch.open));
    range(code_.token_of(launch.arguments), end + 1);
    out_ += ')';
    return end;
  }

  void one(int index) {
    const Token& token = tokens()[index];
    if (token.kind == TokenKind::kLinemarker || token.kind == TokenKind::kDirective ||
        token.kind == TokenKind::kSystem) {
      if (!out_.empty() && out_.back() != '\n') newline();
      marked_ = token.kind == TokenKind::kLinemarker;
      out_ += token.dropped ? std::string_view() : token.text;
      line_ += static_cast<int>(std::count(token.text.begin(), token.text.end(), '\n'));
      return;
    }
    if (token.kind == TokenKind::kNewline) {
      newline();
      if (marked_) stand_at(index + 1);
      marked_ = false;
      return;
    }
    if (token.kind == TokenKind::kWhitespace) {
      out_ += token.text;
      return;
    }
    if (token.dropped && token.before.empty() && token.after.empty()) return;
    if (token.file != file_ || token.line != line_) go_to(token);
    out_ += token.before;
    if (!token.dropped && !token.replaced.empty()) {
      out_ += token.replaced;
    } else if (!token.dropped) {
      out_ += token.text;
      line_ += static_cast<int>(std::count(token.text.begin(), token.text.end(), '\n'));
    }
    out_ += token.after;
  }

  void newline() {
    out_ += '\n';
    ++line_;
  }

  // After the line end of a linemarker: the output is where the next token says it is.
  void stand_at(int index) {
    if (index >= static_cast<int>(tokens().size())) return;
    file_ = tokens()[index].file;
    line_ = tokens()[index].line;
  }

  void go_to(const Token& token) {
    if (!out_.empty() && out_.back() != '\n') out_ += '\n';
    const std::string& name = code_.stream().files[token.file];
    out_ += fmt::format("# {} \"{}\"\n", token.line, quoted(name));
    file_ = token.file;
    line_ = token.line;
  }

  const Code& code_;
  std::string out_;
  bool inside_callee_ = false;
  bool marked_ = false;
  int file_ = 0;
  int line_ = 1;
};

}  // namespace

std::string emit(const Code& code) {
  return Emitter(code).run();
}

}  // namespace anygin::rewriter
