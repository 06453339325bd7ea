/* SPDX-License-Identifier: Apache-2.0 */
/* The table of functions, and the real function behind each. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { CAPTURE_MOST = 64 };

/* A parameter, by its letter in the table of functions, which functions.py describes. */
struct capture_parameter {
    const char *name; /* up to a space, or the end */
    char letter;
    bool read, written;
    uint8_t other; /* the parameter that counts the elements, or is the type */
    uint16_t size; /* of an element, or of the structure, in bytes */
};

/* Actions of the recorder at a function besides the record. */
enum capture_hook {
    CAPTURE_NO_HOOK,
    CAPTURE_PHASE_1,
    CAPTURE_PHASE_2,
    CAPTURE_CREATE_TENSOR,
    CAPTURE_CREATE_LIST,
    CAPTURE_REPEATABLE,
    CAPTURE_ADDRESS,
    CAPTURE_COPY,
    CAPTURE_COLLECTIVE,
    CAPTURE_SYNCHRONIZE,
    CAPTURE_SYNCHRONIZE_DEVICE,
    CAPTURE_RESET,
    CAPTURE_GRAPH_BEGIN,
    CAPTURE_GRAPH_END,
    CAPTURE_MESSAGE,
    CAPTURE_GRAPH_RUN,
    CAPTURE_COPY_2D,
    CAPTURE_END_STREAM,
    CAPTURE_DROP_STREAM,
    CAPTURE_END_CONTEXT,
    CAPTURE_QUERY,
};

/* Effects of a function on device memory; the letters of the table. */
enum capture_effect {
    CAPTURE_UNKNOWN_EFFECT = 0,
    CAPTURE_HARMLESS = 'Q',  /* writes none */
    CAPTURE_WRITES = 'W',    /* writes before it returns */
    CAPTURE_ALLOCATES = 'A', /* makes memory that only calls write: its address, its size */
    CAPTURE_FREES = 'F',
    CAPTURE_GUESSED = 'G', /* an operator: which tensors it writes is not documented */
};
enum { CAPTURE_NO_STREAM = UINT8_MAX };

struct capture_function {
    const char *name, *spec;
    char result; /* i: a status, p: an address or number, v: nothing, s: a text */
    bool parsed, creates, destroys;
    bool finds;       /* what may be kept already, and is then left as it is */
    bool places;      /* chooses the device, or the context, of its thread's next calls */
    bool draws;       /* makes an executor, uses it, or becomes a part of a graph */
    bool forces;      /* resets a device whatever the count */
    bool maps;        /* memory to an address, which another object has as its handle */
    uint32_t file;    /* the last one that describes it */
    char effect;
    uint8_t hook, count, stack;
    uint8_t stream; /* the parameter that is its stream, or CAPTURE_NO_STREAM */
    char kinds[CAPTURE_MOST + 1];
    struct capture_parameter parameters[CAPTURE_MOST];
};

/* The description of a front, in its file; paths lie so many bytes behind its beginning. */
struct capture_description {
    int64_t table, real;
    uint32_t first, count;
};
uint32_t capture_unknown(uint32_t from, const char **name, uint64_t *calls);
struct capture_function *capture_function(uint32_t number);
/* Return whether a function waits, for a stream or for the device of its context, or finds that there
 * is nothing to wait for. */
bool capture_waits(const struct capture_function *function);
bool capture_is_named(const struct capture_parameter *parameter, const char *name);
void capture_count(uint32_t number); /* a call that is not recorded */
void *capture_target(const struct capture_description *front, uint32_t number);

/* Functions that the recorder calls itself. */
enum capture_known {
    CAPTURE_RECENT_MESSAGE,
    CAPTURE_CHIP,
    CAPTURE_GET_CONTEXT,
    CAPTURE_SET_CONTEXT,
    CAPTURE_GET_DEVICE,
    CAPTURE_MALLOC_HOST,
    CAPTURE_FREE_HOST,
    CAPTURE_MEMCPY_ASYNC,
    CAPTURE_SYNCHRONIZE_STREAM,
    CAPTURE_SYNCHRONIZE_WITHIN,
    CAPTURE_GRAPH_INFO,
    CAPTURE_EXCHANGE_MODE,
    CAPTURE_KNOWN,
};
extern const char *capture_chip; /* as CANN names it; NULL: it is not known yet */
/* Let the simulated NPU, if that is called, take this thread's next call for the caller's in the
 * program, or, of NULL, for the recorder's. */
void capture_call_for(const void *caller);
/* Return the real function, or NULL, for a call of the recorder. */
void *capture_real(enum capture_known function);
const char *capture_ask(enum capture_known function); /* one that answers a text, or NULL */
static inline uint64_t capture_address(const void *pointer)
{
    return (uint64_t)(uintptr_t)pointer;
}
uint64_t capture_context(void); /* the current one of this thread, or 0 */
/* Call it with arguments that are integers or addresses; -1: it is not there. */
int capture_call(enum capture_known function, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e,
                 uint64_t f);
