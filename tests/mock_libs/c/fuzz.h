/* SPDX-License-Identifier: Apache-2.0 */
/* Random arguments for every exported function: what the generated main of a fuzz program uses. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"
#include "aclnn/aclnn_base.h"

enum { KEPT = 64, HOST_BYTES = 1 << 20 };

/* Host memory that stands for the program's: results go there, arrays come from there. */
static _Thread_local _Alignas(64) uint8_t host[HOST_BYTES];
/* Handles and device addresses that calls have given, live and stale; threads share them. */
static _Atomic(void *) kept[KEPT];
/* The same of what lies in this process's heap, which is each thread's own. */
static _Thread_local void *heaped[KEPT];
static _Thread_local uint64_t state;

static inline uint64_t dice(uint64_t sides)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % sides;
}

static inline void keep(void *value)
{
    if (value != NULL) {
        kept[dice(KEPT)] = value;
    }
}

static inline void keep_heaped(void *value)
{
    if (value != NULL) {
        heaped[dice(KEPT)] = value;
    }
}

static inline void *heap_pointer(void)
{
    return dice(20) == 0 ? host : heaped[dice(KEPT)];
}

/* A handle of any kind, an address of any memory, nothing, or a number out of nowhere. */
static inline void *anything(void)
{
    switch (dice(12)) {
    case 0:
        return NULL;
    case 1:
        return (void *)(uintptr_t)(0xAC80000000000000u + (dice(11) << 48) + dice(4096));
    case 2:
        return (void *)((uintptr_t)kept[dice(KEPT)] + dice(4096));
    default:
        return kept[dice(KEPT)];
    }
}

/* Pointers that a function dereferences on the host; arbitrary values are not allowed. */
static inline void *readable(void)
{
    return dice(10) == 0 ? NULL : host + dice(16) * 4096;
}

/* Lists whose elements a function follows: of texts, or of 32 numbers each; some are missing. */
static inline void *pointers(void)
{
    static const int64_t NUMBERS[32] = {0x64636261, 1, -1};
    static _Thread_local const void *lists[32];
    for (int i = 0; i < 32; i++) {
        lists[i] = dice(50) == 0 ? NULL : NUMBERS;
    }
    return dice(10) == 0 ? NULL : lists;
}

/* Lengths of such lists. */
static inline void *lengths(void)
{
    static _Thread_local int numbers[32];
    for (int i = 0; i < 32; i++) {
        numbers[i] = (int)dice(32) - (dice(200) == 0);
    }
    return dice(10) == 0 ? NULL : numbers;
}

/* Where the program's own memory ends, nothing follows: what reaches beyond is seen. */
static inline uint8_t *arena(void)
{
    enum { ROOM = 16 << 20 };
    static _Thread_local uint8_t *start;
    if (start == NULL) {
        start = mmap(NULL, 3 * ROOM, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (start == MAP_FAILED || mprotect(start + ROOM, ROOM, PROT_READ | PROT_WRITE) != 0) {
            abort();
        }
    }
    return start + ROOM + dice(ROOM);
}

/* Memory to copy or fill, where an address may be wrong. What lies in the heap of this process is
 * left out: who overruns that, or writes to what was freed there, cannot be seen by anybody. */
static inline void *memory(void)
{
    return dice(3) == 0 ? (void *)arena() : anything();
}

static inline uint64_t bytes(void)
{
    static const uint64_t SIZES[] = {0, 1, 8, 32, 33, 64, 4096, 65536, 1 << 20, 1 << 26,
                                     1ull << 63, UINT64_MAX - 50, UINT64_MAX};
    return SIZES[dice(sizeof SIZES / sizeof SIZES[0])];
}

static inline uint64_t few(void)
{
    return dice(5);
}

static inline int any_enum(void)
{
    return (int)dice(30) - 2;
}

/* Calls of one thread, and those of them that succeeded. */
struct round {
    pthread_t thread;
    uint64_t seed;
    long calls, succeeded;
};

static void *call_at_random(void *round);

/* The arguments are a seed, a number of calls a thread, and a number of threads. */
static inline long call_by_threads(char **arguments)
{
    enum { MOST = 16 };
    static struct round rounds[MOST];
    const int threads = atoi(arguments[3]);
    long succeeded = 0;
    for (int i = 0; i < threads && i < MOST; i++) {
        rounds[i].seed = strtoull(arguments[1], NULL, 10) + (uint64_t)i;
        rounds[i].calls = atol(arguments[2]);
        if (pthread_create(&rounds[i].thread, NULL, call_at_random, &rounds[i]) != 0) {
            abort();
        }
    }
    for (int i = 0; i < threads && i < MOST; i++) {
        pthread_join(rounds[i].thread, NULL);
        succeeded += rounds[i].succeeded;
    }
    return succeeded;
}
