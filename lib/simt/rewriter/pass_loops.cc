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

template <size_t kCount>
bool is_one_of(const std::array<std::string_view, kCount>& words, std::string_view text) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

// What may read a word that another lane writes, or passes time, without being a yield point of its own as
// cuda::atomic's operations, atomicAdd and its family, __ldcv, clock64 and __nanosleep are.
bool is_spinning_word(std::string_view text) {
  static constexpr std::array<std::string_view, 9> kWords = {
      "volatile",      "__volatile__",        "asm", "__asm__", "__asm", "clock", "__atomic_load_n",
      "__threadfence", "__threadfence_system"};
  return is_one_of(kWords, text);
}

// Operations of std::atomic, where device code speaks of it: nothing in them lets others run.
bool is_atomic_operation(const Code& code, int i) {
  static constexpr std::array<std::string_view, 5> kMembers = {"load", "exchange", "test_and_set",
                                                               "compare_exchange_weak", "compare_exchange_strong"};
  if (is_one_of(kMembers, code.at(i).text)) return code.is(i - 1, ".") || code.is(i - 1, "->");
  return code.at(i).text.substr(0, 7) == "atomic_" && code.is(i + 1, "(");
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
      find_std_atomic();
      find_volatile_names();
      find_spinning_functions();
    }
    for (int i = 0; i < code_.size(); ++i) {
      if (!code_.is_identifier(i)) continue;
      if (code_.is(i, "do")) find_do(i);
      if ((code_.is(i, "while") && tails_.count(i) == 0) || code_.is(i, "for")) find_headed(i);
      if (code_.is(i, "goto")) find_label(i);
    }
  }

 private:
  // No GPU compiler takes std::atomic in device code, but this one does.
  void find_std_atomic() {
    for (int i = 2; i < code_.size() && !std_atomic_; ++i) {
      const bool named = code_.at(i).text.substr(0, 6) == "atomic" && code_.is(i - 1, "::") && code_.is(i - 2, "std");
      std_atomic_ = named && !(code_.is(i - 3, "::") && code_.is(i - 4, "cuda")) && scopes_.in_device_code(i);
    }
  }

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
      if (is_spinning_word(code_.at(i).text) || names_.count(code_.at(i).text) != 0) return true;
      if (std_atomic_ && is_atomic_operation(code_, i)) return true;
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

  // `again: ... goto again;` is a loop, too.
  void find_label(int jump) {
    if (!code_.is(jump + 2, ";")) return;  // `goto *place;`
    const std::string_view name = code_.at(jump + 1).text;
    for (int i = jump - 1; i >= 0; --i) {
      if (!code_.is(i, name) || !code_.is(i + 1, ":")) continue;
      const bool statement =
          code_.is(i - 1, ";") || code_.is(i - 1, "{") || code_.is(i - 1, "}") || code_.is(i - 1, ":");
      if (!statement || scopes_.function(i) != scopes_.function(jump)) continue;
      if (!labels_.insert(i).second || (ticks_ != Ticks::kAll && !spins(i, jump))) return;
      code_.insert_after(i + 1, " ::anygin::simt::tick();");
      return;
    }
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
  std::set<int> labels_;
  bool std_atomic_ = false;  // some device code uses std::atomic
};

}  // namespace

void rewrite_loops(Code& code, const ScopeTable& scopes, Ticks ticks) {
  LoopRewriter(code, scopes, ticks).run();
}

}  // namespace anygin::rewriter
