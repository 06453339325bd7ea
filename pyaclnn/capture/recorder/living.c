/* SPDX-License-Identifier: Apache-2.0 */
/* What the program has made and not ended: the calls that made it, for a file that begins later. */
#include <stdlib.h>
#include <string.h>

#include "map.h"
#include "recorder.h"

static pthread_mutex_t *const lock = &capture_locks[CAPTURE_LIVING];
static struct capture_map objects;
static uint64_t made;

/* A live object: the record of the call that created it. */
struct living {
    uint64_t order;
    uint32_t place_number, number;
    size_t place_length, length, count;
    uint8_t records[]; /* what chose the place, and what made it there; of a list, its elements */
};

static int by_order(const void *one, const void *other)
{
    const struct living *const *a = one, *const *b = other;
    return (*a)->order < (*b)->order ? -1 : (*a)->order > (*b)->order;
}

void capture_put_living(void (*put)(uint32_t number, const uint8_t *data, size_t length))
{
    pthread_mutex_lock(lock);
    const struct living **all = calloc(objects.count + 1, sizeof *all);
    size_t count = 0;
    for (size_t i = 0; all != NULL && i < objects.capacity; i++) {
        if (objects.slots[i].value != NULL) {
            all[count++] = objects.slots[i].value;
        }
    }
    if (all != NULL) {
        qsort(all, count, sizeof *all, by_order);
    }
    for (size_t i = 0; i < count; i++) {
        const struct living *one = all[i], *before = i == 0 ? NULL : all[i - 1];
        const size_t length = one->place_length; /* of what chose the place of others as well */
        if (length != 0 && (before == NULL || before->place_length != length ||
                            memcmp(before->records, one->records, length) != 0)) {
            put(one->place_number, one->records, length);
        }
        put(one->number, one->records + length, one->length);
    }
    free(all);
    pthread_mutex_unlock(lock);
}

void capture_keep(uint64_t key, const struct capture_call *place, const struct capture_call *by,
                  const void *elements, size_t count)
{
    const size_t before = place->record.length, length = by->record.length;
    struct living *kept = malloc(sizeof *kept + before + length + count * sizeof key);
    if (kept == NULL) {
        return;
    }
    pthread_mutex_lock(lock);
    if (capture_function(by->number)->finds && capture_map_find(&objects, key) != NULL) {
        free(kept);
    } else {
        *kept = (struct living){made++, place->number, by->number, before, length, count};
        if (before != 0) {
            memcpy(kept->records, place->record.data, before);
        }
        memcpy(kept->records + before, by->record.data, length);
        if (count != 0) {
            memcpy(kept->records + before + length, elements, count * sizeof key);
        }
        capture_map_put(&objects, key, kept);
    }
    pthread_mutex_unlock(lock);
}

void capture_forget(uint64_t key)
{
    uint64_t element;
    pthread_mutex_lock(lock);
    const struct living *one = capture_map_find(&objects, key);
    for (size_t i = 0; one != NULL && i < one->count; i++) { /* they end with their list */
        memcpy(&element, one->records + one->place_length + one->length + i * sizeof element,
               sizeof element);
        capture_map_put(&objects, element, NULL);
    }
    capture_map_put(&objects, key, NULL);
    pthread_mutex_unlock(lock);
}
