/* SPDX-License-Identifier: Apache-2.0 */
/* Memory shared with device processes. Places are taken one behind the other, and the first one again
 * when all are given back. */
#include "shared_room.h"

#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ROOM = 16 << 20, ALIGNMENT = 64 };

static struct {
    int descriptor;
    uint8_t *bytes;
    uint64_t used, users;
    pid_t owner;
} room;

static bool make(void)
{
    const int descriptor = memfd_create("pyaclnn-room", MFD_CLOEXEC);
    void *bytes = descriptor < 0 || ftruncate(descriptor, ROOM) != 0
                      ? MAP_FAILED
                      : mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (bytes == MAP_FAILED) {
        if (descriptor >= 0) {
            close(descriptor);
        }
        return false;
    }
    room.descriptor = descriptor;
    room.bytes = bytes;
    room.used = room.users = 0;
    room.owner = getpid();
    return true;
}

uint8_t *mock_room_take(uint64_t bytes)
{
    /* A child of a fork leaves its parent's to that. */
    if ((room.owner != getpid() && !make()) || bytes > ROOM - room.used) {
        return NULL;
    }
    uint8_t *place = room.bytes + room.used;
    const uint64_t next = (room.used + bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    room.used = next < ROOM ? next : ROOM;
    room.users++;
    return place;
}

static bool is_here(const uint8_t *place)
{
    return room.bytes != NULL && (uintptr_t)place - (uintptr_t)room.bytes < ROOM;
}

void mock_room_release(const uint8_t *place)
{
    if (is_here(place) && room.users > 0 && --room.users == 0) {
        room.used = 0;
    }
}

uint64_t mock_room_descriptor(void)
{
    return (uint64_t)room.descriptor;
}

uint64_t mock_room_offset(const uint8_t *place)
{
    return (uint64_t)(place - room.bytes);
}
