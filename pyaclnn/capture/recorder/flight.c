/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that are on their way. */
#include "flight.h"

#include <stdbool.h>
#include <string.h>

#include "blocks.h"
#include "locks.h"

enum { THREADS = 512, MOST_NAME = 255 };

static struct flight {
    const char *name; /* NULL: no call */
    uint64_t call, begin;
    uint32_t thread;
    bool taken, written;
} flights[THREADS];
static _Thread_local struct flight *own;

static struct flight *take_place(void)
{
    for (size_t i = 0; i < THREADS; i++) {
        if (!__atomic_load_n(&flights[i].taken, __ATOMIC_RELAXED) &&
            !__atomic_exchange_n(&flights[i].taken, true, __ATOMIC_ACQUIRE)) {
            return &flights[i];
        }
    }
    return NULL;
}

void capture_depart(uint64_t call, const char *name, uint32_t thread, uint64_t begin)
{
    own = own == NULL ? take_place() : own;
    if (own != NULL) {
        own->call = call;
        own->begin = begin;
        own->thread = thread;
        own->written = false;
        __atomic_store_n(&own->name, name, __ATOMIC_RELEASE);
    }
}

void capture_return(void)
{
    if (own != NULL) {
        __atomic_store_n(&own->name, NULL, __ATOMIC_RELEASE);
    }
}

void capture_leave_flights(void)
{
    if (own != NULL) {
        __atomic_store_n(&own->taken, false, __ATOMIC_RELEASE);
        own = NULL;
    }
}

static size_t put(uint8_t *to, uint8_t tag, uint64_t value, size_t bytes)
{
    to[0] = tag;
    for (size_t i = 0; i < bytes; i++) {
        to[1 + i] = (uint8_t)(value >> 8 * (bytes - 1 - i));
    }
    return 1 + bytes;
}

static void append(const struct flight *one, const char *name, int file, uint64_t *end)
{
    uint8_t record[MOST_NAME + 64];
    const size_t whole = strlen(name), length = whole < MOST_NAME ? whole : MOST_NAME;
    size_t at = put(record, 0xDD, 1, 4);
    at += put(record + at, 0x95, 8, 1);
    at += put(record + at, 0xCF, one->call, 8);
    at += put(record + at, 0xDB, length, 4);
    memcpy(record + at, name, length);
    at += length;
    at += put(record + at, 0xCE, one->thread, 4);
    at += put(record + at, 0xCF, one->begin, 8);
    capture_append_block(file, end, record, at, NULL);
}

void capture_append_flights(int file, uint64_t *end, uint64_t before)
{
    for (struct flight *one = flights; one != flights + THREADS; one++) {
        const char *name = __atomic_load_n(&one->name, __ATOMIC_ACQUIRE);
        if (name != NULL && one->begin < before && !one->written) {
            append(one, name, file, end);
            one->written = true;
        }
    }
}

/* A child of a fork has none of the other threads. */
static void forget_flights(void)
{
    for (size_t i = 0; i < THREADS; i++) {
        if (&flights[i] != own) {
            flights[i] = (struct flight){0};
        }
    }
}
CAPTURE_IN_CHILD(forget_flights)
