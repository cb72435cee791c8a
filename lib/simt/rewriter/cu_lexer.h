// SPDX-License-Identifier: Apache-2.0
// Splits the output of `g++ -E` (or clang's) into tokens. Total: any bytes give a stream whose texts, put together, are
// the input.
#pragma once

#include <string_view>

#include "anygin/simt/rewriter/cu_token.h"

namespace anygin::rewriter {

// `source` must outlive the stream. Text before the first linemarker belongs to the user, file "<input>", line 1.
TokenStream lex(std::string_view source);

}  // namespace anygin::rewriter
