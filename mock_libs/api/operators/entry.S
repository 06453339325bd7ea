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

#define ARRIVE_STATE mock_library
#define ARRIVE_AT mock_operator_arrive
#include "arrive.S"

    .section .note.GNU-stack, "", %progbits
