/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of the host that a device writes without a wait; copies to other memory would change when the
 * work of the program runs. What has no room in the one block gets a block of its own. */
#include "pinned.h"

#include <pthread.h>

#include "functions.h"
#include "graphs.h"

enum { RELAXED = 2, ALIGNMENT = 64 };
static const size_t ROOM = 16 << 20;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint8_t *room;
static size_t room_used, room_users;

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

struct capture_pinned capture_pin(size_t size)
{
    struct capture_pinned made = {0};
    pthread_mutex_lock(&lock);
    room = room == NULL ? allocate(ROOM) : room;
    made.own = room == NULL || size > ROOM - room_used;
    if (!made.own) {
        made.data = room + room_used;
        room_used += (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
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
        room_used = --room_users == 0 ? 0 : room_used;
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
    room_used = room_users = 0;
    room = NULL;
}

__attribute__((constructor)) static void start(void)
{
    pthread_atfork(NULL, NULL, forget_room);
}
