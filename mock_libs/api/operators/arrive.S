/* SPDX-License-Identifier: Apache-2.0 */
/* The entry of calls whose number is in a register: it saves what the caller has left in registers as
 * struct mock_registers has it, and calls ARRIVE_AT with an address, the number and the registers. The
 * address is ARRIVE_STATE; where that is not defined, it is in r10 or x9. */
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
#ifdef ARRIVE_STATE
    leaq ARRIVE_STATE(%rip), %rdi
#else
    movq %r10, %rdi
#endif
    movl %r11d, %esi
    movq %rsp, %rdx
    call ARRIVE_AT@PLT
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
#ifdef ARRIVE_STATE
    adrp x0, ARRIVE_STATE
    add x0, x0, :lo12:ARRIVE_STATE
#else
    mov x0, x9
#endif
    mov w1, w16
    mov x2, sp
    bl ARRIVE_AT
    ldp x29, x30, [sp], #144
    .cfi_restore x29
    .cfi_restore x30
    .cfi_def_cfa_offset 0
    ret
    .cfi_endproc
#endif
    .size arrive, . - arrive

