// SPDX-License-Identifier: Apache-2.0
// CUDA's words on functions, variables and parameters. They are tokens here, not macros, because `__noinline__` and
// `__forceinline__` as macros would break the standard library's headers.
#include <algorithm>
#include <array>

#include "anygin/simt/rewriter/cu_passes.h"

namespace anygin::rewriter {
namespace {

template <size_t N>
bool one_of(std::string_view text, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

bool is_plain_word(std::string_view text) {
  static constexpr std::array<std::string_view, 8> kWords = {"__global__",   "__host__",          "__device__",
                                                             "__constant__", "__managed__",       "__grid_constant__",
                                                             "__nv_pure__",  "__cudart_builtin__"};
  return one_of(text, kWords);
}

bool is_word_with_arguments(std::string_view text) {
  static constexpr std::array<std::string_view, 4> kWords = {"__launch_bounds__", "__cluster_dims__", "__maxnreg__",
                                                             "__block_size__"};
  return one_of(text, kWords);
}

// `[] __device__ __forceinline__ (int x) {...}`: a lambda takes no `inline`.
bool after_lambda_introducer(const Code& code, int position) {
  int previous = position - 1;
  while (is_plain_word(code.at(previous).text)) --previous;
  return code.is(previous, "]");
}

// True if the declaration around `position` says inline already: compilers reject it twice.
bool says_inline(const Code& code, int position) {
  const auto any = [&code](int from, int step) {
    for (int i = from; code.is_identifier(i); i += step) {
      if (code.is(i, "inline") || code.is(i, "__inline__") || code.is(i, "__inline")) return true;
      if (step < 0 && code.is(i, "__forceinline__")) return true;
    }
    return false;
  };
  return any(position - 1, -1) || any(position + 1, 1);
}

// Inside `__attribute__((...))` or `[[gnu::...]]` the word is the compiler's.
bool inside_attribute(const Code& code, int position) {
  return code.is(position - 1, "(") || code.is(position - 1, ",") || code.is(position - 1, "::");
}

void rewrite_one(Code& code, int i) {
  const std::string_view text = code.at(i).text;
  if (is_plain_word(text)) {
    code.drop(i);
  } else if (is_word_with_arguments(text) && code.is(i + 1, "(") && code.partner(i + 1) != kNowhere) {
    code.drop_range(i, code.partner(i + 1) + 1);
  } else if (text == "__forceinline__") {
    if (after_lambda_introducer(code, i) || says_inline(code, i)) {
      code.drop(i);
    } else {
      code.replace(i, "inline");
    }
  } else if (text == "__noinline__" && !inside_attribute(code, i)) {
    code.replace(i, "__attribute__((noinline))");
  } else if ((text == "__align__" || text == "__builtin_align__") && code.is(i + 1, "(") &&
             code.partner(i + 1) != kNowhere && !code.at(i).dropped) {
    code.replace(i, "__attribute__((aligned");
    code.insert_after(code.partner(i + 1), "))");
  }
}

// A lane's printf goes through the engine: it takes no stack and holds no lock of the C library across a switch.
void rewrite_printf(Code& code, const ScopeTable& scopes, int i) {
  if (!code.is(i + 1, "(") || code.is(i - 1, ".") || code.is(i - 1, "->") || !scopes.in_device_code(i)) return;
  if (code.is(i - 1, "::")) {
    const bool standard = code.is(i - 2, "std");
    if (!standard && code.is_identifier(i - 2)) return;
    code.drop_range(standard ? i - 2 : i - 1, i);
    if (standard && code.is(i - 3, "::")) code.drop(i - 3);
  }
  code.replace(i, "::anygin::simt::anygin_printf");
}

// In device code clock() counts as clock64() does; in host code it is the C library's.
void rewrite_clock(Code& code, const ScopeTable& scopes, int i) {
  if (!code.is(i + 1, "(") || !code.is(i + 2, ")") || !scopes.in_device_code(i)) return;
  const bool qualified = code.is(i - 1, "::") && (code.is_identifier(i - 2) || code.is(i - 2, ">"));
  if (code.is(i - 1, ".") || code.is(i - 1, "->") || qualified) return;
  code.replace(i, "clock64");
}

// nvcc's pragmas say nothing to the host compilers and would be warned about.
void drop_pragmas(Code& code) {
  for (Token& token : code.stream().tokens) {
    if (token.kind != TokenKind::kDirective || token.text.substr(0, 8) != "#pragma ") continue;
    const std::string_view rest = token.text.substr(8);
    static constexpr std::array<std::string_view, 5> kWords = {"unroll", "nounroll", "nv_", "hd_warning_disable",
                                                               "diag_"};
    for (std::string_view word : kWords) token.dropped |= rest.substr(0, word.size()) == word;
  }
}

}  // namespace

void rewrite_attributes(Code& code, const ScopeTable& scopes) {
  for (int i = 0; i < code.size(); ++i) {
    if (!code.is_identifier(i)) continue;
    if (code.is(i, "printf")) {
      rewrite_printf(code, scopes, i);
    } else if (code.is(i, "clock")) {
      rewrite_clock(code, scopes, i);
    } else {
      rewrite_one(code, i);
    }
  }
  drop_pragmas(code);
}

}  // namespace anygin::rewriter
