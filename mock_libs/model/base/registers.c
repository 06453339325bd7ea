/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of any call, read from its registers and its stack. */
#include "registers.h"

#include <stddef.h>
#include <string.h>

/* Position of the reader in the registers and the stack. */
struct cursor {
    const struct mock_registers *registers;
    size_t integers, vectors, stack;
};

static uint64_t next_integer(struct cursor *cursor)
{
    return cursor->integers < MOCK_INTEGERS
               ? cursor->registers->integers[cursor->integers++]
               : cursor->registers->stack[cursor->stack++];
}

static uint64_t next_vector(struct cursor *cursor)
{
    return cursor->vectors < MOCK_VECTORS ? cursor->registers->vectors[cursor->vectors++]
                                          : cursor->registers->stack[cursor->stack++];
}

/* The convention defines only as many bits of a word as the type has. */
static union mock_word next_word(struct cursor *cursor, char kind)
{
    union mock_word word = {.bits = 0};
    float narrow;
    uint64_t bits;
    switch (kind) {
    case 'd':
        word.bits = next_vector(cursor);
        break;
    case 'f':
        bits = next_vector(cursor);
        memcpy(&narrow, &bits, sizeof narrow);
        word.real = (double)narrow;
        break;
    case 'b':
        word.bits = (uint8_t)next_integer(cursor) != 0;
        break;
    case 'c':
        word.bits = (uint64_t)(int8_t)(uint8_t)next_integer(cursor);
        break;
    case 'i':
    case 'y':
        word.bits = (uint64_t)(int32_t)(uint32_t)next_integer(cursor);
        break;
    default:
        word.bits = next_integer(cursor);
    }
    return word;
}

void mock_words_read(const struct mock_registers *registers, const char *kinds,
                     union mock_word *words)
{
    struct cursor cursor = {.registers = registers};
    for (; *kinds != '\0'; kinds++) {
        *words++ = next_word(&cursor, *kinds);
    }
    for (size_t i = 0; i < 2; i++) {
        *words++ = next_word(&cursor, 'Q');
    }
}
