/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of any operator's first phase, a word each. */
#include "words.h"

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

void mock_word_send(struct mock_call *call, char kind, const char *name, union mock_word word)
{
    switch (kind) {
    case 't':
        mock_call_tensor(call, name, word.pointer);
        break;
    case 'T':
        mock_call_tensor_list(call, name, word.pointer);
        break;
    case 'a':
        mock_call_scalar(call, name, word.pointer);
        break;
    case 'A':
        mock_call_scalar_list(call, name, word.pointer);
        break;
    case 'I':
        mock_call_int_array(call, name, word.pointer);
        break;
    case 'F':
        mock_call_float_array(call, name, word.pointer);
        break;
    case 'B':
        mock_call_bool_array(call, name, word.pointer);
        break;
    case 's':
        mock_call_string(call, name, word.pointer);
        break;
    case 'd':
    case 'f':
        mock_call_double(call, name, word.real);
        break;
    case 'b':
        mock_call_bool(call, name, word.bits != 0);
        break;
    case 'Q':
        mock_call_uint(call, name, word.bits);
        break;
    default:
        mock_call_int(call, name, (int64_t)word.bits);
    }
}

void mock_words_send(struct mock_call *call, const char *kinds, const char *names,
                     const union mock_word *words)
{
    for (; *kinds != '\0'; kinds++) {
        mock_word_send(call, *kinds, names, *words++);
        names += strlen(names) + 1;
    }
}
