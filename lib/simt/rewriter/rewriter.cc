// SPDX-License-Identifier: Apache-2.0
// The passes in their order.
#include "anygin/simt/rewriter/rewriter.h"

#include "anygin/simt/rewriter/cu_emitter.h"
#include "anygin/simt/rewriter/cu_lexer.h"
#include "anygin/simt/rewriter/cu_passes.h"

namespace anygin::rewriter {

RewriteResult rewrite(std::string_view preprocessed, const RewriteOptions& options) {
  Code code(lex(preprocessed));
  const ScopeTable scopes(code);
  rewrite_kernels(code, scopes);
  rewrite_shared(code, scopes);
  rewrite_launches(code);
  rewrite_asm(code, scopes);
  rewrite_loops(code, scopes, options.ticks);
  rewrite_device_variables(code, scopes);
  rewrite_attributes(code, scopes);
  RewriteResult result;
  result.text = emit(code);
  result.errors = std::move(code.errors());
  return result;
}

}  // namespace anygin::rewriter
