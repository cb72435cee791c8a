// SPDX-License-Identifier: Apache-2.0
// Inline assembly in device code.
#include "anygin/simt/rewriter/cu_passes.h"
namespace anygin::rewriter {
void rewrite_asm(Code&, const ScopeTable&) {}
}  // namespace anygin::rewriter
