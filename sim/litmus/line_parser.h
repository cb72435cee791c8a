// SPDX-License-Identifier: Apache-2.0
// One statement of a litmus file: its grammar, and the call of the builder that it means.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "anygin/sim/litmus/litmus_lexer.h"
#include "anygin/sim/litmus/program_builder.h"

namespace anygin::litmus {

// Functions throw BuildError.
class LineParser {
 public:
  // `text` is the line without comment and surrounding blanks.
  LineParser(const std::string& text, ProgramBuilder& builder);

  void statement(int line);
  // r=1|2 q=0; every register if `whole`.
  Pattern pattern(bool whole);

 private:
  struct Named {  // "s0", "k3"
    bool is_signal = false;
    uint32_t id = 0;
  };

  // --- Words
  const Token& next() const { return tokens_[at_]; }
  Token take();
  bool take_if(const char* text);
  void need(const char* text, const char* where);
  std::string name(const char* what);
  uint64_t number(const char* what);
  uint32_t number_below(uint32_t limit, const char* what);
  Rank rank(const char* what);
  Named signal_or_counter();
  uint32_t numbered(char letter, uint32_t limit, const char* what);
  std::optional<ProgramBuilder::Slice> slice();
  Range local_range();
  uint8_t granule(Rank owner);
  uint32_t on_context();
  Actions actions();
  void strength(Actions& actions);
  void end();
  [[noreturn]] void expected(const char* what) const;

  // --- Statements
  bool header(const std::string& word);
  bool operation(const std::string& word);
  bool access(const std::string& word);
  void litmus();
  void ranks();
  void memory();
  void initial(bool is_signal);
  void put();
  void put_value();
  void signal();
  void get();
  void wait();
  void read();
  void flush();
  void ask();
  void barrier();
  void load(bool final);
  void store();
  void outcomes(Verdict verdict, int line);
  uint8_t cell_of(Named named, uint32_t context);

  const std::string& text_;
  ProgramBuilder& builder_;
  std::vector<Token> tokens_;
  size_t at_ = 0;
};

}  // namespace anygin::litmus
