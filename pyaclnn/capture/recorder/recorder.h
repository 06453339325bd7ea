/* SPDX-License-Identifier: Apache-2.0 */
/* The recorder behind CANN's names: its functions, its file, and the contents of tensors. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "registers.h"

enum { CAPTURE_MOST = 64, CAPTURE_CONTENTS_NONE = 0, CAPTURE_CONTENTS_HASH, CAPTURE_CONTENTS_FULL };

/* A parameter, by its letter in the table of functions, which functions.py describes. */
struct capture_parameter {
    const char *name; /* up to a space, or the end */
    char letter;
    bool read, written;
    uint8_t other; /* the parameter that counts the elements, or is the type */
    uint16_t size; /* of an element, or of the structure, in bytes */
};

/* What the recorder does at a function besides recording it. */
enum capture_hook {
    CAPTURE_NO_HOOK,
    CAPTURE_PHASE_1,
    CAPTURE_PHASE_2,
    CAPTURE_CREATE_TENSOR,
    CAPTURE_CREATE_LIST,
    CAPTURE_DESTROY,
    CAPTURE_REPEATABLE,
    CAPTURE_ADDRESS,
    CAPTURE_COPY,
    CAPTURE_COLLECTIVE,
    CAPTURE_SYNCHRONIZE,
    CAPTURE_DRAIN,
    CAPTURE_RESET,
    CAPTURE_GRAPH_BEGIN,
    CAPTURE_GRAPH_END,
    CAPTURE_MESSAGE,
    CAPTURE_GRAPH_RUN,
    CAPTURE_GRAPH_DESTROY,
    CAPTURE_COPY_2D,
};

struct capture_function {
    const char *name, *spec;
    char result; /* i: a status, p: an address or number, v: nothing, s: a text */
    bool parsed, creates, destroys;
    bool finds;       /* what may be kept already, and is then left as it is */
    bool places;      /* chooses the device, or the context, of its thread's next calls */
    uint32_t file;    /* the last one that describes it */
    uint8_t hook, count, stack;
    char kinds[CAPTURE_MOST + 1];
    struct capture_parameter parameters[CAPTURE_MOST];
};

/* Bytes that grow. */
struct capture_bytes {
    uint8_t *data;
    size_t length, capacity;
};

/* A record of a call, the number of its function, and the last file that has it. */
struct capture_call {
    struct capture_bytes record;
    uint32_t number, file;
};

struct capture_settings {
    int contents;           /* of all operators */
    uint64_t largest;       /* the most bytes of one tensor in full */
    uint64_t limit;         /* of the file, before it is rotated; 0: none */
    uint64_t first, last;   /* the calls that are recorded */
    const char *full;       /* names of operators in full, each between commas, or NULL */
};
extern struct capture_settings capture_settings;

/* A fork waits for these locks, in this order; under them nothing of CANN is called. */
enum { CAPTURE_OPERANDS, CAPTURE_GRAPHS, CAPTURE_FILE, CAPTURE_LIVING, CAPTURE_LOCKS };
extern pthread_mutex_t capture_locks[CAPTURE_LOCKS];

#define CAPTURE_EXPORT __attribute__((visibility("default")))

/* functions.c */
/* The description of a front, in its file; paths lie so many bytes behind its beginning. */
struct capture_description {
    int64_t table, real;
    uint32_t first, count;
};
CAPTURE_EXPORT void capture_front(const struct capture_description *front);
CAPTURE_EXPORT uint32_t capture_unknown(uint32_t from, const char **name, uint64_t *calls);
struct capture_function *capture_function(uint32_t number);
void *capture_target(uint32_t number);
void *capture_real(const char *name);

/* bytes.c */
void capture_room(struct capture_bytes *to, size_t more);
void capture_put(struct capture_bytes *to, const void *data, size_t length);
/* MessagePack: an array of so many, numbers, a text; bytes, or nil for NULL. */
void capture_array(struct capture_bytes *to, uint64_t count);
void capture_number(struct capture_bytes *to, uint64_t value);
void capture_signed(struct capture_bytes *to, int64_t value);
void capture_double(struct capture_bytes *to, uint64_t bits);
void capture_text(struct capture_bytes *to, const char *text, size_t length);
void capture_blob(struct capture_bytes *to, const void *data, size_t length);
CAPTURE_EXPORT uint64_t capture_hash(const void *data, size_t length);
uint32_t capture_type_size(int32_t type);

/* compression.c */
/* Compress into so much room, and say in it how much is used; false: there is no zlib, or too little
 * room. */
bool capture_compress(uint8_t *to, size_t *room, const uint8_t *from, size_t length);
uint32_t capture_checksum(const uint8_t *data, size_t length); /* CRC-32 */

/* file.c */
CAPTURE_EXPORT int capture_begin(const char *path, const char *options);
void capture_close(void);
bool capture_active(void);
uint64_t capture_next_call(void);
bool capture_wanted(uint64_t call);
/* Write a record that is no call's. */
void capture_write(const struct capture_bytes *record);
/* Write a call, behind the one that chose its place, unless the file has that. */
void capture_write_call(struct capture_call *call, struct capture_call *place, bool flush);
bool capture_keeping(void);
bool capture_is_full(void); /* the file is due to be rotated */
/* Begin the next file, if this one is full: settled, or far beyond it. */
void capture_rotate(bool settled);

/* living.c */
/* Keep the call that made something, and the one that chose its place before it; of a list, also the
 * handles of its elements. */
void capture_keep(uint64_t key, const struct capture_call *place, const struct capture_call *by,
                  const void *elements, size_t count);
void capture_forget(uint64_t key);
/* Write the calls that made what is alive, in their order. */
void capture_put_living(void (*put)(uint32_t number, const uint8_t *data, size_t length));

/* hooks.c */
void capture_before(const struct capture_function *function, uint64_t call,
                    const union mock_word *words);
void capture_after(const struct capture_function *function, uint64_t call,
                   const union mock_word *words, uint64_t result);
/* contents.c */
CAPTURE_EXPORT void capture_end(void);
void capture_await(void);       /* the program begins to wait for a stream */
bool capture_is_settled(void); /* no copy is on its way */
