/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of a library that refuse: each passes its number to one function, and its first
 * argument. */
#define REFUSES(name, answer) stub name ;

    .text
    .set number, 0
#if defined(__x86_64__)
    .macro stub name
    .p2align 4
    .globl \name
    .type \name, @function
\name:
    endbr64
    movl $number, %eax
    jmp refuse
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
    b refuse
    .size \name, . - \name
    .set number, number + 1
    .endm
#endif

    .cfi_startproc
refuse:
#if defined(__x86_64__)
    movq %rdi, %rsi
    movl %eax, %edi
    jmp mock_refuse
#elif defined(__aarch64__)
    mov x1, x0
    mov w0, w16
    b mock_refuse
#endif
#include REFUSALS
    .cfi_endproc

    .section .note.GNU-stack, "", %progbits
