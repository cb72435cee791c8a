// SPDX-License-Identifier: Apache-2.0
// Finds `callee<<<configuration>>>(arguments)`; the emitter writes
// `(::anygin::simt::PendingLaunch(configuration), callee(arguments))`.
#include "anygin/simt/rewriter/cu_passes.h"

namespace anygin::rewriter {
namespace {

// `<<<`, also as `<<` `<`, after something that can be called.
bool opens_launch(const Code& code, int position) {
  if (!code.is(position, "<") || !code.is(position + 1, "<") || !code.is(position + 2, "<")) return false;
  if (!code.adjacent(position) || code.is(position - 1, "operator")) return false;
  return code.is_identifier(position - 1) || code.is(position - 1, ">") || code.is(position - 1, ")") ||
         code.is(position - 1, "]");
}

bool is_statement_word(std::string_view text) {
  return text == "if" || text == "while" || text == "for" || text == "switch" || text == "return" || text == "else" ||
         text == "do" || text == "case" || text == "throw" || text == "co_return" || text == "constexpr";
}

// A `(` group may be the whole callee, or the arguments of a call that returns it. Position before the group that
// belongs to the callee too, or kNowhere.
bool continues_before(const Code& code, int group) {
  const int previous = group - 1;
  if (code.is_identifier(previous)) return !is_statement_word(code.at(previous).text);
  if (code.is(previous, "]") || code.is(previous, ">")) return true;
  if (!code.is(previous, ")")) return false;
  const int open = code.partner(previous);
  return open == kNowhere || !is_statement_word(code.at(open - 1).text);
}

// First token of the postfix expression that ends at `last`; kNowhere if there is none.
int callee_begin(const Code& code, int last) {
  int begin = last;
  for (int steps = 0; begin >= 0 && steps < 1000; ++steps) {
    if (code.is(begin, ">")) {
      begin = code.match_angle_back(begin) - 1;
      if (begin < 0 || !code.is_identifier(begin)) return kNowhere;
    } else if (code.is(begin, ")") || code.is(begin, "]")) {
      const bool group = code.is(begin, ")");
      begin = code.partner(begin);
      if (begin == kNowhere) return kNowhere;
      if (!group || continues_before(code, begin)) {
        --begin;
        continue;
      }
      return begin;
    } else if (!code.is_identifier(begin)) {
      return kNowhere;
    }
    if (code.is(begin - 1, "template")) --begin;
    const int link = begin - 1;
    if (code.is(link, ".") || code.is(link, "->")) {
      begin = link - 1;
    } else if (code.is(link, "::")) {
      const bool named =
          (code.is_identifier(link - 1) && !is_statement_word(code.at(link - 1).text)) || code.is(link - 1, ">");
      if (!named) return link;
      begin = link - 1;
    } else {
      return begin;
    }
  }
  return kNowhere;
}

bool closes_launch(const Code& code, int position) {
  return code.is(position, ">") && code.is(position + 1, ">") && code.is(position + 2, ">");
}

// First `>` of the `>>>` that ends the configuration. A `<` after a name is tried as a template list first.
int configuration_end(const Code& code, int position, int* budget) {
  for (; position < code.size() && --*budget > 0; ++position) {
    const std::string_view text = code.at(position).text;
    if (text == ";" || text == ")" || text == "]" || text == "}") return kNowhere;
    if (closes_launch(code, position)) return position;
    if (text == "<" && code.is_identifier(position - 1)) {
      const int close = code.match_angle(position, code.size());
      const int end = close == kNowhere ? kNowhere : configuration_end(code, close + 1, budget);
      if (end != kNowhere && code.is(end + 3, "(")) return end;
    } else if (code.partner(position) > position) {
      position = code.partner(position);
    }
  }
  return kNowhere;
}

}  // namespace

void rewrite_launches(Code& code) {
  for (int i = 0; i < code.size(); ++i) {
    if (!opens_launch(code, i)) continue;
    Launch launch;
    launch.open = i;
    launch.configuration = i + 3;
    launch.callee = callee_begin(code, i - 1);
    int budget = 20000;
    launch.close = configuration_end(code, launch.configuration, &budget);
    launch.arguments = launch.close == kNowhere ? kNowhere : launch.close + 3;
    if (launch.callee == kNowhere) {
      code.error(i, "`<<<` must follow a kernel's name or an expression that is one");
    } else if (launch.close == kNowhere) {
      code.error(i, "this launch has no `>>>`; right is kernel<<<grid, block>>>(arguments)");
    } else if (launch.close == launch.configuration) {
      code.error(i, "this launch names no grid and block; right is kernel<<<grid, block>>>(arguments)");
    } else if (!code.is(launch.arguments, "(") || code.partner(launch.arguments) == kNowhere) {
      code.error(launch.close, "`>>>` must be followed by the kernel's arguments in parentheses");
    } else {
      launch.end = code.partner(launch.arguments);
      code.add_launch(launch);
      i += 2;
    }
  }
}

}  // namespace anygin::rewriter
