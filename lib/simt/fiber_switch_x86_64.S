// SPDX-License-Identifier: Apache-2.0
// The switch between lanes (System V x86-64). Registers are kept in a dense array outside the stacks, and the way in is
// a jump: nothing returns between a kernel's barrier call and the switch, so the return predictor stays right.
// Not saved: mxcsr and the x87 control word (kernels do not change the rounding mode). No CET shadow stacks.

#define CONTEXT_PC 0
#define CONTEXT_SP 8
#define CONTEXT_RBX 16
#define CONTEXT_RBP 24
#define CONTEXT_R12 32
#define CONTEXT_R13 40
#define CONTEXT_R14 48
#define CONTEXT_R15 56

.macro save_to register
  popq %rax                              // the caller's address; its frame starts right above
  movq %rax, CONTEXT_PC(\register)
  movq %rsp, CONTEXT_SP(\register)
  movq %rbx, CONTEXT_RBX(\register)
  movq %rbp, CONTEXT_RBP(\register)
  movq %r12, CONTEXT_R12(\register)
  movq %r13, CONTEXT_R13(\register)
  movq %r14, CONTEXT_R14(\register)
  movq %r15, CONTEXT_R15(\register)
.endm

.macro jump_to register
  movq CONTEXT_PC(\register), %rax
  movq CONTEXT_SP(\register), %rsp
  movq CONTEXT_RBX(\register), %rbx
  movq CONTEXT_RBP(\register), %rbp
  movq CONTEXT_R12(\register), %r12
  movq CONTEXT_R13(\register), %r13
  movq CONTEXT_R14(\register), %r14
  movq CONTEXT_R15(\register), %r15
  jmpq *%rax
.endm

.macro function name
  .globl \name
  .hidden \name
  .type \name, @function
  .balign 32
\name:
  .cfi_startproc
.endm

.macro end name
  .cfi_endproc
  .size \name, . - \name
.endm

  .text

// void anygin_fiber_switch(FiberContext* save, const FiberContext* to)
function anygin_fiber_switch
  save_to %rdi
  .cfi_adjust_cfa_offset -8
  .cfi_register %rip, %rax
  jump_to %rsi
end anygin_fiber_switch

// void anygin_fiber_resume(const FiberContext* to)
function anygin_fiber_resume
  jump_to %rdi
end anygin_fiber_resume

// void anygin_fiber_start(FiberContext* save, void* top, void (*entry)(void*), void* argument)
function anygin_fiber_start
  save_to %rdi
  .cfi_undefined %rip                    // backtraces end here
  movq %rsi, %rsp
  movq %rcx, %rdi
  xorl %ebp, %ebp
  callq *%rdx
  ud2
end anygin_fiber_start

// void anygin_fiber_restart(void* top, void (*entry)(void*), void* argument)
function anygin_fiber_restart
  .cfi_undefined %rip
  movq %rdi, %rsp
  movq %rdx, %rdi
  xorl %ebp, %ebp
  callq *%rsi
  ud2
end anygin_fiber_restart

// void anygin_call_on_stack(void* top, void (*call)(void*), void* argument)
function anygin_call_on_stack
  pushq %rbp
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset %rbp, 0
  movq %rsp, %rbp
  .cfi_def_cfa_register %rbp
  movq %rdi, %rsp
  movq %rdx, %rdi
  callq *%rsi
  movq %rbp, %rsp
  popq %rbp
  .cfi_def_cfa %rsp, 8
  retq
end anygin_call_on_stack

  .section .rodata
  .globl anygin_fiber_switch_name
  .type anygin_fiber_switch_name, @object
anygin_fiber_switch_name:
  .asciz "x86_64"
  .size anygin_fiber_switch_name, . - anygin_fiber_switch_name

  .section .note.GNU-stack, "", @progbits
