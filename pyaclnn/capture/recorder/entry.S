/* SPDX-License-Identifier: Apache-2.0 */
/* The entry of the recorder. A front jumps here with the address of its description and the number of
 * a function, in the register that the simulated NPU's operators use. Calls of known functions go
 * the way of those. The parameters of others, whose numbers are negative, are not known: every
 * register is saved while C counts the call, which is then passed on as it came. */
#define ARRIVE_AT capture_arrive

    .text
    .globl capture_entry
    .hidden capture_arrive
    .hidden capture_pass
    .p2align 4
#if defined(__x86_64__)
    .type capture_entry, @function
capture_entry:
    .cfi_startproc
    endbr64
    testl %r11d, %r11d
    jns arrive
    pushq %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset %rbp, -16
    movq %rsp, %rbp
    .cfi_def_cfa_register %rbp
    .irp register, rdi, rsi, rdx, rcx, r8, r9, rax
    pushq %\register
    .endr
    subq $136, %rsp
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7
    movups %xmm\n, 16 * \n(%rsp)
    .endr
    movq %r10, %rdi
    movl %r11d, %esi
    call capture_pass
    movq %rax, %r11
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7
    movups 16 * \n(%rsp), %xmm\n
    .endr
    addq $136, %rsp
    .irp register, rax, r9, r8, rcx, rdx, rsi, rdi, rbp
    popq %\register
    .endr
    .cfi_def_cfa %rsp, 8
    jmp *%r11
    .cfi_endproc
#elif defined(__aarch64__)
    .type capture_entry, %function
capture_entry:
    .cfi_startproc
    hint #34 /* bti c */
    tbz w16, #31, arrive
    stp x29, x30, [sp, #-224]!
    .cfi_def_cfa_offset 224
    .cfi_offset x29, -224
    .cfi_offset x30, -216
    mov x29, sp
    stp x0, x1, [sp, #16]
    stp x2, x3, [sp, #32]
    stp x4, x5, [sp, #48]
    stp x6, x7, [sp, #64]
    str x8, [sp, #80]
    stp q0, q1, [sp, #96]
    stp q2, q3, [sp, #128]
    stp q4, q5, [sp, #160]
    stp q6, q7, [sp, #192]
    mov x0, x9
    mov w1, w16
    bl capture_pass
    mov x17, x0
    ldp x0, x1, [sp, #16]
    ldp x2, x3, [sp, #32]
    ldp x4, x5, [sp, #48]
    ldp x6, x7, [sp, #64]
    ldr x8, [sp, #80]
    ldp q0, q1, [sp, #96]
    ldp q2, q3, [sp, #128]
    ldp q4, q5, [sp, #160]
    ldp q6, q7, [sp, #192]
    ldp x29, x30, [sp], #224
    .cfi_restore x29
    .cfi_restore x30
    .cfi_def_cfa_offset 0
    br x17
    .cfi_endproc
#endif
    .size capture_entry, . - capture_entry
#include "arrive.S"
    .section .note.GNU-stack, "", %progbits
