/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of the host that a device writes without a wait; copies to other memory would change when the
 * work of the program runs. Arenas are divided by powers of two; what has no place in them gets a block of
 * its own, whose allocation costs more than the copy. */
#include "pinned.h"

#include <pthread.h>
#include <string.h>

#include "functions.h"
#include "graphs.h"
#include "locks.h"

enum { RELAXED = 2, SMALLEST = 6, CLASSES = 19, MOST_ARENAS = 8 }; /* 64 bytes to 16 MiB */
static const size_t ARENA = 32 << 20;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint8_t *arenas[MOST_ARENAS];
static size_t arena_at, arena_used, users; /* the arena that places are taken from, and its used bytes */
static void *vacant[CLASSES]; /* of each size a list, whose places have the next one */

static void clear(void)
{
    arena_at = arena_used = users = 0;
    memset(vacant, 0, sizeof vacant);
}

static uint8_t *allocate(size_t size)
{
    uint8_t *made = NULL;
    int mode = RELAXED; /* while a stream is captured this call would be refused */
    const bool captured = capture_graph_is_open() &&
                          capture_call(CAPTURE_EXCHANGE_MODE, capture_address(&mode), 0, 0, 0, 0, 0) == 0;
    const int status = capture_call(CAPTURE_MALLOC_HOST, capture_address(&made), size, 0, 0, 0, 0);
    if (captured) {
        capture_call(CAPTURE_EXCHANGE_MODE, capture_address(&mode), 0, 0, 0, 0, 0);
    }
    return status == 0 ? made : NULL;
}

static uint8_t class_of(size_t size)
{
    uint8_t found = 0;
    while (found < CLASSES && size > (size_t)1 << (SMALLEST + found)) {
        found++;
    }
    return found;
}

static bool has_room(uint8_t class)
{
    return class < CLASSES && (vacant[class] != NULL || arena_at + 1 < MOST_ARENAS ||
                               (size_t)1 << (SMALLEST + class) <= ARENA - arena_used);
}

/* Take a place; NULL: there is none. */
static uint8_t *take(uint8_t class)
{
    if (!has_room(class)) {
        return NULL;
    }
    uint8_t *place = vacant[class];
    if (place != NULL) {
        memcpy(&vacant[class], place, sizeof(void *));
        return place;
    }
    const size_t size = (size_t)1 << (SMALLEST + class);
    if (size > ARENA - arena_used) {
        arena_at++;
        arena_used = 0;
    }
    arenas[arena_at] = arenas[arena_at] == NULL ? allocate(ARENA) : arenas[arena_at];
    if (arenas[arena_at] == NULL) {
        return NULL;
    }
    place = arenas[arena_at] + arena_used;
    arena_used += size;
    return place;
}

bool capture_has_room(size_t size)
{
    pthread_mutex_lock(&lock);
    const bool found = has_room(class_of(size));
    pthread_mutex_unlock(&lock);
    return found;
}

struct capture_pinned capture_pin(size_t size)
{
    struct capture_pinned made = {.class = class_of(size)};
    pthread_mutex_lock(&lock);
    made.data = take(made.class);
    made.own = made.data == NULL;
    users += !made.own;
    pthread_mutex_unlock(&lock);
    if (made.own) {
        made.data = allocate(size);
    }
    return made;
}

void capture_unpin(const struct capture_pinned *memory)
{
    if (!memory->own) {
        pthread_mutex_lock(&lock);
        memcpy(memory->data, &vacant[memory->class], sizeof(void *));
        vacant[memory->class] = memory->data;
        if (--users == 0) {
            clear();
        }
        pthread_mutex_unlock(&lock);
    } else if (memory->data != NULL) {
        capture_call(CAPTURE_FREE_HOST, capture_address(memory->data), 0, 0, 0, 0, 0);
    }
}

void capture_free_pinned(void)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < MOST_ARENAS && users == 0; i++) {
        if (arenas[i] != NULL) {
            capture_call(CAPTURE_FREE_HOST, capture_address(arenas[i]), 0, 0, 0, 0, 0);
            arenas[i] = NULL;
        }
    }
    pthread_mutex_unlock(&lock);
}

/* A child of a fork has no device. */
static void forget_arenas(void)
{
    pthread_mutex_init(&lock, NULL);
    clear();
    memset(arenas, 0, sizeof arenas);
}
CAPTURE_IN_CHILD(forget_arenas)
