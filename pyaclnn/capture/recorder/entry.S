/* SPDX-License-Identifier: Apache-2.0 */
/* The entries of the recorder. A front jumps here with the number of a function in the register that
 * the simulated NPU's operators use, and the address of its description: to capture_entry for known
 * functions, to capture_forward for others, which are counted and passed on as they came. A library
 * may call its own functions before the front in front of it is initialized: the front is then looked
 * at first, with every register of the call saved. */
#define ARRIVE_STATE capture_targets
#define ARRIVE_AT capture_arrive

    .text
    .globl capture_entry
    .globl capture_forward
    .hidden capture_targets
    .hidden capture_arrive
    .p2align 4
#if defined(__x86_64__)
    .type capture_entry, @function
    .type capture_forward, @function
    .type late, @function
capture_entry:
    .cfi_startproc
    endbr64
    cmpq $0, capture_targets(%rip)
    je 1f
    movq %r11, %rax
    shlq $4, %rax
    addq capture_targets(%rip), %rax
    cmpq $0, (%rax)
    jne arrive
1:  pushq %r11
    .cfi_adjust_cfa_offset 8
    call late
    popq %r11
    .cfi_adjust_cfa_offset -8
    jmp arrive
    .cfi_endproc
    .size capture_entry, . - capture_entry

    .p2align 4
capture_forward:
    .cfi_startproc
    endbr64
    cmpq $0, capture_targets(%rip)
    je 2f
1:  shlq $4, %r11
    addq capture_targets(%rip), %r11
    lock incq 8(%r11)
    cmpq $0, (%r11)
    je 3f
    jmp *(%r11)
2:  pushq %r11
    .cfi_adjust_cfa_offset 8
    call late
    popq %r11
    .cfi_adjust_cfa_offset -8
    jmp 1b
3:  pushq %r11
    .cfi_adjust_cfa_offset 8
    call late
    popq %r11
    .cfi_adjust_cfa_offset -8
    jmp *(%r11)
    .cfi_endproc
    .size capture_forward, . - capture_forward

    .p2align 4
late:
    .cfi_startproc
    pushq %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset %rbp, -16
    movq %rsp, %rbp
    .cfi_def_cfa_register %rbp
    subq $192, %rsp
    andq $-16, %rsp
    movq %rdi, 0(%rsp)
    movq %rsi, 8(%rsp)
    movq %rdx, 16(%rsp)
    movq %rcx, 24(%rsp)
    movq %r8, 32(%rsp)
    movq %r9, 40(%rsp)
    movq %rax, 48(%rsp)
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7
    movups %xmm\n, 64 + 16 * \n(%rsp)
    .endr
    movq %r10, %rdi
    call capture_front@PLT
    movq 0(%rsp), %rdi
    movq 8(%rsp), %rsi
    movq 16(%rsp), %rdx
    movq 24(%rsp), %rcx
    movq 32(%rsp), %r8
    movq 40(%rsp), %r9
    movq 48(%rsp), %rax
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7
    movups 64 + 16 * \n(%rsp), %xmm\n
    .endr
    leave
    .cfi_def_cfa %rsp, 8
    ret
    .cfi_endproc
    .size late, . - late
#elif defined(__aarch64__)
    .type capture_entry, %function
    .type capture_forward, %function
    .type late, %function
capture_entry:
    hint #34 /* bti c */
    adrp x17, capture_targets
    ldr x17, [x17, :lo12:capture_targets]
    cbz x17, 1f
    add x17, x17, x16, lsl #4
    ldr x17, [x17]
    cbnz x17, arrive
1:  adr x17, arrive
    b late
    .size capture_entry, . - capture_entry

    .p2align 4
capture_forward:
forward: /* the same, which no other library can replace */
    hint #34
    adrp x17, capture_targets
    ldr x17, [x17, :lo12:capture_targets]
    cbz x17, 1f
    add x17, x17, x16, lsl #4
    ldr x10, [x17, #8]
    add x10, x10, #1
    str x10, [x17, #8]
    ldr x17, [x17]
    cbz x17, 1f
    br x17
1:  adr x17, forward
    b late
    .size capture_forward, . - capture_forward

    .p2align 4
late: /* of the description in x9; then goes on at x17 */
    .cfi_startproc
    stp x29, x30, [sp, #-240]!
    .cfi_def_cfa_offset 240
    .cfi_offset x29, -240
    .cfi_offset x30, -232
    mov x29, sp
    stp x0, x1, [sp, #16]
    stp x2, x3, [sp, #32]
    stp x4, x5, [sp, #48]
    stp x6, x7, [sp, #64]
    stp x8, x16, [sp, #80]
    str x17, [sp, #96]
    stp q0, q1, [sp, #112]
    stp q2, q3, [sp, #144]
    stp q4, q5, [sp, #176]
    stp q6, q7, [sp, #208]
    mov x0, x9
    bl capture_front
    ldp x0, x1, [sp, #16]
    ldp x2, x3, [sp, #32]
    ldp x4, x5, [sp, #48]
    ldp x6, x7, [sp, #64]
    ldp x8, x16, [sp, #80]
    ldr x17, [sp, #96]
    ldp q0, q1, [sp, #112]
    ldp q2, q3, [sp, #144]
    ldp q4, q5, [sp, #176]
    ldp q6, q7, [sp, #208]
    ldp x29, x30, [sp], #240
    .cfi_restore x29
    .cfi_restore x30
    .cfi_def_cfa_offset 0
    br x17
    .cfi_endproc
    .size late, . - late
#endif
#include "arrive.S"
    .section .note.GNU-stack, "", %progbits
