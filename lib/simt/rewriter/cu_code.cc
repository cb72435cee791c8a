// SPDX-License-Identifier: Apache-2.0
// Bracket and template-list matching over the significant tokens.
#include "anygin/simt/rewriter/cu_code.h"

#include <fmt/format.h>

namespace anygin::rewriter {
namespace {

char closer_of(char open) {
  return open == '(' ? ')' : open == '[' ? ']' : '}';
}

const Token kEmptyToken;

// Statements nest as deep as source does; a hostile input may nest deeper than our stack.
constexpr int kDeepest = 200;

int skip_nested(const Code& code, int position, int limit, int depth);

// if/while/for/switch: position after the parenthesised head, which may follow `constexpr`.
int after_head(const Code& code, int position) {
  int head = position + 1;
  if (code.is(head, "constexpr")) ++head;
  return code.is(head, "(") && code.partner(head) != kNowhere ? code.partner(head) + 1 : head;
}

int skip_if(const Code& code, int position, int limit, int depth) {
  const int end = skip_nested(code, after_head(code, position), limit, depth);
  return code.is(end, "else") ? skip_nested(code, end + 1, limit, depth) : end;
}

int skip_do(const Code& code, int position, int limit, int depth) {
  const int tail = skip_nested(code, position + 1, limit, depth);
  return code.is(tail, "while") ? after_head(code, tail) + 1 : tail;
}

int skip_try(const Code& code, int position, int limit, int depth) {
  int end = skip_nested(code, position + 1, limit, depth);
  while (code.is(end, "catch")) end = skip_nested(code, after_head(code, end), limit, depth);
  return end;
}

int skip_expression(const Code& code, int position, int limit) {
  while (position < limit && !code.is(position, ";") && !code.is(position, "}")) {
    const int partner = code.partner(position);
    position = partner > position ? partner + 1 : position + 1;
  }
  return code.is(position, ";") ? position + 1 : position;
}

int skip_nested(const Code& code, int position, int limit, int depth) {
  if (position >= limit || depth > kDeepest) return std::min(position, limit);
  const std::string_view text = code.at(position).text;
  if (text == "{") return code.partner(position) == kNowhere ? limit : code.partner(position) + 1;
  if (text == "if") return skip_if(code, position, limit, depth + 1);
  if (text == "do") return skip_do(code, position, limit, depth + 1);
  if (text == "try") return skip_try(code, position, limit, depth + 1);
  if (text == "while" || text == "for" || text == "switch") {
    return skip_nested(code, after_head(code, position), limit, depth + 1);
  }
  if (text == "case" || text == "default") {
    while (position < limit && !code.is(position, ":")) ++position;
    return skip_nested(code, position + 1, limit, depth + 1);
  }
  if (code.is_identifier(position) && code.is(position + 1, ":")) {
    return skip_nested(code, position + 2, limit, depth + 1);
  }
  return skip_expression(code, position, limit);
}

}  // namespace

Code::Code(TokenStream stream) : stream_(std::move(stream)) {
  for (size_t i = 0; i < stream_.tokens.size(); ++i) {
    if (stream_.tokens[i].significant()) significant_.push_back(static_cast<int>(i));
  }
  match_brackets();
  angle_work_ = int64_t{200} * size() + 100000;
}

const Token& Code::at(int position) const {
  return position >= 0 && position < size() ? stream_.tokens[significant_[position]] : kEmptyToken;
}

bool Code::adjacent(int position) const {
  return position >= 0 && position + 1 < size() && significant_[position + 1] == significant_[position] + 1;
}

int Code::partner(int position) const {
  return position >= 0 && position < size() ? partner_[position] : kNowhere;
}

void Code::match_brackets() {
  partner_.assign(significant_.size(), kNowhere);
  std::vector<int> open;
  for (int i = 0; i < size(); ++i) {
    const Token& token = at(i);
    if (token.kind != TokenKind::kPunctuator || token.text.size() != 1) continue;
    const char c = token.text[0];
    if (c == '(' || c == '[' || c == '{') open.push_back(i);
    if (c != ')' && c != ']' && c != '}') continue;
    while (!open.empty()) {  // an unmatched opener inside a matched pair stays unmatched
      const int candidate = open.back();
      const bool fits = closer_of(at(candidate).text[0]) == c;
      if (!fits && c != '}') break;  // a stray ) or ] matches nothing
      open.pop_back();
      if (!fits) continue;
      partner_[candidate] = i;
      partner_[i] = candidate;
      break;
    }
  }
}

bool Code::scan_angle(int position, int limit, int depth, int64_t* budget, int* close) const {
  for (; position < limit && --*budget > 0; ++position) {
    const std::string_view text = at(position).text;
    if (text == ";" || text == ")" || text == "]" || text == "}") return false;
    if (partner(position) > position) {
      position = partner(position);
    } else if (text == ">") {
      if (--depth == 0) {
        *close = position;
        return true;
      }
    } else if (text == "<" && is_identifier(position - 1)) {
      if (depth < kDeepest && scan_angle(position + 1, limit, depth + 1, budget, close)) return true;
    }
  }
  return false;
}

int Code::match_angle(int open, int limit) const {
  int close = kNowhere;
  const int64_t most = std::min<int64_t>(20000, angle_work_);
  int64_t budget = most;
  scan_angle(open + 1, std::min(limit, size()), 1, &budget, &close);
  angle_work_ -= most - std::max<int64_t>(budget, 0);
  return close;
}

int Code::match_angle_back(int close) const {
  int depth = 0;
  for (int i = close; i >= 0; --i) {
    const std::string_view text = at(i).text;
    if (text == ";" || text == "(" || text == "[" || text == "{") return kNowhere;
    if (partner(i) != kNowhere && partner(i) < i) {
      i = partner(i);
    } else if (text == ">") {
      ++depth;
    } else if (text == "<" && --depth == 0) {
      return widest_list(i, close);
    }
  }
  return kNowhere;
}

// In `k<n < 4>` the first `<` met from behind is a comparison: the list begins at the farthest `<` of the expression
// that reaches to `close`.
int Code::widest_list(int open, int close) const {
  for (int i = open - 1; i >= 0 && open - i < 200; --i) {
    const std::string_view text = at(i).text;
    if (text == ";" || text == "(" || text == "[" || text == "{" || text == "}") break;
    if (partner(i) != kNowhere && partner(i) < i) {
      i = partner(i);
    } else if (text == "<" && is_identifier(i - 1) && match_angle(i, close + 1) == close) {
      open = i;
    }
  }
  return open;
}

int Code::skip_statement(int position, int limit) const {
  return std::min(skip_nested(*this, position, std::min(limit, size()), 0), limit);
}

std::string Code::flat_text(int from, int to) const {
  std::string text;
  for (int i = from; i < to; ++i) {
    if (at(i).dropped) continue;
    if (!text.empty()) text += ' ';
    text += at(i).text;
  }
  return text;
}

void Code::drop_range(int from, int to) {
  for (int i = from; i < to; ++i) drop(i);
}

void Code::replace(int position, std::string_view static_text) {
  edit(position).replaced = static_text;
}

void Code::insert_before(int position, std::string_view text) {
  edit(position).before += text;
}

void Code::insert_after(int position, std::string_view text) {
  edit(position).after += text;
}

void Code::wrap(int first, int last, std::string_view before, std::string_view after) {
  edit(first).before += before;
  edit(last).after.insert(0, after);
}

void Code::error(int position, std::string text) {
  const Token& token = at(position);
  errors_.push_back({stream_.files.empty() ? "" : stream_.files[token.file], token.line, std::move(text)});
}

std::string Code::where(int position) const {
  return fmt::format("{}:{}", stream_.files[at(position).file], at(position).line);
}

}  // namespace anygin::rewriter
