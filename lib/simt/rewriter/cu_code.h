// SPDX-License-Identifier: Apache-2.0
// The token table: significant tokens by position, brackets matched, scopes known, and the edits that passes make.
// Positions are indices of significant tokens; kNowhere (-1) is "there is none". Every query is total: out of range
// gives an empty token.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "anygin/simt/rewriter/cu_token.h"

namespace anygin::rewriter {

inline constexpr int kNowhere = -1;

// One launch: `callee<<<configuration>>>(arguments)`. Half-open position ranges.
struct Launch {
  int callee = kNowhere;         // first token of the callee
  int open = kNowhere;           // first `<`
  int configuration = kNowhere;  // after the third `<`
  int close = kNowhere;          // first `>` of the closing three
  int arguments = kNowhere;      // the `(`
  int end = kNowhere;            // the `)` of the arguments
};

class Code {
 public:
  explicit Code(TokenStream stream);

  int size() const { return static_cast<int>(significant_.size()); }
  const Token& at(int position) const;
  Token& edit(int position) { return stream_.tokens[significant_[position]]; }
  bool is(int position, std::string_view text) const { return at(position).text == text; }
  bool is_identifier(int position) const { return at(position).kind == TokenKind::kIdentifier; }
  // True if nothing stands between the tokens `position` and `position + 1`.
  bool adjacent(int position) const;
  // The other bracket of a matched pair of (), [] or {}; kNowhere otherwise.
  int partner(int position) const;

  // `open` is a `<` that begins a template argument list: the position of its `>`, found before `limit`; kNowhere if it
  // cannot be one. `a < b` inside the list is tried both ways.
  int match_angle(int open, int limit) const;
  // The same backwards from a `>`.
  int match_angle_back(int close) const;
  // The statement that begins at `position`: the position after it. Never beyond `limit`.
  int skip_statement(int position, int limit) const;
  // Source text of [from, to) on one line.
  std::string flat_text(int from, int to) const;

  // Edits.
  void drop(int position) { edit(position).dropped = true; }
  void drop_range(int from, int to);
  void replace(int position, std::string_view static_text);
  void insert_before(int position, std::string_view text);
  void insert_after(int position, std::string_view text);
  // Puts `before` and `after` closest to the tokens [first, last].
  void wrap(int first, int last, std::string_view before, std::string_view after);
  void add_launch(const Launch& launch) { launches_[launch.callee] = launch; }
  void error(int position, std::string text);

  const std::map<int, Launch>& launches() const { return launches_; }
  const TokenStream& stream() const { return stream_; }
  TokenStream& stream() { return stream_; }
  int token_of(int position) const { return significant_[position]; }
  std::vector<Diagnostic>& errors() { return errors_; }
  std::string where(int position) const;

 private:
  void match_brackets();
  int widest_list(int open, int close) const;
  bool scan_angle(int position, int limit, int depth, int64_t* budget, int* close) const;

  TokenStream stream_;
  std::vector<int> significant_;
  std::vector<int> partner_;
  std::map<int, Launch> launches_;
  std::vector<Diagnostic> errors_;
  // What all searches for template lists together may still cost: hostile text must not take for ever.
  mutable int64_t angle_work_ = 0;
};

}  // namespace anygin::rewriter
