// SPDX-License-Identifier: Apache-2.0
// The rewriting passes. Each reads the user's tokens and adds its edits; none changes what another one reads, so their
// order matters only where two insert at the same place (kernels before shared memory, both before loops).
#pragma once

#include "anygin/simt/rewriter/cu_code.h"
#include "anygin/simt/rewriter/cu_scopes.h"
#include "anygin/simt/rewriter/rewriter.h"

namespace anygin::rewriter {

// `__global__` functions with a body: the statement that launches, and the kernel's record.
void rewrite_kernels(Code& code, const ScopeTable& scopes);
// `__shared__` variables, static and dynamic.
void rewrite_shared(Code& code, const ScopeTable& scopes);
// `callee<<<...>>>(...)`.
void rewrite_launches(Code& code);
// `asm("ptx" ...)` in device code; elsewhere it is the host's and stays.
void rewrite_asm(Code& code, const ScopeTable& scopes);
// Ticks in loops that may spin on memory.
void rewrite_loops(Code& code, const ScopeTable& scopes, Ticks ticks);
// `__device__` and `__constant__` variables: registered, and each device's copy where device code names them.
void rewrite_device_variables(Code& code, const ScopeTable& scopes);
// The remaining CUDA words: removed, or turned into the compiler's own. printf of device code: the lanes' own.
void rewrite_attributes(Code& code, const ScopeTable& scopes);

}  // namespace anygin::rewriter
