// SPDX-License-Identifier: Apache-2.0
// Short calls for the rewriter's tests: what text becomes, and which errors it gets.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "anygin/simt/rewriter/rewriter.h"

namespace anygin::rewriter {

// The rewritten text; no loop gets a tick unless asked for. An error fails the test.
inline std::string rewritten(std::string_view source, Ticks ticks = Ticks::kNone) {
  const RewriteResult result = rewrite(source, {ticks});
  for (const Diagnostic& error : result.errors) ADD_FAILURE() << error.file << ":" << error.line << ": " << error.text;
  return result.text;
}

// "line: text" of the only error; anything else fails the test.
inline std::string only_error(std::string_view source) {
  const RewriteResult result = rewrite(source, {Ticks::kNone});
  EXPECT_EQ(result.errors.size(), 1u) << source;
  if (result.errors.empty()) return "";
  return std::to_string(result.errors[0].line) + ": " + result.errors[0].text;
}

}  // namespace anygin::rewriter
