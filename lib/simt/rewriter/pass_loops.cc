// SPDX-License-Identifier: Apache-2.0
// A lane that spins on memory must let others run. `while (c) body` gets `::anygin::simt::tick()` at the start of its
// body: inside the braces if there are any, else as `if (tick()) {} else body`, whose `else` cannot take another `if`.
#include <algorithm>
#include <array>
#include <set>

#include "anygin/simt/rewriter/cu_declarator.h"
#include "anygin/simt/rewriter/cu_passes.h"

namespace anygin::rewriter {
namespace {

// Half-open ranges of positions.
struct Loop {
  int word = kNowhere;       // `while`, `for`, `do`
  int condition = kNowhere;  // the `(`; kNowhere if it is missing
  int body = kNowhere;       // first token of the body
  int end = kNowhere;        // after the body
};

bool is_spinning_word(const Code& code, int i) {
  const std::string_view text = code.at(i).text;
  static constexpr std::array<std::string_view, 19> kWords = {"volatile",
                                                              "__volatile__",
                                                              "asm",
                                                              "__asm__",
                                                              "__asm",
                                                              "__ldcv",
                                                              "atomic_ref",
                                                              "clock",
                                                              "clock64",
                                                              "globaltimer",
                                                              "__nanosleep",
                                                              "test_and_set",
                                                              "__ldcg",
                                                              "compare_exchange_weak",
                                                              "compare_exchange_strong",
                                                              "atomic_load",
                                                              "__atomic_load_n",
                                                              "__threadfence",
                                                              "__threadfence_system"};
  if (std::find(kWords.begin(), kWords.end(), text) != kWords.end()) return true;
  if (text == "load" || text == "exchange") return code.is(i - 1, ".") || code.is(i - 1, "->");
  return text.substr(0, 6) == "atomic" && code.is(i + 1, "(");
}

bool is_endless(const Code& code, const Loop& loop) {
  const int open = loop.condition;
  const int close = code.partner(open);
  if (open == kNowhere || close == kNowhere) return false;
  if (code.is(loop.word, "for")) {
    for (int i = open + 1; i < close; ++i) {
      if (code.is(i, ";")) return code.is(i + 1, ";");
      if (code.partner(i) > i) i = code.partner(i);
    }
    return false;
  }
  return close == open + 2 && (code.is(open + 1, "true") || code.is(open + 1, "1"));
}

class LoopRewriter {
 public:
  LoopRewriter(Code& code, const ScopeTable& scopes, Ticks ticks) : code_(code), scopes_(scopes), ticks_(ticks) {}

  void run() {
    if (ticks_ == Ticks::kNone) return;
    if (ticks_ == Ticks::kAuto) {
      find_volatile_names();
      find_spinning_functions();
    }
    for (int i = 0; i < code_.size(); ++i) {
      if (!code_.is_identifier(i)) continue;
      if (code_.is(i, "do")) find_do(i);
      if ((code_.is(i, "while") && tails_.count(i) == 0) || code_.is(i, "for")) find_headed(i);
    }
  }

 private:
  // Names declared volatile anywhere in the user's text: `volatile int* flag`, also members and parameters.
  void find_volatile_names() {
    for (int i = 0; i < code_.size(); ++i) {
      if (!code_.is(i, "volatile")) continue;
      int last = kNowhere;
      for (int k = i + 1; k < code_.size() && k < i + 40; ++k) {
        const std::string_view text = code_.at(k).text;
        if (text == ";" || text == "," || text == ")" || text == "=" || text == "(" || text == "{" || text == "[")
          break;
        if (code_.is_identifier(k)) last = k;
      }
      if (last == kNowhere) continue;
      // `(volatile int*)p` is a cast: its last name is a type and is followed by `*`.
      const bool object = !code_.is(last + 1, "*") && !code_.is(last + 1, "&") && !code_.is(last + 1, ")");
      const bool parameter = code_.is(last + 1, ")") && last > i + 1 && !code_.is(last - 1, "volatile");
      if (object || parameter) names_.insert(code_.at(last).text);
    }
    for (std::string_view word : {"int", "unsigned", "long", "char", "short", "bool", "float", "double"})
      names_.erase(word);
  }

