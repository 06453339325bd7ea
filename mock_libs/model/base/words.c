/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of any operator's first phase, a word each. */
#include "words.h"

#include <string.h>

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
