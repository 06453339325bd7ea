/* SPDX-License-Identifier: Apache-2.0 */
/* Both phases of every operator: each passes its number to one entry, which saves what
 * the caller has left in registers as struct mock_registers has it, and calls C. */
#define OPERATOR(name, kinds, names, parameters, words) stub name##GetWorkspaceSize ; stub name ;

    .text
    .set number, 0
#if defined(__x86_64__)
    .macro stub name
    .p2align 4
    .globl \name
    .type \name, @function
\name:
    endbr64
    movl $number, %r11d
    jmp arrive
    .size \name, . - \name
    .set number, number + 1
    .endm
#elif defined(__aarch64__)
    .macro stub name
    .p2align 4
    .globl \name
    .type \name, %function
\name:
    hint #34 /* bti c */
    mov w16, #number
    b arrive
    .size \name, . - \name
    .set number, number + 1
    .endm
#endif

/* To who walks the stack they are one function: none of them moves it. */
    .cfi_startproc
#include OPERATORS
    .cfi_endproc

    .p2align 4
#if defined(__x86_64__)
    .type arrive, @function
arrive:
    .cfi_startproc
    pushq %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset %rbp, -16
    movq %rsp, %rbp
    .cfi_def_cfa_register %rbp
    subq $112, %rsp
    movq %rdi, 0(%rsp)
    movq %rsi, 8(%rsp)
    movq %rdx, 16(%rsp)
    movq %rcx, 24(%rsp)
    movq %r8, 32(%rsp)
    movq %r9, 40(%rsp)
    movsd %xmm0, 48(%rsp)
    movsd %xmm1, 56(%rsp)
    movsd %xmm2, 64(%rsp)
    movsd %xmm3, 72(%rsp)
    movsd %xmm4, 80(%rsp)
    movsd %xmm5, 88(%rsp)
    movsd %xmm6, 96(%rsp)
    movsd %xmm7, 104(%rsp)
    leaq mock_library(%rip), %rdi
    movl %r11d, %esi
    movq %rsp, %rdx
    call mock_operator_arrive@PLT
    leave
    .cfi_def_cfa %rsp, 8
    ret
    .cfi_endproc
#elif defined(__aarch64__)
    .type arrive, %function
arrive:
    .cfi_startproc
    stp x29, x30, [sp, #-144]!
    .cfi_def_cfa_offset 144
    .cfi_offset x29, -144
    .cfi_offset x30, -136
    mov x29, sp
    stp x0, x1, [sp, #16]
    stp x2, x3, [sp, #32]
    stp x4, x5, [sp, #48]
    stp x6, x7, [sp, #64]
    stp d0, d1, [sp, #80]
    stp d2, d3, [sp, #96]
    stp d4, d5, [sp, #112]
    stp d6, d7, [sp, #128]
    adrp x0, mock_library
    add x0, x0, :lo12:mock_library
    mov w1, w16
    mov x2, sp
    bl mock_operator_arrive
    ldp x29, x30, [sp], #144
    .cfi_restore x29
    .cfi_restore x30
    .cfi_def_cfa_offset 0
    ret
    .cfi_endproc
#endif
    .size arrive, . - arrive

    .section .note.GNU-stack, "", %progbits