  // Functions of this text that spin or call one that does.
  void find_spinning_functions() {
    for (bool grown = true; grown;) {
      grown = false;
      for (const Scope& scope : scopes_.scopes()) {
        if (scope.kind != ScopeKind::kFunction) continue;
        const int name = function_name(scope);
        if (name == kNowhere || names_.count(code_.at(name).text) != 0) continue;
        if (spins(scope.open, scope.close)) grown |= names_.insert(code_.at(name).text).second;
      }
    }
  }

  int function_name(const Scope& scope) const {
    for (int i = scope.head; i < scope.open; ++i) {
      if (code_.is(i, "__global__")) return kNowhere;  // called by launches only
      if (code_.is(i, "template") && code_.is(i + 1, "<")) {
        const int close = code_.match_angle(i + 1, scope.open);
        if (close != kNowhere) i = close;
      } else if (code_.is(i, "(")) {
        const bool attribute = code_.is(i - 1, "__attribute__") || code_.is(i - 1, "alignas");
        if (!attribute) return code_.is_identifier(i - 1) ? i - 1 : kNowhere;
        if (code_.partner(i) > i) i = code_.partner(i);
      }
    }
    return kNowhere;
  }

  bool spins(int from, int to) const {
    for (int i = from; i < to; ++i) {
      if (!code_.is_identifier(i)) continue;
      if (is_spinning_word(code_, i) || names_.count(code_.at(i).text) != 0) return true;
    }
    return false;
  }

  void find_headed(int word) {
    Loop loop;
    loop.word = word;
    loop.condition = word + 1;
    if (!code_.is(loop.condition, "(") || code_.partner(loop.condition) == kNowhere) return;
    loop.body = code_.partner(loop.condition) + 1;
    loop.end = code_.skip_statement(loop.body, code_.size());
    insert(loop);
  }

  void find_do(int word) {
    Loop loop;
    loop.word = word;
    loop.body = word + 1;
    loop.end = code_.skip_statement(loop.body, code_.size());
    if (!code_.is(loop.end, "while")) return;
    tails_.insert(loop.end);
    if (code_.is(loop.end + 1, "(") && code_.partner(loop.end + 1) != kNowhere) loop.condition = loop.end + 1;
    insert(loop);
  }

  bool wanted(const Loop& loop) const {
    if (ticks_ == Ticks::kAll) return true;
    const bool empty = code_.is(loop.body, ";") || (code_.is(loop.body, "{") && code_.is(loop.body + 1, "}"));
    if (empty || is_endless(code_, loop)) return true;
    if (loop.condition != kNowhere && spins(loop.condition, code_.partner(loop.condition))) return true;
    return spins(loop.body, loop.end);
  }

  void insert(const Loop& loop) {
    if (!wanted(loop)) return;
    if (code_.is(loop.body, "{")) {
      code_.insert_after(loop.body, " ::anygin::simt::tick();");
    } else if (code_.is(loop.body, ";")) {
      code_.drop(loop.body);
      code_.insert_after(loop.body, "{ ::anygin::simt::tick(); }");
    } else {
      code_.insert_after(loop.body - 1, " if (::anygin::simt::tick()) {} else ");
    }
  }

  Code& code_;
  const ScopeTable& scopes_;
  const Ticks ticks_;
  std::set<std::string_view> names_;
  std::set<int> tails_;
};

}  // namespace

void rewrite_loops(Code& code, const ScopeTable& scopes, Ticks ticks) {
  LoopRewriter(code, scopes, ticks).run();
}

}  // namespace anygin::rewriter
