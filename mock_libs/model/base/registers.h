/* SPDX-License-Identifier: Apache-2.0 */
/* Registers and stack of a call, and its arguments read from them, a word each. */
#pragma once

#include <stdint.h>

/* Parameters but for the last two; as many as a mask of arguments has bits. */
enum { MOCK_MAX_WORDS = 64 };

/* An argument: an integer with its sign, a number of either width as a double, or a pointer. */
union mock_word {
    uint64_t bits;
    double real;
    const void *pointer;
};

#if defined(__x86_64__)
#define MOCK_CONVENTION 1
enum { MOCK_INTEGERS = 6, MOCK_VECTORS = 8 };
#elif defined(__aarch64__)
#define MOCK_CONVENTION 1
enum { MOCK_INTEGERS = 8, MOCK_VECTORS = 8 };
#else
/* The functions of operators are then compiled one by one: api/operators/portable.c. */
#define MOCK_CONVENTION 0
enum { MOCK_INTEGERS = 1, MOCK_VECTORS = 1 };
#endif

/* Registers and stack of a call, in the order in which api/operators/entry.S saves it; behind it
 * lie the words of the caller's stack. */
struct mock_registers {
#if defined(__aarch64__)
    uint64_t frame;
    const void *caller;
    uint64_t integers[MOCK_INTEGERS];
    uint64_t vectors[MOCK_VECTORS];
#else
    uint64_t integers[MOCK_INTEGERS];
    uint64_t vectors[MOCK_VECTORS];
    uint64_t frame;
    const void *caller;
#endif
    uint64_t stack[];
};

#pragma GCC visibility push(default) /* used by the libraries of a release */

/* Read the arguments of a first phase, a letter of `kinds` each, and the two pointers behind
 * them that all operators have: words is that much longer. */
void mock_words_read(const struct mock_registers *registers, const char *kinds,
                     union mock_word *words);

#pragma GCC visibility pop
