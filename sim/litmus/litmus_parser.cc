// SPDX-License-Identifier: Apache-2.0
// A line is a statement; its first word says which. Errors are thrown as BuildError by whoever notices and get file and
// line at the top.
#include "anygin/sim/litmus/litmus_parser.h"

#include <fmt/format.h>

#include "anygin/base/whole_file.h"
#include "anygin/sim/litmus/line_parser.h"
#include "anygin/sim/litmus/litmus_lexer.h"
#include "anygin/sim/litmus/program_builder.h"

namespace anygin::litmus {
namespace {

constexpr size_t kBytesMax = 64 * 1024;

// Text up to a comment, without blanks at its ends.
std::string plain_text(std::string_view line) {
  const std::string_view text = line.substr(0, line.find('#'));
  const size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(" \t\r") + 1 - first));
}

class FileParser {
 public:
  explicit FileParser(const std::string& file) { builder_.program.file = file; }

  void line(std::string_view text, int number) {
    number_ = number;
    const std::string plain = plain_text(text);
    if (plain.empty()) return;
    const size_t space = plain.find_first_of(" \t");
    const std::string word = plain.substr(0, space);
    // These two take prose.
    if (word == "row" || word == "race") {
      std::string& field = word == "row" ? builder_.program.row : builder_.program.race;
      if (space == std::string::npos) throw BuildError(fmt::format("'{}' needs a text behind it", word));
      field = plain_text(std::string_view(plain).substr(space));
      return;
    }
    LineParser parser(plain, builder_);
    parser.statement(number);
  }

  Program take() {
    number_ = 0;
    Program& program = builder_.program;
    if (program.name.empty()) throw BuildError("no name; the first line is 'litmus NAME'");
    if (program.threads.empty()) throw BuildError("no thread; add 'thread 0' and its statements");
    if (program.statements.empty()) {
      throw BuildError("no outcomes; add 'exactly all: ...', 'allowed PROFILES: ...' or 'forbidden PROFILES: ...'");
    }
    builder_.finish();
    return std::move(program);
  }

  int number() const { return number_; }

 private:
  ProgramBuilder builder_;
  int number_ = 0;
};

}  // namespace

Result<Program> parse_litmus(const std::string& file, std::string_view text) {
  if (text.size() > kBytesMax) {
    return Status(Cause::kToolInput, "litmus", fmt::format("{}:1: more than {} bytes", file, kBytesMax));
  }
  FileParser parser(file);
  try {
    int number = 0;
    while (!text.empty()) {
      const size_t end = text.find('\n');
      parser.line(text.substr(0, end), ++number);
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    return parser.take();
  } catch (const BuildError& error) {
    return Status(Cause::kToolInput, "litmus",
                  fmt::format("{}:{}: {}", file, std::max(parser.number(), 1), error.what()));
  }
}

Result<Program> read_litmus(const std::string& path) {
  const Result<std::string> text = read_file(path);
  if (!text.ok()) {
    return Status(Cause::kToolInput, "litmus",
                  fmt::format("{}:1: cannot be read; name a .litmus file, such as those of tests/litmus", path));
  }
  return parse_litmus(path, *text);
}

Result<Pattern> parse_pattern(const Program& program, const std::string& text) {
  ProgramBuilder builder;
  builder.program.registers = program.registers;
  try {
    LineParser parser(text, builder);
    return parser.pattern(false);
  } catch (const BuildError& error) {
    return Status(Cause::kToolInput, "litmus", fmt::format("'{}': {}", text, error.what()));
  }
}

}  // namespace anygin::litmus
