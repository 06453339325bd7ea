/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of the host that a device writes without a wait; copies to other memory would change when the
 * work of the program runs. One block is divided by powers of two; what has no room in it gets a block
 * of its own. */
#include "pinned.h"

#include <pthread.h>
#include <string.h>

#include "functions.h"
#include "graphs.h"
#include "locks.h"

enum { RELAXED = 2, SMALLEST = 6, CLASSES = 19 }; /* 64 bytes to 16 MiB */
static const size_t ROOM = 32 << 20;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint8_t *room;
static size_t room_used, room_users;
static void *vacant[CLASSES]; /* of each size a list, whose places have the next one */

static void clear(void)
{
    room_used = room_users = 0;
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
    return class < CLASSES &&
           (vacant[class] != NULL || (size_t)1 << (SMALLEST + class) <= ROOM - room_used);
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
    room = room == NULL ? allocate(ROOM) : room;
    made.own = room == NULL || !has_room(made.class);
    if (!made.own) {
        made.data = vacant[made.class];
        if (made.data != NULL) {
            memcpy(&vacant[made.class], made.data, sizeof(void *));
        } else {
            made.data = room + room_used;
            room_used += (size_t)1 << (SMALLEST + made.class);
        }
        room_users++;
    }
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
        if (--room_users == 0) {
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
    if (room != NULL && room_users == 0) {
        capture_call(CAPTURE_FREE_HOST, capture_address(room), 0, 0, 0, 0, 0);
        room = NULL;
    }
    pthread_mutex_unlock(&lock);
}

/* A child of a fork has no device. */
static void forget_room(void)
{
    pthread_mutex_init(&lock, NULL);
    clear();
    room = NULL;
}
CAPTURE_IN_CHILD(forget_room)
